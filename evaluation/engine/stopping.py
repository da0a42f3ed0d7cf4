"""When an evaluation ends: pure rules over what is known, in the order in which they count."""

from collections.abc import Iterable
from decimal import Decimal

from evaluation.engine.plan import Plan
from evaluation.models import StopReason


def precise_enough(plan: Plan, intervals: Iterable[tuple[float, float]]) -> bool:
    """Whether every interval is at most ``half_width`` on either side; never without such a rule."""
    return plan.half_width is not None and all(upper - lower <= 2 * plan.half_width for lower, upper in intervals)


def forbids_another_round(
    plan: Plan,
    *,
    configurations: int,
    rounds_drawn: int,
    committed_usd: Decimal | None,
    dearest_round_usd: Decimal | None,
) -> StopReason | None:
    """The budget that another round would overspend, if any.

    ``committed_usd`` is all that was or may be spent, worst cases of calls in flight included; ``dearest_round_usd``
    the worst case of the suite's dearest question, since a rule that looked at the drawn question would bias the draw.
    """
    round_size = configurations * plan.tries
    if plan.max_trials is not None and (rounds_drawn + 1) * round_size > plan.max_trials:
        return StopReason.TRIALS
    if plan.max_cost_usd is not None and not _covers(plan.max_cost_usd, committed_usd, dearest_round_usd):
        return StopReason.MONEY
    return None


def out_of_time(plan: Plan, seconds_run: float) -> bool:
    return plan.max_seconds is not None and seconds_run >= plan.max_seconds


def _covers(budget: Decimal, committed: Decimal | None, next_round: Decimal | None) -> bool:
    """Unknown costs cover nothing: a budget that cannot be kept is not spent."""
    return committed is not None and next_round is not None and committed + next_round <= budget
