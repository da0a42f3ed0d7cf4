"""Registering an evaluation: its plan, suite, configurations and graders are fixed before the first trial."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.db import transaction

from evaluation import pricing
from evaluation.engine.plan import Plan
from evaluation.graders import grader_version
from evaluation.models import Configuration, Entry, Evaluation
from questions.errors import Problem, Refused, refuse
from questions.hashing import content_hash
from questions.models import Suite, Visibility

if TYPE_CHECKING:
    from worksample.accounts.models import User

MOST_CONFIGURATIONS = 300


@transaction.atomic
def register_evaluation(
    *,
    owner: "User | None",
    name: str,
    suite: Suite,
    configurations: Sequence[Configuration],
    plan: Plan,
    visibility: str = Visibility.PRIVATE,
) -> Evaluation:
    """A registered evaluation that waits to be started; raises Refused with every problem, having written nothing."""
    if not suite.items.exists():
        raise refuse("suite", suite, "has no questions", "Freeze a suite with at least one accepted question.")
    problems = [*_problems_of_set(configurations), *_problems_of_budget(configurations, plan)]
    if visibility == Visibility.SHARED and suite.task.visibility != Visibility.SHARED:
        problems.append(
            Problem(
                "visibility", visibility, "is wider than that of the task", "Keep it private, or share the task first."
            )
        )
    if problems:
        raise Refused(*problems)
    kinds = suite.items.values_list("revision__grader_kind", flat=True).distinct()
    values = plan.to_json()
    evaluation = Evaluation.objects.create(
        owner=owner,
        visibility=visibility,
        name=name or f"{suite.task.name}: {', '.join(c.name for c in configurations)}"[:200],
        suite=suite,
        plan=values,
        plan_hash=content_hash(values),
        graders={kind: grader_version(kind) for kind in sorted(kinds)},
    )
    Entry.objects.bulk_create(
        Entry(evaluation=evaluation, configuration=configuration, position=position)
        for position, configuration in enumerate(configurations)
    )
    return evaluation


def _problems_of_set(configurations: Sequence[Configuration]) -> list[Problem]:
    if not configurations:
        return [Problem("configurations", "", "there is none", "Choose at least one configuration.")]
    if len(configurations) > MOST_CONFIGURATIONS:
        remedy = f"Choose at most {MOST_CONFIGURATIONS}."
        return [Problem("configurations", str(len(configurations)), "are too many for shared rounds", remedy)]
    if len({c.pk for c in configurations}) < len(configurations):
        twice = sorted({c.name for c in configurations if sum(c.pk == other.pk for other in configurations) > 1})
        remedy = "Name each once; two that disclose the same are the same."
        return [Problem("configurations", ", ".join(twice), "is named more than once", remedy)]
    return []


def _problems_of_budget(configurations: Sequence[Configuration], plan: Plan) -> list[Problem]:
    problems = []
    round_size = len(configurations) * plan.tries
    if plan.max_trials is not None and plan.max_trials < round_size:
        remedy = f"Allow at least {round_size}: {len(configurations)} configurations times {plan.tries} tries."
        problems.append(Problem("plan.max_trials", str(plan.max_trials), "does not pay for one round", remedy))
    if plan.max_cost_usd is None:
        return problems
    for configuration in configurations:
        bound = pricing.worst_cost(configuration.prices, [], configuration.decoding.get("max_tokens"))
        if bound is None:
            unknown = "prices" if configuration.prices is None else "decoding.max_tokens"
            remedy = "State its price per million tokens." if unknown == "prices" else "Set max_tokens for it."
            problems.append(
                Problem(unknown, configuration.name, "is unknown, so that a budget of money cannot be kept", remedy)
            )
    return problems
