"""The stop rules, as pure functions."""

from decimal import Decimal

import pytest

from evaluation.engine.plan import Plan
from evaluation.engine.stopping import forbids_another_round, out_of_time, precise_enough
from evaluation.models import StopReason


def test_precision_is_reached_when_the_widest_interval_is_narrow_enough() -> None:
    plan = Plan(half_width=0.1)
    assert precise_enough(plan, [(0.4, 0.6), (0.1, 0.2)])
    assert not precise_enough(plan, [(0.4, 0.6001), (0.1, 0.2)])


def test_a_plan_without_half_width_is_never_precise_enough() -> None:
    assert not precise_enough(Plan(half_width=None, max_trials=10), [(0.5, 0.5)])


@pytest.mark.parametrize(("rounds_drawn", "expected"), [(3, None), (4, StopReason.TRIALS)])
def test_a_round_that_would_pass_the_budget_of_trials_is_forbidden(
    rounds_drawn: int, expected: StopReason | None
) -> None:
    plan = Plan(max_trials=17, tries=2)  # a round takes four trials: four rounds fit
    refusal = forbids_another_round(
        plan, configurations=2, rounds_drawn=rounds_drawn, committed_usd=Decimal(0), dearest_round_usd=None
    )
    assert refusal == expected


@pytest.mark.parametrize(
    ("committed", "dearest", "expected"),
    [
        ("0.90", "0.10", None),
        ("0.91", "0.10", StopReason.MONEY),
        ("0", None, StopReason.MONEY),
    ],
)
def test_a_round_whose_worst_case_is_not_covered_is_forbidden(
    committed: str, dearest: str | None, expected: StopReason | None
) -> None:
    refusal = forbids_another_round(
        Plan(max_cost_usd=Decimal(1)),
        configurations=1,
        rounds_drawn=0,
        committed_usd=Decimal(committed),
        dearest_round_usd=None if dearest is None else Decimal(dearest),
    )
    assert refusal == expected


def test_time_is_over_when_the_allowed_seconds_have_run() -> None:
    plan = Plan(max_seconds=60)
    assert not out_of_time(plan, 59.9)
    assert out_of_time(plan, 60.0)
    assert not out_of_time(Plan(), 1e9)
