"""How a business rule says no: every problem at once, each naming field, value and remedy."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with what was given."""

    field: str
    value: str
    message: str
    remedy: str
    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        value = f" {self.value!r}" if self.value else ""
        return f"{place + ': ' if place else ''}{self.field}{value}: {self.message}. {self.remedy}"


class Refused(ValueError):
    """Raised before anything is written; ``problems`` holds at least one."""

    def __init__(self, *problems: Problem) -> None:
        self.problems: list[Problem] = list(problems)
        super().__init__("\n".join(str(problem) for problem in problems))


def refuse(field: str, value: Any, message: str, remedy: str) -> Refused:
    """A refusal with one problem, long values shortened."""
    text = "" if value is None else str(value)
    return Refused(Problem(field, text if len(text) <= 200 else text[:197] + "...", message, remedy))
