"""From bytes to rows with line numbers: encodings, dialects, JSON lines, and what has no business in a file."""

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import charset_normalizer
import yaml

from questions.formats.parsed import ImportFailed, Problem

LARGEST_FILE = 200 * 1024 * 1024
LONGEST_CELL = 1_000_000
MOST_PROBLEMS = 100
DELIMITERS = ",;\t|"


@dataclass
class Row:
    """One record, with the line on which it begins."""

    line: int
    values: Mapping[str, Any]


@dataclass
class Table:
    """The records of one file, what was inferred about it and what is wrong with it."""

    file: str
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def problem(self, line: int | None, field_: str, value: Any, message: str, remedy: str) -> None:
        text = "" if value is None else str(value)
        self.problems.append(Problem(field_, text[:200], message, remedy, self.file, line))

    def raise_problems(self) -> None:
        if not self.problems:
            return
        shown = self.problems[:MOST_PROBLEMS]
        if len(self.problems) > len(shown):
            rest = len(self.problems) - len(shown)
            shown.append(Problem("file", "", f"{rest} more problems follow", "Mend these first.", self.file))
        raise ImportFailed(*shown)


def fail(file: str, field_: str, value: Any, message: str, remedy: str, line: int | None = None) -> ImportFailed:
    return ImportFailed(Problem(field_, "" if value is None else str(value)[:200], message, remedy, file, line))


def read_table(path: Path) -> Table:
    """The rows of a CSV or JSONL file, told apart by content. Raises ImportFailed for a file that cannot be read."""
    table = Table(path.name)
    text = read_text(path, table.notes)
    stripped = text.lstrip()
    if not stripped:
        raise fail(path.name, "file", "", "is empty", "Give a header line and at least one question.")
    if stripped[0] in "{[":
        _read_json(table, text)
    else:
        _read_csv(table, text)
    return table


def read_text(path: Path, notes: list[str]) -> str:
    """The text of a file, its encoding found and noted. Raises ImportFailed."""
    try:
        size = path.stat().st_size
        if size > LARGEST_FILE:
            remedy = f"Split it into files of at most {LARGEST_FILE // 2**20} MB."
            raise fail(path.name, "file", f"{size // 2**20} MB", "is too large", remedy)
        content = path.read_bytes()
    except OSError as error:
        raise fail(str(path), "file", "", error.strerror or "cannot be read", "Check path and permissions.") from None
    for encoding in ("utf-8-sig", "utf-16") if content[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig",):
        try:
            text = content.decode(encoding)
            break
        except UnicodeDecodeError:
            continue
    else:
        guess = charset_normalizer.from_bytes(content[: 2**20]).best()
        if guess is None:
            raise fail(path.name, "file", "", "has no encoding that could be made out", "Save it as UTF-8.")
        notes.append(f"read as {guess.encoding}, not UTF-8: check that accented letters look right")
        text = content.decode(guess.encoding, "replace")
    if "\x00" in text:
        line = text[: text.index("\x00")].count("\n") + 1
        raise fail(path.name, "file", "NUL", "holds a NUL character", "Save it as plain text.", line)
    return text


def read_yaml(path: Path) -> Mapping[str, Any]:
    """A YAML mapping without aliases, which have no use here but to make a small file enormous. Raises ImportFailed."""
    text = read_text(path, [])
    try:
        for token in yaml.scan(text, Loader=yaml.SafeLoader):
            if isinstance(token, yaml.AliasToken):
                remedy = "Write out what it stands for."
                raise fail(path.name, "file", f"*{token.value}", "is an alias", remedy, token.start_mark.line + 1)
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = None if mark is None else mark.line + 1
        message = getattr(error, "problem", None) or "is not YAML"
        raise fail(path.name, "file", "", f"is not YAML: {message}", "Mend the line.", line) from None
    except RecursionError:
        raise fail(path.name, "file", "", "is nested too deeply", "Write a plain mapping.") from None
    if not isinstance(content, dict):
        raise fail(path.name, "file", type(content).__name__, "is not a mapping", "Write key: value lines.")
    return content


def _read_json(table: Table, text: str) -> None:
    """JSON lines, or one JSON array of objects."""
    if text.lstrip()[0] == "[":
        try:
            records = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise fail(
                table.file, "file", "", f"is not JSON: {error}", "Mend it, or write one object a line."
            ) from None
        lines: list[tuple[int, Any]] = list(enumerate(records, start=1))
        table.notes.append("read as one JSON array; lines count its records")
    else:
        lines = []
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip():
                continue
            try:
                lines.append((number, json.loads(line)))
            except (ValueError, RecursionError) as error:
                table.problem(number, "line", line[:80], f"is not JSON: {error}", "Write one JSON object a line.")
    for number, record in lines:
        if isinstance(record, dict):
            table.rows.append(Row(number, record))
        else:
            table.problem(
                number, "line", str(record)[:80], "is not an object", 'Write {"prompt": ..., "reference": ...}.'
            )


def _read_csv(table: Table, text: str) -> None:
    csv.field_size_limit(LONGEST_CELL)
    delimiter, quote = _dialect(text)
    if (delimiter, quote) != (",", '"'):
        shown = "tab" if delimiter == "\t" else delimiter
        table.notes.append(f"columns are separated by {shown!r} and quoted by {quote!r}")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quotechar=quote, strict=True)
    try:
        header = [name.strip() for name in next(reader)]
    except (csv.Error, StopIteration) as error:
        raise fail(
            table.file, "header", "", f"cannot be read: {error}", "Name the columns in the first line.", 1
        ) from None
    twice = sorted({name for name in header if name and header.count(name) > 1})
    if twice:
        raise fail(table.file, "header", ", ".join(twice), "names a column twice", "Give every column its own name.", 1)
    begins = reader.line_num + 1
    try:
        for cells in reader:
            _take_cells(table, header, cells, begins)
            begins = reader.line_num + 1
    except csv.Error as error:
        table.problem(begins, "line", "", f"cannot be read: {error}", "Check quotes and the length of cells.")


def _take_cells(table: Table, header: list[str], cells: list[str], line: int) -> None:
    if not any(cell.strip() for cell in cells):
        if cells:
            table.notes.append(f"line {line} is empty and was left out")
        return
    if len(cells) != len(header):
        message = f"has {len(cells)} cells where the header names {len(header)} columns"
        table.problem(
            line, "line", cells[0][:80], message, "Quote cells that hold the separator, or add what is missing."
        )
        return
    table.rows.append(Row(line, dict(zip(header, cells, strict=True))))


def _dialect(text: str) -> tuple[str, str]:
    """The delimiter that the header uses most, and the quote that stands next to it."""
    header = text.split("\n", 1)[0]
    counts = {delimiter: header.count(delimiter) for delimiter in DELIMITERS}
    delimiter = max(DELIMITERS, key=lambda d: counts[d]) if any(counts.values()) else ","
    sample = text[:100_000]
    single = sum(sample.count(f"{a}'") for a in (delimiter, "\n"))
    double = sum(sample.count(f'{a}"') for a in (delimiter, "\n"))
    return delimiter, "'" if single > 2 and not double else '"'
