"""Many betting sequences side by side, by the arithmetic of BettingSequence: the same inputs give the same numbers."""

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.statistics import checks
from evaluation.statistics.betting import (
    CELLS,
    FINEST_SHARE,
    LARGEST_CHARGE,
    LARGEST_SHARE,
    PRIOR_MEAN_COUNT,
    PRIOR_VARIANCE_COUNT,
    ROUNDING,
    TINY,
    halved,
)
from evaluation.statistics.checks import Floats

# Sequences handled at a time, so that their rows stay in the processor's cache.
CHUNK = 64


class BettingSequences:
    """Intervals for the means of ``count`` streams of observations, at one or more levels.

    Args:
        count: number of sequences.
        alphas: two-sided error probabilities; all levels share the bets, so that a further one costs next to nothing.
        domain: where the means are known to lie.
    """

    def __init__(
        self, count: int, alphas: float | Sequence[float] = 0.05, domain: tuple[float, float] = (0.0, 1.0)
    ) -> None:
        self.count = checks.whole("count", count, 1)
        given = [alphas] if isinstance(alphas, (int, float)) else list(alphas)
        self.alphas = [checks.probability("alphas", alpha) for alpha in given]
        self.domain = checks.ordered("domain", *domain)
        self._limits = [-math.log(alpha) for alpha in self.alphas]
        width = self.domain[1] - self.domain[0]
        levels, size = len(self.alphas), (self.count, CELLS + 1)
        self.violated: NDArray[np.bool_] = np.zeros((levels, self.count), dtype=bool)
        self._lower: Floats = np.full((levels, self.count), self.domain[0])
        self._upper: Floats = np.full((levels, self.count), self.domain[1])
        self._first: NDArray[np.int64] = np.zeros((levels, self.count), dtype=np.int64)
        self._last: NDArray[np.int64] = np.full((levels, self.count), CELLS)
        self._finest = FINEST_SHARE * width
        self._step: Floats = np.full(self.count, width / CELLS)
        self._m: Floats = np.tile(
            self.domain[0] + width / CELLS * np.arange(CELLS + 1, dtype=np.float64), (self.count, 1)
        )
        self._capital: Floats = np.zeros(size)
        self._weight: Floats = np.full(self.count, PRIOR_MEAN_COUNT)
        self._weighted_sum = self._weight * (self.domain[0] + self.domain[1]) / 2
        self._squares: Floats = np.zeros(self.count)
        self._squares_count: Floats = np.zeros(self.count)
        self._rows = np.arange(self.count)

    def intervals(self, level: int = 0) -> Floats:
        """Rows of (lower, upper), running intersections, at the given place of ``alphas``."""
        return np.stack([self._lower[level], self._upper[level]], axis=1)

    def interval(self, row: int, level: int = 0) -> tuple[float, float]:
        """(lower, upper) of one sequence."""
        return float(self._lower[level, row]), float(self._upper[level, row])

    def variance(self, row: int) -> float:
        """The running variance of one sequence's observations, at scale 1; NaN before two."""
        count = float(self._squares_count[row])
        return float(self._squares[row]) / count if count > 1.0 else math.nan

    def update(
        self,
        z: ArrayLike,
        lower: ArrayLike = 0.0,
        upper: ArrayLike = 1.0,
        z_upper: ArrayLike | None = None,
        *,
        scale: float = 1.0,
    ) -> None:
        """Consume one observation of every sequence; arguments as for BettingSequence.update, arrays of ``count``.

        Raises ValueError for anything not finite, bounds that cross or an observation outside them, and then has
        consumed nothing.
        """
        if not 0.0 < scale < math.inf:
            raise ValueError(f"scale must be positive and finite, not {scale!r}")
        low, a, b, high = self._checked(z, lower, upper, z if z_upper is None else z_upper)
        open_rows = b > a
        variance = self._squares * scale**2 + PRIOR_VARIANCE_COUNT * (b - a) ** 2 / 4
        variance /= self._squares_count + PRIOR_VARIANCE_COUNT
        variance = np.maximum(variance, self._step**2 / (4 * LARGEST_CHARGE))
        estimate = self._weighted_sum / self._weight
        # Where bets could exceed their limits: elsewhere the limits need not be computed.
        wide_above = _largest(estimate - self._m[:, 0], variance) * (estimate - a) > LARGEST_SHARE
        wide_below = _largest(self._m[:, -1] - estimate, variance) * (b - estimate) > LARGEST_SHARE
        first, last = self._first.min(axis=0), self._last.max(axis=0)
        for start in range(0, self.count, CHUNK):
            rows = slice(start, start + CHUNK)
            self._bet(
                (rows, slice(int(first[rows].min()), int(last[rows].max()) + 1)),
                estimate[rows, None],
                variance[rows, None],
                (low[rows, None], high[rows, None]),
                a[rows, None] if wide_above[rows].any() else None,
                b[rows, None] if wide_below[rows].any() else None,
                open_rows[rows],
            )
        self._learn((low + high) / 2, scale, open_rows)
        for level in range(len(self.alphas)):
            self._narrow(level, a, b)
            self._trim(level)
        self._split()

    def know(self, lower: ArrayLike, upper: ArrayLike) -> None:
        """Take up that the means certainly lie in [lower, upper]: arrays of ``count``."""
        for level in range(len(self.alphas)):
            self._narrow(level, np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64))
            self._trim(level)
        self._split()

    def _checked(self, *columns: ArrayLike) -> list[Floats]:
        names = ("z", "lower", "upper", "z_upper")
        arrays = []
        for name, column in zip(names, columns, strict=True):
            array = np.asarray(column, dtype=np.float64)
            if array.shape not in ((), (self.count,)):
                raise ValueError(f"{name} must be {self.count} numbers, not an array of shape {array.shape}")
            if not np.isfinite(array).all():
                bad = np.atleast_1d(array)[~np.isfinite(np.atleast_1d(array))][0]
                raise ValueError(f"{name} must be a finite number, not {bad!r}")
            arrays.append(np.broadcast_to(array, (self.count,)))
        z, lower, upper, z_upper = arrays
        if (crossed := lower > upper).any():
            raise ValueError(f"bounds must not cross: lower {lower[crossed][0]!r}, upper {upper[crossed][0]!r}")
        slack = 1e-9 * np.maximum(1.0, np.maximum(np.abs(lower), np.abs(upper)))
        outside = (z < lower - slack) | (z > z_upper) | (z_upper > upper + slack)
        if outside.any():
            raise ValueError(
                f"z must lie in [lower, upper] = [{lower[outside][0]!r}, {upper[outside][0]!r}], not be"
                f" {z[outside][0]!r}"
            )
        return [np.clip(z, lower, upper), lower, upper, np.clip(z_upper, lower, upper)]

    def _bet(
        self,
        cells: tuple[slice, slice],
        estimate: Floats,
        variance: Floats,
        observed: tuple[Floats, Floats],
        a: Floats | None,
        b: Floats | None,
        open_rows: NDArray[np.bool_],
    ) -> None:
        m = self._m[cells]
        d = estimate - m
        bets = d * d
        bets += variance
        np.divide(d, bets, out=bets)
        if a is not None:
            np.minimum(bets, LARGEST_SHARE / np.maximum(m - a, TINY), out=bets)
        if b is not None:
            np.maximum(bets, LARGEST_SHARE / np.minimum(m - b, -TINY), out=bets)
        low, high = observed
        z = low if (low == high).all() else np.where(bets > 0.0, low, high)
        bets *= np.subtract(z, m, out=d)
        bets += 1.0 - self._step[cells[0], None] ** 2 / (4 * variance)
        if not open_rows.all():
            bets[~open_rows] = 1.0
        self._capital[cells] += np.log(bets, out=bets)

    def _learn(self, z: Floats, scale: float, open_rows: NDArray[np.bool_]) -> None:
        deviation = (z - self._weighted_sum / self._weight) / scale
        self._squares += np.where(open_rows, deviation * deviation, 0.0)
        self._squares_count += open_rows
        weight = np.where(open_rows, 1.0 / scale**2, 0.0)
        self._weight += weight
        self._weighted_sum += weight * z

    def _narrow(self, level: int, lower: Floats, upper: Floats) -> None:
        low, high = np.maximum(lower, self._lower[level]), np.minimum(upper, self._upper[level])
        met = (low > high) & (low - high <= ROUNDING)
        if met.any():
            low = np.where(met, np.where(low == lower, lower, upper), low)
            high = np.where(met, low, high)
        possible = low <= high
        self._lower[level] = np.where(possible, low, self._lower[level])
        self._upper[level] = np.where(possible, high, self._upper[level])
        self.violated[level] |= ~possible

    def _trim(self, level: int) -> None:
        first, last, limit = self._first[level], self._last[level], self._limits[level]
        lower, upper = self._lower[level], self._upper[level]
        rows = self._rows
        while (rows := rows[self._refuted(rows, first, 1, limit, lower, None) & (first[rows] + 1 < last[rows])]).size:
            first[rows] += 1
        rows = self._rows
        while (rows := rows[self._refuted(rows, last, -1, limit, None, upper) & (first[rows] + 1 < last[rows])]).size:
            last[rows] -= 1
        self._narrow(level, self._crossing(first, 1, last, limit, lower), self._crossing(last, -1, first, limit, upper))

    def _refuted(
        self,
        rows: NDArray[np.int64],
        end: NDArray[np.int64],
        inward: int,
        limit: float,
        lower: Floats | None,
        upper: Floats | None,
    ) -> NDArray[np.bool_]:
        """Whether the node next to the end, inward, is out of the question."""
        node = end[rows] + inward
        refuted: NDArray[np.bool_] = self._capital[rows, node] >= limit
        if lower is not None:
            refuted |= self._m[rows, node] <= lower[rows]
        if upper is not None:
            refuted |= self._m[rows, node] >= upper[rows]
        return refuted

    def _crossing(
        self, end: NDArray[np.int64], inward: int, other: NDArray[np.int64], limit: float, known: Floats
    ) -> Floats:
        """Where capital, interpolated from the end inward, falls below the limit; what is known where it does not."""
        rows = self._rows
        outer, inner = self._capital[rows, end], self._capital[rows, end + inward]
        falls = (outer >= limit) & (inner < limit)
        drop = np.where(falls, outer - inner, 1.0)
        crossing = self._m[rows, end] + inward * self._step * (outer - limit) / drop
        return np.where(outer < limit, known, np.where(falls, crossing, self._m[rows, other]))

    def _split(self) -> None:
        first, last = self._first.min(axis=0), self._last.max(axis=0)
        rows = self._rows
        while (rows := rows[(last[rows] - first[rows] <= CELLS // 2) & (self._step[rows] > self._finest)]).size:
            for row in rows:
                start = min(int(first[row]), CELLS // 2)
                window = slice(start, start + CELLS // 2 + 1)
                self._m[row], self._capital[row] = halved(self._m[row, window]), halved(self._capital[row, window])
                for end in (self._first, self._last):
                    end[:, row] = 2 * (end[:, row] - start)
                first[row], last[row] = 2 * (first[row] - start), 2 * (last[row] - start)
                self._step[row] /= 2

    def to_state(self) -> dict[str, Any]:
        """The whole state as JSON values; floats survive the way exactly."""
        arrays = {name: getattr(self, name).tolist() for name in _STATE}
        return {"count": self.count, "alphas": self.alphas, "domain": list(self.domain), **arrays}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "BettingSequences":
        sequences = cls(state["count"], state["alphas"], tuple(state["domain"]))
        for name in _STATE:
            setattr(sequences, name, np.array(state[name]))
        return sequences

    def to_json(self) -> str:
        return json.dumps(self.to_state())

    @classmethod
    def from_json(cls, text: str) -> "BettingSequences":
        return cls.from_state(json.loads(text))


_STATE = (
    "violated",
    "_lower",
    "_upper",
    "_first",
    "_last",
    "_step",
    "_m",
    "_capital",
    "_weight",
    "_weighted_sum",
    "_squares",
    "_squares_count",
)


def _largest(distance: Floats, variance: Floats) -> Floats:
    """The largest bet d / (v + d^2) for 0 <= d <= distance."""
    squared = distance * distance
    return np.where(
        distance <= 0.0,
        0.0,
        np.where(squared < variance, distance / (variance + squared), 0.5 / np.sqrt(variance)),
    )
