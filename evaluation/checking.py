"""Whether a question can be graded at all: every reference must pass its own grader."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.graders import GraderError, check_parameters, check_reference, grade


def check_question(kind: str, parameters: Mapping[str, Any], references: Sequence[str]) -> list[str]:
    """What is wrong, one sentence each; nothing for a sound question."""
    try:
        check_parameters(kind, parameters)
    except GraderError as error:
        return [f"the grader cannot work: {error}"]
    sentences = []
    for reference in references:
        try:
            check_reference(kind, reference, parameters)
        except GraderError as error:
            sentences.append(f"the grader {kind} cannot use this reference: {error}")
            continue
        # A regular expression is matched by answers, not by itself.
        if kind != "regex" and not (verdict := grade(kind, reference, references, parameters)).correct:
            sentences.append(f"the grader {kind} rejects its own reference {reference!r}: {verdict.explanation}")
    return sentences
