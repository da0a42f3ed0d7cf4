"""A site with something to see: a shared evaluation that everybody sees, and a private one of the owner's."""

from dataclasses import dataclass
from typing import Any

import pytest

from evaluation import pricing
from evaluation.configuring import disclose_configuration, disclose_scaffold
from evaluation.engine.plan import Plan
from evaluation.models import Evaluation
from evaluation.registering import register_evaluation
from questions.contributing import import_task
from questions.formats import ParsedQuestion, ParsedTask
from questions.models import Suite, Task
from tests.evaluation.recorded import record_rounds

SECRET = "the owner's private question about 6 and 7"


@dataclass
class Site:
    """What is there."""

    shared: Evaluation
    private: Evaluation
    shared_task: Task
    private_task: Task


def a_suite(slug: str, owner: Any, visibility: str, prompt: str) -> Suite:
    questions = [
        ParsedQuestion(
            id=f"q{i}",
            messages=[{"role": "user", "content": f"{prompt} ({i})<script>alert(1)</script>"}],
            references=["42"],
            answer_format="",
            grader_kind="numeric",
            grader_parameters={},
            category="sums",
        )
        for i in range(12)
    ]
    parsed = ParsedTask(slug=slug, name=f"Task {slug}", questions=questions, summary="Sums for tests.")
    return import_task(parsed=parsed, owner=owner, visibility=visibility)


def an_evaluation(suite: Suite, owner: Any, visibility: str, rounds: int = 130) -> Evaluation:
    scaffold = disclose_scaffold(owner=owner, name="examples", messages=[{"role": "system", "content": "Be right."}])
    configurations = [
        disclose_configuration(
            owner=owner,
            name=f"model {name}, {visibility}",
            model=name,
            endpoint="http://127.0.0.1:9/v1",
            scaffold=scaffold if name == "good" else None,
            prices=pricing.free("a test"),
            visibility=visibility,
            available_to_public=True,
            model_snapshot="1",
            region="here",
            submitter_relationship="none",
        )
        for name in ("good", "poor")
    ]
    evaluation = register_evaluation(
        owner=owner,
        name=f"Evaluation {visibility}",
        suite=suite,
        configurations=configurations,
        plan=Plan(half_width=None, max_trials=2 * rounds, seed=5),
        visibility=visibility,
    )
    good = configurations[0].pk
    record_rounds(
        evaluation,
        rounds,
        lambda key: float(key.round_number % 4 > 0 if key.configuration_id == good else key.round_number % 4 == 1),
    )
    return evaluation


@pytest.fixture
def site(db: None, owner: Any) -> Site:
    shared = a_suite("shared-sums", None, "shared", "What is 6 times 7?")
    private = a_suite("private-sums", owner, "private", SECRET)
    return Site(
        shared=an_evaluation(shared, None, "shared"),
        private=an_evaluation(private, owner, "private"),
        shared_task=shared.task,
        private_task=private.task,
    )
