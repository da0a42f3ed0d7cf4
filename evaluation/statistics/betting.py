r"""Confidence sequences for the mean of bounded observations, by betting.

For every candidate mean m a gambler bets that the next observation lies above or below it:

    K_t(m) = prod_i (1 + lambda_i(m) (Z_i - m)),    -c / (b_i - m) <= lambda_i(m) <= c / (m - a_i),  0 < c < 1

with predictable bets on [a_i, b_i], so that factors stay positive. For the true mean K is a non-negative martingale of
initial value 1, and by Ville's inequality it ever reaches 1/alpha with probability at most alpha. The candidates whose
capital never did form a confidence sequence. (I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random
variables by betting", JRSS B 2024, sections 4 and B.3.)

The bets are those of approximate GRAPA, lambda(m) = d / (v + d^2) with d = estimate - m, whose sign says on which side
of m the truth seems to lie: one capital for both sides, so that the whole of alpha is spent on it.
"""

import json
import math
from typing import Any

import numpy as np

from evaluation.statistics import checks
from evaluation.statistics.checks import Floats

# Candidates at the start, and the number below which their spacing is halved.
POINTS = 1025
FEWEST_POINTS = 257
FINEST_SPACING = 1e-7
# The share of the admissible bet that is used at most.
LARGEST_SHARE = 0.85
# One pseudo-observation in the middle of the domain with the largest possible variance.
PRIOR_COUNT = 1.0
PRIOR_VARIANCE = 0.25


class BettingSequence:
    """An anytime-valid interval for the mean of observations with predictable bounds.

    Args:
        alpha: two-sided error probability over all looks together.
        domain: where the mean is known to lie; the interval before any data.

    ``interval`` is the running intersection, rounded outward to the candidates. ``violated`` is true once no candidate
    is left, which has probability at most alpha unless an assumption is wrong. Memory is that of the candidates,
    whatever the number of observations.
    """

    def __init__(self, alpha: float = 0.05, domain: tuple[float, float] = (0.0, 1.0)) -> None:
        self.alpha = checks.probability("alpha", alpha)
        self.domain = checks.ordered("domain", *domain)
        self.violated = False
        self.count = 0
        self._threshold = -math.log(self.alpha)
        self._m: Floats = np.linspace(*self.domain, POINTS)
        # Logarithms of what was won by bets on "above m" and by bets on "below m".
        self._above: Floats = np.zeros(POINTS)
        self._below: Floats = np.zeros(POINTS)
        # What bounds and candidates say apart from each other.
        self._certain_lower, self._certain_upper = self.domain
        width = self.domain[1] - self.domain[0]
        self._weight = PRIOR_COUNT / width**2
        self._weighted_sum = self._weight * (self.domain[0] + self.domain[1]) / 2
        self._squares = PRIOR_COUNT * PRIOR_VARIANCE
        self._squares_count = PRIOR_COUNT

    @property
    def interval(self) -> tuple[float, float]:
        """(lower, upper), the running intersection."""
        lower = max(float(self._m[0]), self._certain_lower)
        upper = min(float(self._m[-1]), self._certain_upper)
        if lower > upper:  # only when violated: what is certain contradicts what was observed
            return upper, lower
        return lower, upper

    def update(
        self,
        z: float | Floats,
        lower: float | Floats = 0.0,
        upper: float | Floats = 1.0,
        z_upper: float | Floats | None = None,
    ) -> None:
        """Consume one observation with its predictable bounds, or arrays of one length.

        ``z_upper`` makes it an observation known only to lie in [z, z_upper], such as a void's: bets on "above" get z,
        bets on "below" get z_upper. Raises ValueError for anything not finite, bounds that cross or an observation
        outside them, and then has consumed nothing.
        """
        if np.ndim(z) == 0:
            self._update_one(*self._checked(z, lower, upper, z_upper))
            return
        size = len(np.asarray(z))
        columns = [np.broadcast_to(np.asarray(c, dtype=np.float64), (size,)) for c in (z, lower, upper)]
        last = columns[0] if z_upper is None else np.broadcast_to(np.asarray(z_upper, dtype=np.float64), (size,))
        observations = [self._checked(*row) for row in zip(*(c.tolist() for c in (*columns, last)), strict=True)]
        for observation in observations:
            self._update_one(*observation)

    def know(self, lower: float, upper: float) -> None:
        """Take up that the mean certainly lies in [lower, upper]."""
        self._certain_lower = max(self._certain_lower, lower)
        self._certain_upper = min(self._certain_upper, upper)
        self._trim()

    def to_state(self) -> dict[str, Any]:
        """The whole state as JSON values; floats survive the way exactly."""
        return {
            "alpha": self.alpha,
            "domain": list(self.domain),
            "violated": self.violated,
            "count": self.count,
            "m": self._m.tolist(),
            "above": self._above.tolist(),
            "below": self._below.tolist(),
            "certain": [self._certain_lower, self._certain_upper],
            "moments": [self._weight, self._weighted_sum, self._squares, self._squares_count],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "BettingSequence":
        sequence = cls(state["alpha"], tuple(state["domain"]))
        sequence.violated, sequence.count = state["violated"], state["count"]
        sequence._m = np.array(state["m"])
        sequence._above, sequence._below = np.array(state["above"]), np.array(state["below"])
        sequence._certain_lower, sequence._certain_upper = state["certain"]
        sequence._weight, sequence._weighted_sum, sequence._squares, sequence._squares_count = state["moments"]
        return sequence

    def to_json(self) -> str:
        return json.dumps(self.to_state())

    @classmethod
    def from_json(cls, text: str) -> "BettingSequence":
        return cls.from_state(json.loads(text))

    @staticmethod
    def _checked(z: Any, lower: Any, upper: Any, z_upper: Any) -> tuple[float, float, float, float]:
        a, b = checks.finite("lower", lower), checks.finite("upper", upper)
        low = checks.finite("z", z)
        high = low if z_upper is None else checks.finite("z_upper", z_upper)
        if a > b:
            raise ValueError(f"bounds must not cross: lower {lower!r}, upper {upper!r}")
        slack = 1e-9 * max(1.0, abs(a), abs(b))
        if not a - slack <= low <= high <= b + slack:
            shown = f"{z!r}" if low == high else f"{z!r} to {z_upper!r}"
            raise ValueError(f"z must lie in [lower, upper] = [{a!r}, {b!r}], not be {shown}")
        return min(max(low, a), b), a, b, min(max(high, a), b)

    def _update_one(self, low: float, a: float, b: float, high: float) -> None:
        self.count += 1
        width = b - a
        if width > 0.0:
            self._bet(low, a, b, high)
            self._learn((low + high) / 2, width)
        self._certain_lower = max(self._certain_lower, a)
        self._certain_upper = min(self._certain_upper, b)
        self._trim()

    def _bet(self, low: float, a: float, b: float, high: float) -> None:
        m = self._m
        estimate = self._weighted_sum / self._weight
        variance = (b - a) ** 2 * self._squares / self._squares_count
        split = int(m.searchsorted(estimate))
        d = estimate - m
        bets = d / (variance + d * d)
        # Candidates at or beyond a bound need no limit on the side where no factor can turn negative.
        with np.errstate(divide="ignore", invalid="ignore"):
            left = np.minimum(bets[:split], LARGEST_SHARE / np.maximum(m[:split] - a, 0.0))
            right = np.maximum(bets[split:], -LARGEST_SHARE / np.maximum(b - m[split:], 0.0))
        left *= low - m[:split]
        right *= high - m[split:]
        self._above[:split] += np.log1p(left)
        self._below[split:] += np.log1p(right)

    def _learn(self, z: float, width: float) -> None:
        """Running mean and variance, each observation in units of the width of its bounds."""
        deviation = (z - self._weighted_sum / self._weight) / width
        self._squares += min(deviation * deviation, 1.0)
        self._squares_count += 1.0
        weight = 1.0 / width**2
        self._weight += weight
        self._weighted_sum += weight * z

    def _trim(self) -> None:
        """Drop candidates from both ends that are refuted, keeping the innermost refuted one as the bound."""
        m, above, below, limit = self._m, self._above, self._below, self._threshold
        first, last = 0, len(m) - 1
        while first < last and (m[first + 1] <= self._certain_lower or above[first + 1] + below[first + 1] >= limit):
            first += 1
        while last > first and (m[last - 1] >= self._certain_upper or above[last - 1] + below[last - 1] >= limit):
            last -= 1
        if first or last < len(m) - 1:
            self._m, self._above, self._below = m[first : last + 1], above[first : last + 1], below[first : last + 1]
            if len(self._m) < 3 and self._certain_upper - self._certain_lower > 2 * FINEST_SPACING:
                self.violated = True
            while 3 <= len(self._m) < FEWEST_POINTS and self._m[1] - self._m[0] > FINEST_SPACING:
                self._refine()

    def _refine(self) -> None:
        """Halve the spacing.

        A new candidate m' between m1 < m2 starts with what m2's bets on "above" and m1's bets on "below" have won at m2
        and m1: at m' the same bets would have won no less, so that the bound stays valid.
        """
        size = 2 * len(self._m) - 1
        m, above, below = np.empty(size), np.empty(size), np.empty(size)
        m[::2], above[::2], below[::2] = self._m, self._above, self._below
        m[1::2] = (self._m[1:] + self._m[:-1]) / 2
        above[1::2] = self._above[1:]
        below[1::2] = self._below[:-1]
        self._m, self._above, self._below = m, above, below
