"""A regular expression that the whole answer must match."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import regex

from evaluation.graders import text
from evaluation.graders.verdict import GraderError, Verdict, no_answer, refuse_unknown, typed, verdict

TIME_LIMIT_S = 0.2
LONGEST_OUTPUT = 100_000


class Pattern:
    """The references are expressions; a match that takes too long is none."""

    version = "1.0.0"

    def check_parameters(self, parameters: Mapping[str, Any]) -> None:
        refuse_unknown(parameters, ("ignore_case", "search"))
        typed(parameters, "ignore_case", bool, False, "true or false")
        typed(parameters, "search", bool, False, "true or false")

    def check_reference(self, reference: str, parameters: Mapping[str, Any]) -> None:
        _compiled(reference, bool(parameters.get("ignore_case", False)))

    def grade(self, output: str, references: Sequence[str], parameters: Mapping[str, Any]) -> Verdict:
        said = text.without_reasoning(output)
        if said is None:
            return no_answer("the reasoning was never finished")
        answer = said.strip()[:LONGEST_OUTPUT]
        if not answer:
            return no_answer("the output is empty")
        late = False
        for reference in references:
            compiled = _compiled(reference, bool(parameters.get("ignore_case", False)))
            match = compiled.search if parameters.get("search", False) else compiled.fullmatch
            try:
                if match(answer, timeout=TIME_LIMIT_S):
                    return verdict(True, answer, "whole output", f"matches {reference}")
            except TimeoutError:
                late = True
        explanation = "the expression took too long" if late else "matches no reference"
        return verdict(False, answer, "whole output", explanation)


@lru_cache(maxsize=1024)
def _compiled(expression: str, ignore_case: bool) -> Any:
    try:
        return regex.compile(expression, regex.IGNORECASE if ignore_case else 0)
    except regex.error as error:
        remedy = "Mend the expression."
        raise GraderError("references", expression, f"is not a regular expression: {error}", remedy) from None
