"""Content hashes: SHA-256 of canonical JSON (sorted keys, no blanks, UTF-8), as 64 hexadecimal digits."""

import hashlib
import json
from typing import Any


def canonical_json(content: Any) -> str:
    """The one JSON text of ``content``; raises ValueError for NaN and infinities, which JSON cannot carry."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def content_hash(content: Any) -> str:
    """SHA-256 of ``content``'s canonical JSON; lone surrogates are hashed as they stand."""
    return hashlib.sha256(canonical_json(content).encode("utf-8", "surrogatepass")).hexdigest()
