"""A task folder (``task.yaml`` with ``questions.jsonl`` or ``questions.csv``), or a lone file of questions."""

import datetime
import difflib
import hashlib
import json
import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from questions.formats.parsed import ImportFailed, ParsedQuestion, ParsedTask, Problem
from questions.formats.reading import Row, Table, fail, read_table, read_yaml

TASK_TEXTS = ("summary", "success_definition", "target_population", "out_of_scope", "language")
TASK_KEYS = (
    "slug",
    "name",
    *TASK_TEXTS,
    "evidence_level",
    "source",
    "licence",
    "authors",
    "instructions",
    "answer_format",
    "grader",
    "mapping",
)
LEVELS = ("model", "response", "interaction", "deployment")
QUESTION_KEYS = (
    "id",
    "prompt",
    "messages",
    "reference",
    "references",
    "category",
    "rationale",
    "source",
    "licence",
    "authored_at",
    "answer_format",
    "grader",
    "parameters",
    "weight",
)
SYNONYMS = {
    "prompt": ("question", "input", "text", "query"),
    "reference": ("answer", "target", "ideal", "expected", "output", "label"),
    "id": ("key", "name", "item"),
    "category": ("topic", "subject", "type"),
    "licence": ("license",),
}
ROLES = ("system", "developer", "user", "assistant")
DEFAULT_GRADER = {"kind": "exact", "parameters": {"normalise": ["case", "space", "punctuation"]}}

# Problems with a question's grader: given (kind, parameters, references), it says each in one sentence.
CheckQuestion = Callable[[str, Mapping[str, Any], Sequence[str]], Sequence[str]]


def read_task(
    path: Path | str,
    *,
    mapping: Mapping[str, str] | None = None,
    defaults: Mapping[str, Any] | None = None,
    check_question: CheckQuestion | None = None,
) -> ParsedTask:
    """Read a task folder or a file of questions.

    Args:
        path: a folder with ``task.yaml``, or a CSV or JSONL file.
        mapping: from our names of columns to the file's, such as {"prompt": "Frage"}.
        defaults: what ``task.yaml`` would say, for a lone file.
        check_question: asked for every question; each sentence it answers is a problem.

    Raises ImportFailed with every problem found, each with file, line, field and remedy.
    """
    path = Path(path)
    if path.is_dir():
        return _read_folder(path, mapping, check_question)
    if not path.exists():
        raise fail(str(path), "file", "", "does not exist", "Check the path.")
    settings = {"slug": _slug(path.stem), "name": path.stem.replace("_", " "), **(defaults or {})}
    return _read(path, settings, mapping, check_question)


def _read_folder(folder: Path, mapping: Mapping[str, str] | None, check_question: CheckQuestion | None) -> ParsedTask:
    description = folder / "task.yaml"
    if not description.exists():
        raise fail(str(folder), "task.yaml", "", "is missing", "Describe the task in a file task.yaml in this folder.")
    settings = read_yaml(description)
    files = [folder / name for name in ("questions.jsonl", "questions.csv") if (folder / name).exists()]
    if len(files) != 1:
        found = " and ".join(file.name for file in files) or "neither questions.jsonl nor questions.csv"
        raise fail(str(folder), "questions", found, "is not one file of questions", "Keep exactly one of the two.")
    given = {"slug": _slug(folder.name), **settings}
    return _read(files[0], given, mapping or settings.get("mapping"), check_question, description.name)


def _read(
    path: Path,
    settings: Mapping[str, Any],
    mapping: Mapping[str, str] | None,
    check_question: CheckQuestion | None,
    described_in: str = "options",
) -> ParsedTask:
    problems = _problems_of_task(settings, described_in)
    if problems:
        raise ImportFailed(*problems)
    table = read_table(path)
    _rename_columns(table, mapping or {})
    reader = _QuestionReader(table, settings, check_question)
    questions = [question for row in table.rows if (question := reader.read(row))]
    if not questions and not table.problems:
        table.problem(None, "file", "", "holds no question", "Give at least one line with a prompt and a reference.")
    table.raise_problems()
    return ParsedTask(
        slug=str(settings["slug"]),
        name=str(settings.get("name") or settings["slug"])[:120],
        questions=tuple(questions),
        evidence_level=settings.get("evidence_level", "response"),
        notes=tuple(table.notes),
        **{name: _text(settings.get(name)) for name in TASK_TEXTS},
    )


def _problems_of_task(settings: Mapping[str, Any], file: str) -> list[Problem]:
    problems = []
    for key in settings:
        if key not in TASK_KEYS:
            problems.append(Problem(str(key), "", "is not a key of a task", _suggestion(str(key), TASK_KEYS), file))
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,79}", str(settings["slug"])):
        remedy = "Use lower-case letters, digits and hyphens, at most 80."
        problems.append(Problem("slug", str(settings["slug"]), "is not a slug", remedy, file))
    if settings.get("evidence_level", "response") not in LEVELS:
        value = str(settings["evidence_level"])
        problems.append(Problem("evidence_level", value, "is no level of evidence", f"Use {', '.join(LEVELS)}.", file))
    grader = settings.get("grader", DEFAULT_GRADER)
    if (
        not isinstance(grader, Mapping)
        or not isinstance(grader.get("kind"), str)
        or set(grader) - {"kind", "parameters"}
    ):
        remedy = "Write grader: {kind: exact, parameters: {...}}."
        problems.append(Problem("grader", str(grader), "names no kind of grader", remedy, file))
    return problems


def _rename_columns(table: Table, mapping: Mapping[str, str]) -> None:
    """Give every column our name for it: by the mapping, else by synonyms that stand for nothing else."""
    names = {name for row in table.rows for name in row.values}
    by_plain = {_plain(name): name for name in names}
    chosen: dict[str, str] = {}
    for ours, theirs in mapping.items():
        if theirs not in names:
            table.problem(1, "mapping", theirs, f"is not a column; {ours} was to be read from it", _columns(names))
        else:
            chosen[theirs] = ours
    for ours, synonyms in SYNONYMS.items():
        if ours in chosen.values() or ours in by_plain:
            continue
        synonym = next((by_plain[s] for s in synonyms if s in by_plain and by_plain[s] not in chosen), None)
        if synonym is not None:
            chosen[synonym] = ours
            table.notes.append(f"column {synonym!r} was read as {ours}")
    for row in table.rows:
        row.values = {
            chosen.get(name, _plain(name) if _plain(name) in QUESTION_KEYS else name): value
            for name, value in row.values.items()
        }
    have = {name for row in table.rows for name in row.values}
    for needed, instead in (("prompt", "messages"), ("reference", "references")):
        if table.rows and not {needed, instead} & have:
            table.problem(1, needed, "", "is a missing column", f"Add it, or map one to it. {_columns(names)}")
    table.raise_problems()


class _QuestionReader:
    """Turns rows into questions, noting what is wrong with each."""

    def __init__(self, table: Table, settings: Mapping[str, Any], check_question: CheckQuestion | None) -> None:
        self._table = table
        self._settings = settings
        self._check = check_question
        self._grader = settings.get("grader", DEFAULT_GRADER)
        self._lines: dict[str, int] = {}
        self._prompts: dict[str, int] = {}

    def read(self, row: Row) -> ParsedQuestion | None:
        """The question of a row; None once a problem was noted."""
        before = len(self._table.problems)
        values = row.values
        messages = self._messages(row)
        references = self._references(row)
        kind, parameters = self._grading(row)
        question = ParsedQuestion(
            id=self._id(row, messages),
            messages=messages,
            references=references,
            answer_format=_text(values.get("answer_format") or self._settings.get("answer_format")),
            grader_kind=kind,
            grader_parameters=parameters,
            category=_text(values.get("category"))[:80],
            rationale=_text(values.get("rationale")),
            source=_text(values.get("source") or self._settings.get("source")),
            licence=_text(values.get("licence") or self._settings.get("licence"))[:80],
            authored_at=self._date(row),
            weight=self._weight(row),
            line=row.line,
        )
        if len(self._table.problems) == before and self._check is not None:
            for sentence in self._check(kind, parameters, references):
                self._problem(row, "reference", "; ".join(references), sentence, "Mend the reference or the grader.")
        return question if len(self._table.problems) == before else None

    def _problem(self, row: Row, field_: str, value: Any, message: str, remedy: str) -> None:
        self._table.problem(row.line, field_, value, message, remedy)

    def _messages(self, row: Row) -> list[dict[str, str]]:
        given = row.values.get("messages")
        if given not in (None, ""):
            return self._given_messages(row, given)
        prompt = _text(row.values.get("prompt"))
        if not prompt.strip():
            self._problem(row, "prompt", "", "is empty", "Write what the model is asked.")
            return []
        known = self._prompts.setdefault(prompt, row.line)
        if known != row.line:
            self._problem(row, "prompt", prompt[:80], f"stands in line {known} too", "Leave one of the two out.")
        parts = (
            self._settings.get("instructions"),
            prompt,
            row.values.get("answer_format") or self._settings.get("answer_format"),
        )
        content = "\n\n".join(_text(part).strip("\n") for part in parts if _text(part).strip())
        return [{"role": "user", "content": content}]

    def _given_messages(self, row: Row, given: Any) -> list[dict[str, str]]:
        value = given
        if isinstance(given, str):
            try:
                value = json.loads(given)
            except ValueError:
                value = None
        sound = (
            isinstance(value, list)
            and value
            and all(
                isinstance(m, Mapping)
                and set(m) == {"role", "content"}
                and m["role"] in ROLES
                and isinstance(m["content"], str)
                for m in value
            )
        )
        if not sound:
            remedy = f'Write [{{"role": "user", "content": "..."}}], roles being {", ".join(ROLES)}.'
            self._problem(row, "messages", given, "is no list of messages", remedy)
            return []
        return [dict(message) for message in value]

    def _references(self, row: Row) -> list[str]:
        several = row.values.get("references")
        if several not in (None, ""):
            if isinstance(several, str):
                try:
                    several = json.loads(several)
                except ValueError:
                    several = None
            if not isinstance(several, list) or not several:
                remedy = 'Write a JSON list such as ["a", "b"], or one accepted answer under reference.'
                self._problem(row, "references", row.values["references"], "is no list of answers", remedy)
                return []
            return [_text(reference) for reference in several]
        single = row.values.get("reference")
        if isinstance(single, list):
            return [_text(reference) for reference in single]
        if single is None or not _text(single).strip():
            self._problem(row, "reference", "", "is empty", "Write the accepted answer.")
            return []
        return [_text(single)]

    def _grading(self, row: Row) -> tuple[str, Mapping[str, Any]]:
        grader, parameters = row.values.get("grader"), row.values.get("parameters")
        if isinstance(parameters, str) and parameters.strip():
            try:
                parameters = json.loads(parameters)
            except ValueError:
                self._problem(row, "parameters", parameters, "is not JSON", 'Write {"name": value}.')
        if isinstance(grader, Mapping):
            parameters = grader.get("parameters", {})
            grader = grader.get("kind")
        if grader in (None, ""):
            kind, base = self._grader["kind"], self._grader.get("parameters") or {}
        else:
            kind, base = str(grader), {}
        return kind, parameters if isinstance(parameters, Mapping) else base

    def _id(self, row: Row, messages: Sequence[Mapping[str, str]]) -> str:
        given = row.values.get("id")
        digest = hashlib.sha256(json.dumps(messages, ensure_ascii=True).encode()).hexdigest()[:8]
        id_ = _text(given).strip() or f"q-{digest}"
        if len(id_) > 200:
            self._problem(row, "id", id_, "is longer than 200 characters", "Shorten it.")
        known = self._lines.setdefault(id_, row.line)
        if known != row.line:
            self._problem(row, "id", id_, f"stands in line {known} too", "Give every question its own id.")
        return id_

    def _date(self, row: Row) -> datetime.date | None:
        value = row.values.get("authored_at")
        if value in (None, ""):
            return None
        try:
            return datetime.date.fromisoformat(str(value))
        except ValueError:
            self._problem(row, "authored_at", value, "is not a date", "Write it as 2026-03-04.")
            return None

    def _weight(self, row: Row) -> float:
        value = row.values.get("weight")
        if value in (None, ""):
            return 1.0
        try:
            weight = float(str(value))
        except ValueError:
            weight = math.nan
        if not 0.0 < weight < 1e12:
            self._problem(row, "weight", value, "is not a positive number", "Write a number such as 1 or 0.5.")
            return 1.0
        return weight


def _text(value: Any) -> str:
    """A value as the text it stands for; numbers and flags of JSON as JSON writes them."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _plain(name: str) -> str:
    return "_".join(name.strip().casefold().replace("-", " ").split())


def _slug(name: str) -> str:
    ascii_ = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", ascii_).strip("-")[:80] or "task"


def _columns(names: set[str]) -> str:
    return f"The columns are: {', '.join(sorted(names)[:20])}."


def _suggestion(key: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(key, known, n=1)
    return f"Did you mean {near[0]}?" if near else f"Use {', '.join(known)}."
