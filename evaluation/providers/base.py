"""The protocol that every model API is spoken through, and the names of all that can go wrong.

Nothing here knows Django: a provider can be used from a notebook with an ``httpx.AsyncClient`` alone.
"""

from dataclasses import dataclass, field
from typing import Any, Protocol

import httpx


@dataclass(frozen=True)
class Request:
    """One call: what is sent and where; ``key`` never appears in a repr."""

    endpoint: str
    model: str
    messages: list[dict[str, Any]]
    decoding: dict[str, Any] = field(default_factory=dict)
    reasoning_effort: str = ""
    key: str = field(default="", repr=False)


@dataclass(frozen=True)
class Usage:
    """Tokens as reported, None where unknown; ``input`` includes ``cached``, ``output`` includes ``reasoning``."""

    input: int | None = None
    cached: int | None = None
    output: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True)
class Answer:
    """What came back from one successful call.

    ``first_token_s`` and ``latency_s`` are seconds from sending the request to the first and the last byte of the
    answer. ``refused`` is true where the API itself marks a refusal or a content filter.
    """

    text: str
    finish_reason: str
    returned_model: str
    usage: Usage
    first_token_s: float | None
    latency_s: float
    refused: bool = False


class CallFailed(Exception):
    """One call brought no answer.

    ``fault`` is the class of fault under its own name (``http_429``, ``broken_stream``, ``stalled``, ...);
    ``billable`` says that the provider may have begun to answer, so that the call may cost money.
    """

    def __init__(self, fault: str, detail: str = "", *, billable: bool = False, retry_after_s: float | None = None):
        self.fault, self.detail, self.billable, self.retry_after_s = fault, detail, billable, retry_after_s
        super().__init__(f"{fault}: {detail}" if detail else fault)


class ConfigurationRejected(CallFailed):
    """The provider will never answer this request as it stands: a wrong key, an unknown model, a refused parameter."""


class Provider(Protocol):
    """One model API."""

    async def complete(self, client: httpx.AsyncClient, request: Request) -> Answer:
        """Ask once. Raises CallFailed for the infrastructure's faults, ConfigurationRejected for the request's."""
        ...

    async def models(self, client: httpx.AsyncClient, endpoint: str, key: str) -> list[str] | None:
        """The model ids on offer; None where the API does not say. Raises like ``complete``."""
        ...
