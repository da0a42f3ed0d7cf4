"""Files of questions, sound and broken, and what is said about them."""

import json
from pathlib import Path

import pytest

from questions.formats.parsed import ImportFailed, ParsedTask, Problem
from questions.formats.task_files import read_task


def read(folder: Path, content: str | bytes, name: str = "questions.csv") -> ParsedTask:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_task(path)


def problems(folder: Path, content: str | bytes, name: str = "questions.csv") -> list[Problem]:
    with pytest.raises(ImportFailed) as refusal:
        read(folder, content, name)
    return refusal.value.problems


def described(folder: Path, description: str) -> Path:
    (folder / "task.yaml").write_text(description)
    (folder / "questions.jsonl").write_text('{"prompt": "P", "reference": "R"}\n')
    return folder


def test_a_byte_order_mark_does_not_become_part_of_the_first_header(tmp_path: Path) -> None:
    task = read(tmp_path, b"\xef\xbb\xbfquestion,answer\r\nWhat?,This\r\n")
    assert task.questions[0].messages[-1]["content"] == "What?"


def test_synonyms_of_columns_are_accepted_and_noted(tmp_path: Path) -> None:
    task = read(tmp_path, "input,target\nWhat?,This\n")
    assert task.questions[0].references == ["This"]
    assert any("'input' was read as prompt" in note for note in task.notes)


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_other_delimiters_are_found_and_noted(tmp_path: Path, delimiter: str) -> None:
    task = read(tmp_path, f"prompt{delimiter}reference\nA, or B?{delimiter}B\n")
    assert task.questions[0].references == ["B"]
    assert any("columns are separated by" in note for note in task.notes)


def test_an_encoding_other_than_utf_8_is_named(tmp_path: Path) -> None:
    content = "prompt,reference\nWo liegt die größte Straße der schönen Stadt Köln?,Übersee\n"
    assert any("not UTF-8" in note for note in read(tmp_path, content.encode("cp1252")).notes)


def test_newlines_inside_cells_count_as_lines(tmp_path: Path) -> None:
    found = problems(tmp_path, 'prompt,reference\n"two\nlines",a\nWhat?,\n')
    assert [(p.line, p.field) for p in found] == [(4, "reference")]


def test_separators_inside_a_reference_do_not_split_it(tmp_path: Path) -> None:
    assert read(tmp_path, 'prompt,reference\nWhich film?,"Monsters, Inc; 2001"\n').questions[0].references == [
        "Monsters, Inc; 2001"
    ]


def test_an_id_is_made_from_the_content_and_stays(tmp_path: Path) -> None:
    first, again = (read(tmp_path, "prompt,reference\nWhat?,This\n").questions[0].id for _ in range(2))
    assert first == again
    assert first.startswith("q-")


def test_all_problems_of_a_file_are_reported_at_once(tmp_path: Path) -> None:
    rows = ['{"id": 1, "prompt": "a", "reference": "x"}', '{"id": 1, "prompt": "b", "reference": "x"}']
    rows += ['{"prompt": "", "reference": "x"}', '{"prompt": "c", "reference": "x", "weight": -1}']
    found = problems(tmp_path, "\n".join(rows), "questions.jsonl")
    assert [(p.line, p.field) for p in found] == [(2, "id"), (3, "prompt"), (4, "weight")]
    assert all(p.file and p.message and p.remedy for p in found)


@pytest.mark.parametrize("weight", ["nan", "inf", "-1", "0", "heavy"])
def test_a_weight_that_is_no_positive_number_is_refused(tmp_path: Path, weight: str) -> None:
    assert problems(tmp_path, f"prompt,reference,weight\nWhat?,This,{weight}\n")[0].field == "weight"


@pytest.mark.parametrize(
    ("content", "field", "message"),
    [
        ("", "file", "is empty"),
        ("prompt,reference\n", "file", "holds no question"),
        ("prompt,note\nWhat?,x\n", "reference", "missing column"),
        ("prompt,prompt,reference\na,b,c\n", "header", "names a column twice"),
        ("prompt,reference\nWhat?,a,b\n", "line", "has 3 cells"),
        ("prompt,reference\nWhat\x00?,a\n", "file", "NUL"),
        ("prompt,reference\nWhat?,a\nWhat?,b\n", "prompt", "stands in line 2 too"),
    ],
)
def test_a_broken_table_is_refused_by_name(tmp_path: Path, content: str, field: str, message: str) -> None:
    found = problems(tmp_path, content)[0]
    assert found.field == field
    assert message in found.message


def test_a_folder_without_a_description_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportFailed, match=r"task\.yaml"):
        read_task(tmp_path)


def test_an_unknown_key_is_answered_with_the_nearest_known_one(tmp_path: Path) -> None:
    with pytest.raises(ImportFailed, match="Did you mean summary"):
        read_task(described(tmp_path, "slug: s\nsumary: x\n"))


def test_an_alias_in_the_description_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportFailed, match="is an alias"):
        read_task(described(tmp_path, "slug: s\nname: &a x\nsummary: *a\n"))


def test_instructions_and_answer_format_stand_around_the_prompt(tmp_path: Path) -> None:
    task = read_task(described(tmp_path, "slug: s\ninstructions: Before.\nanswer_format: After.\n"))
    assert task.questions[0].messages == [{"role": "user", "content": "Before.\n\nP\n\nAfter."}]


def test_what_the_check_of_a_question_says_becomes_a_problem_of_its_line(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(json.dumps({"prompt": "What?", "reference": "x"}))
    with pytest.raises(ImportFailed) as refusal:
        read_task(path, check_question=lambda kind, parameters, references: ["is no label"])
    assert [(p.line, p.field, p.message) for p in refusal.value.problems] == [(1, "reference", "is no label")]
