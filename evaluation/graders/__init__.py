"""Deterministic graders behind one small protocol; pure, versioned, usable without Django.

>>> grade("numeric", output="The total is $1,000.", references=["1000"], parameters={"rel_tol": 1e-6}).correct
True
"""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.graders.choice import Choice
from evaluation.graders.exact import Exact
from evaluation.graders.item_set import Items
from evaluation.graders.json_object import Json
from evaluation.graders.numeric import Numeric
from evaluation.graders.pattern import Pattern
from evaluation.graders.verdict import Grader, GraderError, Verdict

GRADERS: dict[str, Grader] = {
    "choice": Choice(),
    "exact": Exact(),
    "json": Json(),
    "list": Items(ordered=True),
    "numeric": Numeric(),
    "regex": Pattern(),
    "set": Items(ordered=False),
}
# A longer output is no answer to anything asked here; its ends are kept, since answers stand at one of them.
LONGEST_OUTPUT = 1_000_000

__all__ = [
    "GRADERS",
    "Grader",
    "GraderError",
    "Verdict",
    "check_parameters",
    "check_reference",
    "grade",
    "grader_version",
    "kinds",
]


def kinds() -> list[str]:
    """The kinds of grader there are."""
    return sorted(GRADERS)


def grader_version(kind: str) -> str:
    """The version of a kind's grader; raises GraderError for an unknown kind."""
    return _grader(kind).version


def check_parameters(kind: str, parameters: Mapping[str, Any]) -> None:
    """Raises GraderError for an unknown kind, or parameters that it does not take."""
    if not isinstance(parameters, Mapping):
        raise GraderError("parameters", parameters, "are not a mapping", 'Give {"name": value, ...}.')
    _grader(kind).check_parameters(parameters)


def check_reference(kind: str, reference: str, parameters: Mapping[str, Any]) -> None:
    """Raises GraderError for a reference that no answer could match."""
    check_parameters(kind, parameters)
    if not isinstance(reference, str):
        raise GraderError("references", reference, "is not a text", "Give the reference as text.")
    _grader(kind).check_reference(reference, parameters)


def grade(kind: str, output: str, references: Sequence[str], parameters: Mapping[str, Any]) -> Verdict:
    """The verdict of a kind's grader on one output, in bounded time.

    Raises GraderError for an unknown kind, and for parameters and references that it cannot work with.
    """
    check_parameters(kind, parameters)
    if isinstance(references, str) or not references:
        raise GraderError("references", references, "is not a list of texts", "Give at least one reference.")
    grader = _grader(kind)
    for reference in references:
        if not isinstance(reference, str):
            raise GraderError("references", reference, "is not a text", "Give every reference as text.")
        grader.check_reference(reference, parameters)
    if len(output) > LONGEST_OUTPUT:
        output = output[: LONGEST_OUTPUT // 2] + "\n" + output[-LONGEST_OUTPUT // 2 :]
    return grader.grade(output, references, parameters)


def _grader(kind: str) -> Grader:
    if kind not in GRADERS:
        raise GraderError("kind", kind, "is not a kind of grader", f"Use {', '.join(kinds())}.")
    return GRADERS[kind]
