"""The same text, after the normalisations that the task names."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.graders import text
from evaluation.graders.verdict import GraderError, Verdict, no_answer, refuse_unknown, typed, verdict

NORMALISATIONS = ("case", "punctuation", "space", "accents", "unicode", "articles")
_SPACE = re.compile(r"\s+")
_ARTICLES = re.compile(r"\b(a|an|the)\b", re.IGNORECASE)


class Exact:
    """Outer blanks never count; everything else does, unless a normalisation is named."""

    version = "1.0.0"

    def check_parameters(self, parameters: Mapping[str, Any]) -> None:
        refuse_unknown(parameters, ("normalise", "strip_reasoning"))
        typed(parameters, "strip_reasoning", bool, False, "true or false")
        names = typed(parameters, "normalise", (list, tuple), [], f"a list of {', '.join(NORMALISATIONS)}")
        for name in names:
            if name not in NORMALISATIONS:
                remedy = f"Use {', '.join(NORMALISATIONS)}."
                raise GraderError("parameters.normalise", name, "is not a normalisation", remedy)

    def check_reference(self, reference: str, parameters: Mapping[str, Any]) -> None:
        if not _normalised(reference, parameters.get("normalise", ())):
            raise GraderError("references", reference, "is empty after normalisation", "Give the expected text.")

    def grade(self, output: str, references: Sequence[str], parameters: Mapping[str, Any]) -> Verdict:
        names = parameters.get("normalise", ())
        said: str | None = output
        if parameters.get("strip_reasoning", False):
            said = text.without_reasoning(output)
            if said is None:
                return no_answer("the reasoning was never finished")
        answer = (said or "").strip()
        if not answer:
            return no_answer("the output is empty")
        normal = _normalised(answer, names)
        correct = any(normal == _normalised(reference, names) for reference in references)
        how = f" after normalising {', '.join(names)}" if names else ""
        return verdict(correct, answer, "whole output", f"{'equals' if correct else 'equals no'} reference{how}")


def _normalised(value: str, names: Sequence[str]) -> str:
    if "unicode" in names:
        value = text.plain(value)
    if "accents" in names:
        decomposed = unicodedata.normalize("NFD", value)
        value = unicodedata.normalize("NFC", "".join(c for c in decomposed if not unicodedata.combining(c)))
    if "case" in names:
        value = value.casefold()
    if "articles" in names:
        value = _ARTICLES.sub(" ", value)
    if "punctuation" in names:
        value = "".join(c for c in value if not unicodedata.category(c).startswith("P"))
    if "space" in names:
        value = _SPACE.sub(" ", value)
    return value.strip()
