r"""Confidence sequences for the mean of bounded observations, by betting.

For every candidate mean m a gambler bets that the next observation lies above or below it:

    K_t(m) = prod_i (1 + lambda_i(m) (Z_i - m)),    -c / (b_i - m) <= lambda_i(m) <= c / (m - a_i),  0 < c < 1

with predictable bets on [a_i, b_i], so that factors stay positive. For the true mean K is a non-negative martingale of
initial value 1, and by Ville's inequality it ever reaches 1/alpha with probability at most alpha. The candidates whose
capital never did form a confidence sequence. (I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random
variables by betting", JRSS B 2024, sections 4 and B.3.)

The bets are those of approximate GRAPA, lambda(m) = d / (v + d^2) with d = estimate - m, whose sign says on which side
of m the truth seems to lie: one capital for both sides, so that the whole of alpha is spent on it.

Capital is kept at the nodes of a grid. Between two nodes at distance h, the gambler at m = (1 - s) m1 + s m2 bets
(1 - s) lambda1 + s lambda2. His factor is the same mixture of the factors F1 and F2 of the nodes, less at most
h (lambda1 - lambda2) / 4 <= h^2 / (4 v) = e, so that, log being concave,

    log K(m) >= (1 - s) sum log(F1 - e) + s sum log(F2 - e):

linear interpolation between nodes that are charged e errs on the safe side, and so does a node put in between. A
hundred nodes over what is left of the domain make bounds that are good to 1e-4.
"""

import json
import math
from typing import Any

import numpy as np

from evaluation.statistics import checks
from evaluation.statistics.checks import Floats

# Cells of the grid. When half of them are left, they are split.
CELLS = 160
FINEST_SHARE = 1e-7
# The share of the admissible bet that is used at most.
LARGEST_SHARE = 0.5
# Pseudo-observations in the middle of the domain, and of the largest variance that the bounds allow.
PRIOR_MEAN_COUNT = 1.0
PRIOR_VARIANCE_COUNT = 2.0
# The charge of a factor is bounded, so that the factor stays positive: beyond, the variance is taken to be larger.
LARGEST_CHARGE = 0.01
TINY = 1e-300
# Bounds that cross by no more than this met.
ROUNDING = 1e-12


class BettingSequence:
    """An anytime-valid interval for the mean of observations with predictable bounds.

    Args:
        alpha: two-sided error probability over all looks together.
        domain: where the mean is known to lie; the interval before any data.

    ``interval`` is the running intersection. ``violated`` is true once no candidate is left, which has probability at
    most alpha unless an assumption is wrong; the interval is then the last that was not empty. Memory is that of the
    grid, whatever the number of observations.
    """

    def __init__(self, alpha: float = 0.05, domain: tuple[float, float] = (0.0, 1.0)) -> None:
        self.alpha = checks.probability("alpha", alpha)
        self.domain = checks.ordered("domain", *domain)
        self.violated = False
        self.count = 0
        self._limit = -math.log(self.alpha)
        self._lower, self._upper = self.domain
        width = self.domain[1] - self.domain[0]
        self._finest = FINEST_SHARE * width
        self._step = width / CELLS
        self._m: Floats = self.domain[0] + self._step * np.arange(CELLS + 1, dtype=np.float64)
        self._capital: Floats = np.zeros(CELLS + 1)
        # The outermost nodes that still matter.
        self._first, self._last = 0, CELLS
        # Sum of weights and of weighted observations, and of squared deviations in units of their scales.
        self._weight = PRIOR_MEAN_COUNT
        self._weighted_sum = PRIOR_MEAN_COUNT * (self.domain[0] + self.domain[1]) / 2
        self._squares = self._squares_count = 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """(lower, upper), the running intersection."""
        return self._lower, self._upper

    @property
    def variance(self) -> float:
        """The running variance of observations, at scale 1; NaN before two."""
        return self._squares / self._squares_count if self._squares_count > 1.0 else math.nan

    def update(
        self,
        z: float | Floats,
        lower: float | Floats = 0.0,
        upper: float | Floats = 1.0,
        z_upper: float | Floats | None = None,
        *,
        scale: float = 1.0,
    ) -> None:
        """Consume one observation with its predictable bounds, or arrays of one length.

        ``z_upper`` makes it an observation known only to lie in [z, z_upper], such as a void's: bets on "above" get z,
        bets on "below" get z_upper. ``scale``, known beforehand too, is the unit of its standard deviation where that
        changes from one observation to the next. Raises ValueError for anything not finite, bounds that cross, an
        observation outside them or a scale that is not positive, and then has consumed nothing.
        """
        if not 0.0 < scale < math.inf:
            raise ValueError(f"scale must be positive and finite, not {scale!r}")
        if type(z) is float or np.ndim(z) == 0:
            self._update_one(*_checked(z, lower, upper, z_upper), scale)
            return
        given = (z, lower, upper, z if z_upper is None else z_upper)
        columns = [np.asarray(column, dtype=np.float64) for column in given]
        size = len(columns[0])
        for name, column in zip(("z", "lower", "upper", "z_upper"), columns, strict=True):
            if column.shape not in ((), (size,)):
                raise ValueError(f"{name} must have the shape ({size},) of z, not {column.shape}")
        rows = np.broadcast_to(np.stack(np.broadcast_arrays(*columns), axis=1), (size, 4))
        for observation in [_checked(*row) for row in rows.tolist()]:
            self._update_one(*observation, scale)

    def know(self, lower: float, upper: float) -> None:
        """Take up that the mean certainly lies in [lower, upper]."""
        self._narrow(lower, upper)
        self._trim()

    def to_state(self) -> dict[str, Any]:
        """The whole state as JSON values; floats survive the way exactly."""
        return {
            "alpha": self.alpha,
            "domain": list(self.domain),
            "violated": self.violated,
            "count": self.count,
            "grid": [self._step, self._first, self._last],
            "m": self._m.tolist(),
            "capital": self._capital.tolist(),
            "interval": [self._lower, self._upper],
            "moments": [self._weight, self._weighted_sum, self._squares, self._squares_count],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "BettingSequence":
        sequence = cls(state["alpha"], tuple(state["domain"]))
        sequence.violated, sequence.count = state["violated"], state["count"]
        sequence._step, sequence._first, sequence._last = state["grid"]
        sequence._m, sequence._capital = np.array(state["m"]), np.array(state["capital"])
        sequence._lower, sequence._upper = state["interval"]
        sequence._weight, sequence._weighted_sum, sequence._squares, sequence._squares_count = state["moments"]
        return sequence

    def to_json(self) -> str:
        return json.dumps(self.to_state())

    @classmethod
    def from_json(cls, text: str) -> "BettingSequence":
        return cls.from_state(json.loads(text))

    def _update_one(self, low: float, a: float, b: float, high: float, scale: float) -> None:
        self.count += 1
        if b > a:
            self._bet(low, a, b, high, scale)
            self._learn((low + high) / 2, scale)
        if a > self._lower or b < self._upper:
            self._narrow(a, b)
        self._trim()

    def _bet(self, low: float, a: float, b: float, high: float, scale: float) -> None:
        first, last = self._first, self._last + 1
        m = self._m[first:last]
        variance = self._squares * scale**2 + PRIOR_VARIANCE_COUNT * (b - a) ** 2 / 4
        variance /= self._squares_count + PRIOR_VARIANCE_COUNT
        variance = max(variance, self._step**2 / (4 * LARGEST_CHARGE))
        estimate = self._weighted_sum / self._weight
        d = estimate - m
        bets = d * d
        bets += variance
        np.divide(d, bets, out=bets)
        # A node at or beyond a bound needs no limit on the side where its factor cannot turn negative.
        if _largest(estimate - m.item(0), variance) * (estimate - a) > LARGEST_SHARE:
            np.minimum(bets, LARGEST_SHARE / np.maximum(m - a, TINY), out=bets)
        if _largest(m.item(-1) - estimate, variance) * (b - estimate) > LARGEST_SHARE:
            np.maximum(bets, LARGEST_SHARE / np.minimum(m - b, -TINY), out=bets)
        bets *= low - m if low == high else np.where(bets > 0.0, low, high) - m
        bets += 1.0 - self._step**2 / (4 * variance)
        self._capital[first:last] += np.log(bets, out=bets)

    def _learn(self, z: float, scale: float) -> None:
        """Running mean and variance."""
        deviation = (z - self._weighted_sum / self._weight) / scale
        self._squares += deviation * deviation
        self._squares_count += 1.0
        weight = 1.0 / scale**2
        self._weight += weight
        self._weighted_sum += weight * z

    def _narrow(self, lower: float, upper: float) -> None:
        """Intersect with [lower, upper]; an empty intersection is a violation, and is not taken up."""
        low, high = max(lower, self._lower), min(upper, self._upper)
        if low <= high:
            self._lower, self._upper = low, high
        elif low - high <= ROUNDING:
            # Empty by rounding alone: what is given last is nearest to exact.
            self._lower = self._upper = lower if low == lower else upper
        else:
            self.violated = True

    def _trim(self) -> None:
        """Leave out refuted candidates at both ends and split the cells once half of them are left."""
        m, capital, limit = self._m, self._capital, self._limit
        first, last = self._first, self._last
        while first + 1 < last and (capital.item(first + 1) >= limit or m.item(first + 1) <= self._lower):
            first += 1
        while first + 1 < last and (capital.item(last - 1) >= limit or m.item(last - 1) >= self._upper):
            last -= 1
        outer, inner = capital.item(first), capital.item(first + 1)
        lower = self._lower
        if outer >= limit:
            lower = m.item(last) if inner >= limit else m.item(first) + self._step * (outer - limit) / (outer - inner)
        outer, inner = capital.item(last), capital.item(last - 1)
        upper = self._upper
        if outer >= limit:
            upper = m.item(first) if inner >= limit else m.item(last) - self._step * (outer - limit) / (outer - inner)
        if lower > self._lower or upper < self._upper:
            self._narrow(lower, upper)
        self._first, self._last = first, last
        while self._last - self._first <= CELLS // 2 and self._step > self._finest:
            self._split()

    def _split(self) -> None:
        start = min(self._first, CELLS // 2)
        window = slice(start, start + CELLS // 2 + 1)
        self._m, self._capital = halved(self._m[window]), halved(self._capital[window])
        self._first, self._last = 2 * (self._first - start), 2 * (self._last - start)
        self._step /= 2


def _largest(distance: float, variance: float) -> float:
    """The largest bet d / (v + d^2) for 0 <= d <= distance."""
    if distance <= 0.0:
        return 0.0
    if distance * distance < variance:
        return distance / (variance + distance * distance)
    return 0.5 / math.sqrt(variance)


def halved(values: Floats) -> Floats:
    """The values with their means in between."""
    split = np.empty(2 * len(values) - 1)
    split[::2] = values
    split[1::2] = (values[1:] + values[:-1]) / 2
    return split


def _checked(z: Any, lower: Any, upper: Any, z_upper: Any) -> tuple[float, float, float, float]:
    """One observation as (z, lower, upper, z_upper), rounding errors at the bounds forgiven."""
    a, b, low = checks.finite("lower", lower), checks.finite("upper", upper), checks.finite("z", z)
    high = low if z_upper is None else checks.finite("z_upper", z_upper)
    if a > b:
        raise ValueError(f"bounds must not cross: lower {lower!r}, upper {upper!r}")
    if a <= low <= high <= b:
        return low, a, b, high
    slack = 1e-9 * max(1.0, abs(a), abs(b))
    if not a - slack <= low <= high <= b + slack:
        shown = f"{z!r}" if low == high else f"{z!r} to {z_upper!r}"
        raise ValueError(f"z must lie in [lower, upper] = [{a!r}, {b!r}], not be {shown}")
    return min(max(low, a), b), a, b, min(max(high, a), b)
