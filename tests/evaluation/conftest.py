"""Evaluations ready to run against the test's model API."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from evaluation import pricing
from evaluation.configuring import disclose_configuration
from evaluation.engine.plan import Plan
from evaluation.models import Configuration, Evaluation
from evaluation.registering import register_evaluation
from questions.contributing import import_task
from questions.formats import ParsedQuestion, ParsedTask
from questions.models import Suite
from tests.conftest import ModelApi

Register = Callable[..., Evaluation]


def a_suite(prompts: Sequence[str], references: Sequence[str], slug: str = "sums") -> Suite:
    """A frozen suite of numeric questions."""
    questions = [
        ParsedQuestion(
            id=f"q{index}",
            messages=[{"role": "user", "content": prompt}],
            references=[reference],
            answer_format="",
            grader_kind="numeric",
            grader_parameters={},
        )
        for index, (prompt, reference) in enumerate(zip(prompts, references, strict=True))
    ]
    return import_task(parsed=ParsedTask(slug=slug, name=slug.title(), questions=questions), owner=None)


def sums(count: int, prefix: str = "") -> Suite:
    """A suite on which the test's model is always right."""
    return a_suite([f"{prefix}What is {i} + 7?" for i in range(count)], [str(i + 7) for i in range(count)])


def a_configuration(api: ModelApi, model: str = "good", **changes: Any) -> Configuration:
    values: dict[str, Any] = {"prices": pricing.free("a test"), "concurrency": 8}
    return disclose_configuration(owner=None, name=model, model=model, endpoint=api.url, **{**values, **changes})


@pytest.fixture
def register(transactional_db: None) -> Register:
    def make(suite: Suite, configurations: Sequence[Configuration], **plan: Any) -> Evaluation:
        values: dict[str, Any] = {"half_width": None, "seed": 1, "retry_deadline_s": 20.0, "stall_timeout_s": 1.0}
        return register_evaluation(
            owner=None, name="", suite=suite, configurations=configurations, plan=Plan(**{**values, **plan})
        )

    return make
