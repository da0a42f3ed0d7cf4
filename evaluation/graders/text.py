"""Finding where in an output the answer stands, whatever its kind."""

import re
import unicodedata

_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_UNFINISHED_THOUGHT = re.compile(r"<(think|thinking|reasoning)>", re.IGNORECASE)
_THOUGHT_END = re.compile(r"^.*</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
# Zero-width characters, soft hyphens and marks of direction.
_INVISIBLE = dict.fromkeys(
    [0xAD, 0x2060, 0xFEFF, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
)
_SIGNS = str.maketrans({"−": "-", "‐": "-", "‑": "-", "‒": "-", "–": "-", "﹣": "-", "－": "-"})
_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{")
_DECLARATION = re.compile(
    r"(?:\banswer\s*(?:is|are|would\s+be|should\s+be|[:=])|^\s*A\s*:)\s*:?\s*",
    re.IGNORECASE | re.MULTILINE,
)


def without_reasoning(output: str) -> str | None:
    """The output after its reasoning blocks; None where a block was never closed, so that no answer was given."""
    if "<" not in output:
        return output
    rest = _THOUGHT.sub("", output)
    # Some chat templates swallow the opening tag.
    rest = _THOUGHT_END.sub("", rest)
    return None if _UNFINISHED_THOUGHT.search(rest) else rest


def plain(text: str) -> str:
    """NFKC, one kind of minus, no invisible characters: what a reader sees."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", text.translate(_INVISIBLE)).translate(_SIGNS)


def last_boxed(text: str) -> str | None:
    r"""What the last ``\boxed{...}`` holds, braces balanced."""
    starts = [match.end() for match in _BOXED.finditer(text)]
    if not starts:
        return None
    depth, start = 1, starts[-1]
    for index in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[index], 0)
        if depth == 0:
            return text[start:index]
    return None


def after_marker(text: str) -> str | None:
    """What follows the last ``####``."""
    _, marker, rest = text.rpartition("####")
    return rest.strip() if marker else None


def declared(text: str) -> str | None:
    """What follows the last phrase that declares an answer ("The answer is", "Answer:", "A:")."""
    matches = list(_DECLARATION.finditer(text))
    return text[matches[-1].end() :] if matches else None


def unmarked(text: str) -> str:
    """Without Markdown emphasis, code marks, quotes and surrounding blanks."""
    return text.strip().strip("*_`\"'“”‘’").strip()
