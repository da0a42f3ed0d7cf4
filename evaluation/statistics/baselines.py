"""Older confidence sequences behind the interface of BettingSequence: what the default is measured against."""

import math
from typing import Protocol

from evaluation.statistics import checks


class ConfidenceSequence(Protocol):
    """What all sequences have in common."""

    def update(self, z: float, lower: float = 0.0, upper: float = 1.0) -> None:
        """Consume one observation with its predictable bounds."""
        ...

    @property
    def interval(self) -> tuple[float, float]:
        """(lower, upper), the running intersection."""
        ...


class _Centred:
    """A running intersection of intervals centre -+ radius."""

    def __init__(self, alpha: float = 0.05, domain: tuple[float, float] = (0.0, 1.0)) -> None:
        self.alpha = checks.probability("alpha", alpha)
        self.domain = checks.ordered("domain", *domain)
        self._lower, self._upper = self.domain
        self.count = 0

    @property
    def interval(self) -> tuple[float, float]:
        """(lower, upper), the running intersection."""
        return self._lower, self._upper

    def update(self, z: float, lower: float = 0.0, upper: float = 1.0) -> None:
        """Consume one observation with its predictable bounds; ValueError where it lies outside them."""
        a, b = checks.ordered("bounds", lower, upper)
        value = checks.finite("z", z)
        if not a <= value <= b:
            raise ValueError(f"z must lie in [lower, upper] = [{a!r}, {b!r}], not be {z!r}")
        self.count += 1
        centre, radius = self._step(value, a, b)
        low, high = max(self._lower, centre - radius), min(self._upper, centre + radius)
        if low <= high:
            self._lower, self._upper = low, high

    def _step(self, z: float, a: float, b: float) -> tuple[float, float]:
        raise TypeError("a subclass says how to go on")


class HoeffdingSequence(_Centred):
    """Stitched Hoeffding-type bound, by epochs of a factor of two in intrinsic time V = sum (b - a)^2 / 4:

        1.7 sqrt(V (log log(2 V / v) + 0.72 log(10.4 / alpha))), v = (b_1 - a_1)^2 / 4, alpha on both sides together.

    (S. R. Howard et al., "Time-uniform, nonparametric, nonasymptotic confidence sequences", Annals of Statistics 2021,
    introduction.)
    """

    _sum = _variance = _unit = 0.0

    def _step(self, z: float, a: float, b: float) -> tuple[float, float]:
        self._sum += z
        self._variance += (b - a) ** 2 / 4
        self._unit = self._unit or self._variance
        time = max(self._variance / self._unit, 1.0)
        # Below e the iterated logarithm is replaced by its value there, which only widens the bound.
        iterated = math.log(max(math.log(2 * time), 1.0))
        radius = 1.7 * math.sqrt(self._variance * (iterated + 0.72 * math.log(10.4 / self.alpha)))
        return self._sum / self.count, radius / self.count


class _PlugIn(_Centred):
    """Predictable plug-in bets sqrt(2 log(2 / alpha) / (v t log(1 + t))) with running mean and variance."""

    def __init__(self, alpha: float = 0.05, domain: tuple[float, float] = (0.0, 1.0)) -> None:
        super().__init__(alpha, domain)
        width = self.domain[1] - self.domain[0]
        self._total, self._squares = (self.domain[0] + self.domain[1]) / 2, width**2 / 4

    def _bet(self, width: float) -> float:
        variance = max(self._squares / self.count, 1e-12)
        bet = math.sqrt(2 * math.log(2 / self.alpha) / (variance * self.count * math.log(1 + self.count)))
        return min(bet, 0.5 / width)

    def _learn(self, z: float) -> None:
        self._total += z
        self._squares += (z - self._total / (self.count + 1)) ** 2


class EmpiricalBernsteinSequence(_PlugIn):
    """Predictable plug-in empirical Bernstein (I. Waudby-Smith and A. Ramdas, JRSS B 2024, theorem 2)."""

    _bets = _weighted = _penalty = 0.0

    def _step(self, z: float, a: float, b: float) -> tuple[float, float]:
        width = b - a
        bet = self._bet(width)
        deviation = (z - self._total / self.count) / width
        scaled = bet * width
        self._bets += bet
        self._weighted += bet * z
        self._penalty += deviation**2 * (-math.log1p(-scaled) - scaled)
        self._learn(z)
        return self._weighted / self._bets, (math.log(2 / self.alpha) + self._penalty) / self._bets
