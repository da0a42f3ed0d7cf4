"""The starter tasks: every reference passes its own grader, and obvious wrong answers fail."""

import json
from pathlib import Path

import pytest

from evaluation.checking import check_question
from evaluation.graders import grade
from questions.contributing import STARTER
from questions.formats import ParsedQuestion, ParsedTask, read_task

FOLDERS = sorted(folder for folder in STARTER.iterdir() if folder.is_dir())


def task_in(folder: Path) -> ParsedTask:
    return read_task(folder, check_question=check_question)


def wrong_answers(question: ParsedQuestion) -> list[str]:
    """What somebody who does not know might say."""
    prompt = str(question.messages[-1]["content"])
    (reference,) = question.references
    wrong = ["", "I don't know", prompt]
    if question.grader_kind == "choice":
        labels = question.grader_parameters["labels"]
        wrong += [label for label in labels if label != reference] + [", ".join(labels)]
    elif question.grader_kind == "numeric":
        number, _, unit = reference.partition(" ")
        wrong += [f"{float(number) * 10:g} {unit}", f"{float(number) * 1.2:g} {unit}", f"{number} parsec"]
    else:
        fields = json.loads(reference)
        wrong += [json.dumps({**fields, name: "something else"}) for name in fields]
        wrong += [json.dumps({k: v for k, v in fields.items() if k != name}) for name in fields]
    return wrong


def test_there_are_three_tasks_with_different_graders() -> None:
    assert len(FOLDERS) >= 3
    assert len({task_in(folder).questions[0].grader_kind for folder in FOLDERS}) >= 3


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_task_says_what_it_is_and_has_sixty_questions(folder: Path) -> None:
    task = task_in(folder)
    assert len(task.questions) >= 60
    assert all((task.summary, task.success_definition, task.target_population, task.out_of_scope))
    assert all(question.licence == "CC0-1.0" and question.source for question in task.questions)
    assert len({str(question.messages) for question in task.questions}) == len(task.questions)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_reference_passes_and_obvious_wrong_answers_fail(folder: Path) -> None:
    passed_wrongly = []
    for question in task_in(folder).questions:
        arguments = (question.references, question.grader_parameters)
        assert grade(question.grader_kind, question.references[0], *arguments).correct, question.id
        passed_wrongly += [
            (question.id, wrong)
            for wrong in wrong_answers(question)
            if grade(question.grader_kind, wrong, *arguments).correct
        ]
    assert passed_wrongly == []
