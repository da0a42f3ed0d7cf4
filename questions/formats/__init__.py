"""Reading and writing questions in files; no database, no Django (docs/task-format.md)."""

from questions.formats.parsed import ImportFailed, ParsedQuestion, ParsedTask
from questions.formats.task_files import CheckQuestion, read_task

__all__ = ["CheckQuestion", "ImportFailed", "ParsedQuestion", "ParsedTask", "read_task"]
