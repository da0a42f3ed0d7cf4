"""What was said, registered or recorded cannot be changed, whoever asks: the database itself refuses."""

import datetime
from collections.abc import Callable
from typing import Any

import pytest
from django.db import Error, IntegrityError, models, transaction
from django.utils import timezone

from evaluation.engine.plan import Plan
from evaluation.models import (
    Configuration,
    Entry,
    Evaluation,
    EvaluationStatus,
    Outcome,
    Round,
    Scaffold,
    StopReason,
    Trial,
    Verdict,
)
from questions.models import Question, QuestionRevision, Suite, SuiteItem, Task

pytestmark = pytest.mark.django_db


class World:
    """One row of everything, linked."""

    def __init__(self) -> None:
        self.task = Task.objects.create(slug="sums", name="Sums")
        self.question = Question.objects.create(task=self.task, key="q1", status="accepted")
        self.revision = QuestionRevision.objects.create(
            question=self.question,
            number=1,
            messages=[{"role": "user", "content": "What is 1 + 1?"}],
            references=["2"],
            grader_kind="numeric",
            content_hash="0" * 64,
        )
        self.suite = Suite.objects.create(task=self.task, version=1, size=1, content_hash="0" * 64)
        self.item = SuiteItem.objects.create(suite=self.suite, position=0, revision=self.revision, weight=1.0)
        self.scaffold = Scaffold.objects.create(name="plain", messages=[], content_hash="0" * 64)
        self.configuration = Configuration.objects.create(
            name="m",
            model="m",
            provider="openai_chat",
            endpoint="http://x/v1",
            harness_version="1",
            content_hash="0" * 64,
        )
        self.evaluation = Evaluation.objects.create(
            name="e", suite=self.suite, plan=Plan(seed=1).to_json(), plan_hash="0" * 64, graders={}
        )
        Entry.objects.create(evaluation=self.evaluation, configuration=self.configuration, position=0)
        self.round = Round.objects.create(evaluation=self.evaluation, number=0, sequence=0, position=0, probability=1.0)
        self.trial = self.a_trial(sequence=1)
        self.trial.save()
        self.verdict = Verdict.objects.create(
            trial=self.trial, grader_kind="numeric", grader_version="1", score=1.0, correct=True, found=True
        )

    def a_trial(self, **changes: Any) -> Trial:
        values: dict[str, Any] = {
            "evaluation": self.evaluation,
            "configuration": self.configuration,
            "round_number": 0,
            "try_number": 0,
            "sequence": 2,
            "outcome": Outcome.ANSWERED,
            "score": 1.0,
        }
        return Trial(**{**values, **changes})


@pytest.fixture
def world() -> World:
    return World()


FROZEN: list[tuple[str, dict[str, Any]]] = [
    ("revision", {"messages": []}),
    ("revision", {"references": ["3"]}),
    ("revision", {"content_hash": "1" * 64}),
    ("suite", {"content_hash": "1" * 64}),
    ("suite", {"size": 2}),
    ("item", {"weight": 2.0}),
    ("scaffold", {"messages": [{"role": "system", "content": "Cheat."}]}),
    ("configuration", {"model": "better"}),
    ("configuration", {"decoding": {"temperature": 1}}),
    ("evaluation", {"plan": {}}),
    ("evaluation", {"plan_hash": "1" * 64}),
    ("evaluation", {"graders": {"numeric": "2"}}),
    ("evaluation", {"registered_at": timezone.now() - datetime.timedelta(days=1)}),
    ("round", {"position": 5}),
    ("round", {"probability": 0.5}),
    ("trial", {"score": 0.0}),
    ("trial", {"outcome": Outcome.VOID, "score": None}),
    ("trial", {"latency_s": 0.001}),
    ("verdict", {"score": 0.5}),
]


@pytest.mark.parametrize(("name", "change"), FROZEN)
def test_a_frozen_row_refuses_the_change(world: World, name: str, change: dict[str, Any]) -> None:
    row: models.Model = getattr(world, name)
    with pytest.raises(Error), transaction.atomic():
        type(row)._default_manager.filter(pk=row.pk).update(**change)


@pytest.mark.parametrize("name", ["revision", "suite", "item", "trial"])
def test_a_kept_row_refuses_to_be_deleted(world: World, name: str) -> None:
    row: models.Model = getattr(world, name)
    with pytest.raises(Error), transaction.atomic():
        type(row)._default_manager.filter(pk=row.pk)._raw_delete("default")


def test_a_frozen_suite_takes_no_further_item(world: World) -> None:
    other = QuestionRevision.objects.create(
        question=world.question, number=2, messages=[], references=["2"], grader_kind="exact", content_hash="2" * 64
    )
    with pytest.raises(Error, match="is frozen with 1 items"), transaction.atomic():
        SuiteItem.objects.create(suite=world.suite, position=1, revision=other, weight=1.0)


IMPOSSIBLE: list[tuple[str, Callable[[World], models.Model]]] = [
    ("the same try twice", lambda w: w.a_trial()),
    ("a trial of a round that was not drawn", lambda w: w.a_trial(round_number=7)),
    ("a void with a score", lambda w: w.a_trial(try_number=1, outcome=Outcome.VOID, score=1.0)),
    ("an answer without a score", lambda w: w.a_trial(try_number=1, score=None)),
    ("a score above one", lambda w: w.a_trial(try_number=1, score=1.5)),
    ("a place in the log taken twice", lambda w: w.a_trial(try_number=1, sequence=1)),
    (
        "a round number drawn twice",
        lambda w: Round(evaluation=w.evaluation, number=0, sequence=9, position=0, probability=1.0),
    ),
    (
        "a draw of probability zero",
        lambda w: Round(evaluation=w.evaluation, number=1, sequence=9, position=0, probability=0.0),
    ),
    ("a suite of nothing", lambda w: Suite(task=w.task, version=2, size=0, content_hash="")),
    ("a suite version twice", lambda w: Suite(task=w.task, version=1, size=1, content_hash="")),
]


@pytest.mark.parametrize(("what", "make"), IMPOSSIBLE, ids=[what for what, _ in IMPOSSIBLE])
def test_the_database_refuses_what_cannot_be(world: World, what: str, make: Callable[[World], models.Model]) -> None:
    def insert() -> None:
        make(world).save(force_insert=True)
        # Foreign keys are checked at the end of a transaction, which a test never reaches.
        transaction.get_connection().check_constraints()

    with pytest.raises(IntegrityError), transaction.atomic():
        insert()


def test_an_evaluation_is_finished_if_and_only_if_a_rule_finished_it(world: World) -> None:
    for status, reason in [(EvaluationStatus.FINISHED, ""), (EvaluationStatus.RUNNING, StopReason.TIME)]:
        with pytest.raises(IntegrityError), transaction.atomic():
            Evaluation.objects.filter(pk=world.evaluation.pk).update(status=status, stop_reason=reason)
