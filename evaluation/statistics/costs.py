"""Anytime-valid means of costs and latencies, and ratios such as cost per correct answer.

Rounds drawn with repetition only: each is an independent draw from the pool by its weights. For rounds of a guided law
give ``ratio`` = w / pi of the item drawn, with the largest that it can be.
"""

import math
from collections.abc import Hashable, Sequence

import numpy as np

from evaluation.statistics import checks
from evaluation.statistics.batch import BettingSequences
from evaluation.statistics.betting import BettingSequence


class CappedMean:
    """The mean of min(x, limit) for x >= 0, the limit registered beforehand.

    ``interval`` is [0, limit] before data, and what lies above the limit is not in it: say so beside the figure.
    """

    def __init__(self, limit: float, alpha: float = 0.05, largest_ratio: float = 1.0) -> None:
        self.limit = checks.ordered("the range up to limit", 0.0, limit)[1]
        self.largest_ratio = checks.finite("largest_ratio", largest_ratio)
        if self.largest_ratio < 1.0:
            raise ValueError(f"largest_ratio must be at least 1, not {largest_ratio!r}")
        # In units of the limit, so that the arithmetic is that of scores.
        self._sequence = BettingSequence(alpha)

    @property
    def interval(self) -> tuple[float, float]:
        """(lower, upper), the running intersection."""
        lower, upper = self._sequence.interval
        return lower * self.limit, upper * self.limit

    def update(self, value: float | None, ratio: float = 1.0) -> None:
        """Take up one value; None is unknown, anything from 0 to the limit."""
        weight = checks.finite("ratio", ratio)
        if not 0.0 < weight <= self.largest_ratio:
            raise ValueError(f"ratio must lie in (0, {self.largest_ratio!r}], not be {ratio!r}")
        if value is None:
            self._sequence.update(0.0, 0.0, self.largest_ratio, weight)
            return
        known = checks.finite("value", value)
        if known < 0.0:
            raise ValueError(f"value must not be negative, as {value!r} is")
        self._sequence.update(weight * min(known / self.limit, 1.0), 0.0, self.largest_ratio)


class CostPerCorrect:
    """Mean cost over mean score: (lower, upper) at every look, alpha split evenly over the two.

    ``interval`` is (0, inf) before data, and its upper end stays infinite while the score may be zero.
    """

    def __init__(self, limit: float, alpha: float = 0.05) -> None:
        checks.probability("alpha", alpha)
        self._cost = CappedMean(limit, alpha / 2)
        self._score = BettingSequence(alpha / 2)

    @property
    def interval(self) -> tuple[float, float]:
        """(lower, upper) of the ratio."""
        return ratio_interval(self._cost.interval, self._score.interval)

    def update(self, cost: float | None, score: float | None) -> None:
        """Take up cost and score of one round; None is a void."""
        if score is not None and not 0.0 <= checks.finite("score", score) <= 1.0:
            raise ValueError(f"score must lie in [0, 1], not be {score!r}")
        self._cost.update(cost)
        low, high = (0.0, 1.0) if score is None else (float(score), float(score))
        self._score.update(low, z_upper=high)


def ratio_interval(numerator: tuple[float, float], denominator: tuple[float, float]) -> tuple[float, float]:
    """Bounds of a ratio from bounds of its non-negative terms."""
    lower = numerator[0] / denominator[1] if denominator[1] > 0.0 else math.inf
    upper = numerator[1] / denominator[0] if denominator[0] > 0.0 else math.inf
    return lower, upper


class CategoryMeans:
    """Means of scores by category, right for all categories at once with probability 1 - alpha."""

    def __init__(self, categories: Sequence[Hashable], alpha: float = 0.05) -> None:
        checks.probability("alpha", alpha)
        names = list(categories)
        if not names or len(set(names)) < len(names):
            raise ValueError(f"categories must be different, at least one, not {categories!r}")
        self._sequences = {name: BettingSequence(alpha / len(names)) for name in names}

    def update(self, category: Hashable, score: float | None) -> None:
        """Take up the score of a round whose item is of the category; None is a void."""
        sequence = self._sequences.get(category)
        if sequence is None:
            raise ValueError(f"category must be one of {list(self._sequences)}, not {category!r}")
        if score is None:
            sequence.update(0.0, z_upper=1.0)
        else:
            sequence.update(score)

    def interval(self, category: Hashable) -> tuple[float, float]:
        """(lower, upper) of the category's mean; (0.0, 1.0) before data."""
        return self._sequences[category].interval


class QuantileSequence:
    """The p-quantile of values such as latencies, at every look, by inverting sequences for P(value <= x).

    Args:
        candidates: increasing values x, fixed beforehand; bounds are among them, or infinite.
        p: which quantile.
        alpha: two-sided error probability over all looks together.

    A lower bound is the greatest candidate up to which all are refuted as too small, so that it is wrong only if one
    sequence is: that of the first candidate at or above the quantile. Likewise above; each side is given alpha / 2.
    """

    def __init__(self, candidates: Sequence[float], p: float, alpha: float = 0.05) -> None:
        self.p = checks.probability("p", p)
        self._candidates = np.array([checks.finite("candidates", value) for value in candidates])
        if len(self._candidates) < 1 or np.any(np.diff(self._candidates) <= 0.0):
            raise ValueError(f"candidates must increase, not be {candidates!r}")
        self._sequences = BettingSequences(len(self._candidates), checks.probability("alpha", alpha) / 2)

    @property
    def interval(self) -> tuple[float, float]:
        """(lower, upper); (-inf, inf) before data."""
        bounds = self._sequences.intervals()
        too_small = int(np.argmin(np.append(bounds[:, 1] < self.p, False)))
        too_large = int(np.argmin(np.append(bounds[::-1, 0] > self.p, False)))
        lower = float(self._candidates[too_small - 1]) if too_small else -math.inf
        upper = float(self._candidates[len(self._candidates) - too_large]) if too_large else math.inf
        return lower, upper

    def update(self, value: float | None) -> None:
        """Take up one value; None is unknown, infinity one that never came."""
        if value is None:
            self._sequences.update(0.0, z_upper=1.0)
            return
        if math.isnan(value):
            raise ValueError(f"value must be a number, not {value!r}")
        self._sequences.update((value <= self._candidates).astype(np.float64))
