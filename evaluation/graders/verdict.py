"""What graders take and give."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Verdict:
    """What a grader says of one output.

    ``found`` is False where nothing could be an answer: then ``score`` is 0.0, ``correct`` False and ``answer`` None.
    ``rule`` names the rule by which the answer was found; ``integrity`` names a suspicion, None if there is none.
    """

    score: float
    correct: bool
    answer: str | None
    found: bool
    rule: str
    explanation: str
    integrity: str | None = None


class GraderError(ValueError):
    """Parameters or references that the grader cannot work with: names the field, the value and the remedy."""

    def __init__(self, field: str, value: Any, message: str, remedy: str) -> None:
        self.field, self.value, self.message, self.remedy = field, value, message, remedy
        shown = repr(value)
        super().__init__(f"{field} {shown[:200]}: {message}. {remedy}")


class Grader(Protocol):
    """One kind of grader: pure functions of their arguments."""

    # Raised with every change that can change a verdict.
    version: str

    def check_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Raises GraderError."""
        ...

    def check_reference(self, reference: str, parameters: Mapping[str, Any]) -> None:
        """Raises GraderError for a reference that no answer could match."""
        ...

    def grade(self, output: str, references: Sequence[str], parameters: Mapping[str, Any]) -> Verdict:
        """The verdict on one output, whose length is bounded."""
        ...


def no_answer(explanation: str) -> Verdict:
    return Verdict(0.0, False, None, False, "", explanation)


def verdict(correct: bool, answer: str, rule: str, explanation: str) -> Verdict:
    return Verdict(1.0 if correct else 0.0, correct, answer, True, rule, explanation)


def refuse_unknown(parameters: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raises GraderError for a parameter that this kind does not take."""
    for name, value in parameters.items():
        if name not in known:
            raise GraderError(
                f"parameters.{name}", value, "is not a parameter of this grader", f"Use {', '.join(known)}."
            )


def typed(parameters: Mapping[str, Any], name: str, type_: type | tuple[type, ...], default: Any, expected: str) -> Any:
    """A parameter of the right type, or its default; a bool is no number."""
    value = parameters.get(name, default)
    wrong_bool = isinstance(value, bool) and type_ is not bool
    if value is not default and (wrong_bool or not isinstance(value, type_)):
        raise GraderError(f"parameters.{name}", value, "has the wrong type", f"Give {expected}.")
    return value
