"""How much more evidence would settle a comparison: a projection, which is not a guarantee."""

import math
from dataclasses import dataclass

from evaluation.statistics import checks

LABEL = "projection: holds if the difference and its variance are what they seem; no error probability is attached"


@dataclass(frozen=True)
class Projection:
    """Rounds that would settle the sign of a difference, beyond those already consumed.

    ``likely`` takes the estimate for the truth, ``least`` and ``most`` the far and the near end of the interval;
    infinite where that end leaves the sign open for ever. 0 where the sign is settled.
    """

    likely: float
    least: float
    most: float
    label: str = LABEL


def rounds_to_settle(
    *, estimate: float, interval: tuple[float, float], variance: float, consumed: int, alpha: float = 0.05
) -> Projection:
    """Project when the sequence of a difference excludes zero.

    A bet against zero at d / (v + d^2) grows by about g = log(1 + d^2 / v) / 2 a round; capital of 1 / alpha, and the
    price sqrt(n) of not knowing the best bet, are earned after the n that solves n g = log(1 / alpha) + log(n + 1) / 2.

    Args:
        estimate, interval: of the difference so far.
        variance: of one round's signal of the difference, from the rounds so far.
        consumed: rounds so far.

    Raises ValueError for a variance that is negative or a count that is.
    """
    checks.probability("alpha", alpha)
    checks.whole("consumed", consumed, 0)
    if checks.finite("variance", variance) < 0.0:
        raise ValueError(f"variance must not be negative, as {variance!r} is")
    lower, upper = interval
    if lower > 0.0 or upper < 0.0:
        return Projection(0.0, 0.0, 0.0)
    ends = sorted((abs(lower), abs(upper)))
    likely, least = (_rounds(d, variance, alpha) for d in (abs(estimate), ends[1]))
    # Zero lies in the interval: at its near end, the sign stays open.
    return Projection(max(likely - consumed, 1.0), max(least - consumed, 1.0), math.inf)


def _rounds(difference: float, variance: float, alpha: float) -> float:
    if difference == 0.0 or math.isnan(difference):
        return math.inf
    growth = math.log1p(difference**2 / max(variance, 1e-12)) / 2
    rounds = 1.0
    # A contraction for growth > 0: a few steps settle it to less than a round.
    for _ in range(60):
        rounds = (math.log(1.0 / alpha) + math.log(rounds + 1.0) / 2) / growth
    return float(math.ceil(rounds))
