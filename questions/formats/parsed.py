"""What every format is read into: plain values, no database."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from questions.errors import Problem, Refused


class ImportFailed(Refused):
    """A file that was refused as a whole: every problem found in it, none of it taken."""


@dataclass(frozen=True)
class ParsedQuestion:
    """One question as its file gives it; ``messages`` are what a model receives, instructions included."""

    id: str
    messages: Sequence[Mapping[str, str]]
    references: Sequence[str]
    answer_format: str
    grader_kind: str
    grader_parameters: Mapping[str, Any]
    category: str = ""
    rationale: str = ""
    source: str = ""
    licence: str = ""
    authored_at: datetime.date | None = None
    weight: float = 1.0
    line: int | None = None


@dataclass(frozen=True)
class ParsedTask:
    """A task with its questions; ``notes`` say what was inferred on the way (encoding, delimiter, headers)."""

    slug: str
    name: str
    questions: Sequence[ParsedQuestion]
    summary: str = ""
    success_definition: str = ""
    target_population: str = ""
    out_of_scope: str = ""
    evidence_level: str = "response"
    language: str = ""
    notes: Sequence[str] = field(default_factory=tuple)


__all__ = ["ImportFailed", "ParsedQuestion", "ParsedTask", "Problem"]
