"""A plan says what is wrong with it, all at once, and survives the way through JSON unchanged."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.engine.plan import Plan
from questions.errors import Refused

plans = st.builds(
    Plan,
    alpha=st.floats(0.001, 0.5),
    half_width=st.one_of(st.none(), st.floats(0.001, 0.499)),
    max_trials=st.integers(1, 2**31 - 1),
    max_cost_usd=st.one_of(st.none(), st.decimals("0.0001", "100000", places=4)),
    max_seconds=st.one_of(st.none(), st.floats(0.1, 1e6)),
    tries=st.integers(1, 100),
    seed=st.integers(0, 2**63 - 1),
)


@given(plans)
def test_a_plan_survives_json(plan: Plan) -> None:
    assert Plan.from_json(plan.to_json()) == plan


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"alpha": 0}, "plan.alpha"),
        ({"alpha": 1}, "plan.alpha"),
        ({"alpha": "often"}, "plan.alpha"),
        ({"alpha": True}, "plan.alpha"),
        ({"alpha": None}, "plan.alpha"),
        ({"half_width": -0.1}, "plan.half_width"),
        ({"half_width": 0.5}, "plan.half_width"),
        ({"half_width": float("nan")}, "plan.half_width"),
        ({"max_trials": 0}, "plan.max_trials"),
        ({"max_trials": 1.5}, "plan.max_trials"),
        ({"max_cost_usd": "-1"}, "plan.max_cost_usd"),
        ({"max_cost_usd": "much"}, "plan.max_cost_usd"),
        ({"max_cost_usd": "NaN"}, "plan.max_cost_usd"),
        ({"max_seconds": float("inf")}, "plan.max_seconds"),
        ({"tries": 0}, "plan.tries"),
        ({"tries": 101}, "plan.tries"),
        ({"seed": -1}, "plan.seed"),
        ({"cache_policy": "sometimes"}, "plan.cache_policy"),
        ({"half_widht": 0.1}, "plan.half_widht"),
        ({"half_width": None}, "plan"),
    ],
)
def test_an_impossible_value_is_refused_by_name(values: dict[str, Any], field: str) -> None:
    with pytest.raises(Refused) as refused:
        Plan.from_json(values)
    assert [problem.field for problem in refused.value.problems] == [field]
    assert refused.value.problems[0].remedy


def test_all_problems_are_named_at_once() -> None:
    with pytest.raises(Refused) as refused:
        Plan.from_json({"alpha": 2, "tries": 0, "max_cost_usd": "0"})
    assert {problem.field for problem in refused.value.problems} == {"plan.alpha", "plan.tries", "plan.max_cost_usd"}


def test_money_keeps_every_digit() -> None:
    assert Plan.from_json({"max_cost_usd": "0.1"}).max_cost_usd == Decimal("0.1")


def test_two_plans_draw_from_different_seeds() -> None:
    assert Plan().seed != Plan().seed
