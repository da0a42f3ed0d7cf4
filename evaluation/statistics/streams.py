r"""From scores to signals: what one configuration contributes to an adaptive evaluation (design.md section 4).

    Z_t = known_t + kappa_t sum_{R_t} w_q f_t(q) + r_t(I) (Y_t - kappa_t f_t(I)),    r_t(q) = w_q / pi_t(q)

R_t is the whole pool and known_t = 0 when tries are repeated; when each question is asked once, R_t holds those not yet
drawn and known_t is the weighted sum of the scores of those drawn before.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation.statistics import checks
from evaluation.statistics.betting import ROUNDING, BettingSequence
from evaluation.statistics.checks import Floats

# Pseudo-observations that pull kappa towards its start, so that a useless surrogate costs little.
KAPPA_PRIOR_COUNT = 20.0
KAPPA_START = 0.7


@dataclass(frozen=True)
class Law:
    """What a round could draw: the places of R_t in the pool, their weights, and w / pi (one number if constant)."""

    places: Any
    weights: Floats
    ratios: Floats | float


@dataclass(frozen=True)
class Drawn:
    """What a round did draw: the item, its weight and w / pi, and of R_t the mass, extreme ratios and mass after."""

    item: int
    weight: float
    ratio: float
    mass: float
    least_ratio: float
    greatest_ratio: float
    rest: float


@dataclass(frozen=True)
class Frozen:
    """What one configuration's signal of one round rests on besides its score, fixed before the draw."""

    kappa: float
    prediction: float
    # kappa sum w f, and the extremes of -r(q) kappa f(q) and r(q) (1 - kappa f(q)).
    control: float
    least: float
    greatest: float


@dataclass(frozen=True)
class Score:
    """A score known to lie in [low, high], with the predictable bounds of what it could have been."""

    low: float
    high: float
    lower: float = 0.0
    upper: float = 1.0

    @property
    def is_void(self) -> bool:
        return self.low != self.high


@dataclass(frozen=True)
class Signal:
    """Z of one round: its value (two for a void) and its predictable bounds."""

    low: float
    high: float
    lower: float
    upper: float


class Stream:
    """One configuration: what predicts it, how far that is trusted, and the estimate from what was consumed."""

    def __init__(self, size: int, alpha: float, surrogate: Any, *, repeated: bool, equal_weights: bool = False) -> None:
        self.sequence = BettingSequence(alpha)
        self.surrogate = surrogate
        self.size = size
        self.repeated = repeated
        self.consumed = 0
        self.fixed: Floats | None = None
        if surrogate is None:
            self.fixed = np.zeros(size)
        elif not hasattr(surrogate, "predict"):
            self.fixed = checks.unit_array("surrogate", surrogate, size)
        # Weighted count of recorded results and sums of scores, predictions, squared predictions and products.
        self.sums = [0.0, 0.0, 0.0, 0.0, 0.0]
        # Weighted sums of the scores consumed, voids at 0 and at 1; of equal weights plain sums, which are exact.
        self.equal_weights = equal_weights
        self.sum_low = self.sum_high = 0.0
        self.signal_sum = self.signal_weight = 0.0

    @property
    def known(self) -> tuple[float, float]:
        """What the items consumed contribute to the estimand, voids at 0 and at 1."""
        divisor = self.size if self.equal_weights else 1
        return self.sum_low / divisor, self.sum_high / divisor

    def predictions(self) -> Floats:
        if self.fixed is not None:
            return self.fixed
        return checks.unit_array("surrogate.predict()", self.surrogate.predict(), self.size)

    def kappa(self) -> float:
        """The variance-optimal trust in the predictions, Cov(Y, f) / Var(f), shrunk and kept within [0, 1]."""
        if self.surrogate is None:
            return 0.0
        n, y, f, ff, yf = self.sums
        if n == 0.0:
            return KAPPA_START
        variance = max(ff / n - (f / n) ** 2, 0.0)
        if variance < 1e-12:
            return KAPPA_START
        slope = (yf / n - (y / n) * (f / n)) / variance
        return min(1.0, max(0.0, (n * slope + KAPPA_PRIOR_COUNT * KAPPA_START) / (n + KAPPA_PRIOR_COUNT)))

    def freeze(self, law: Law, drawn: Drawn, predictions: Floats, kappa: float) -> Frozen:
        prediction = float(predictions[drawn.item])
        if kappa == 0.0:
            return Frozen(0.0, prediction, 0.0, 0.0, drawn.greatest_ratio)
        possible = predictions[law.places]
        control = kappa * float(law.weights @ possible)
        if isinstance(law.ratios, float):
            least, greatest = float(possible.min()), float(possible.max())
            return Frozen(
                kappa, prediction, control, -law.ratios * kappa * greatest, law.ratios * (1.0 - kappa * least)
            )
        shifts = law.ratios * (kappa * possible)
        return Frozen(kappa, prediction, control, -float(shifts.max()), float((law.ratios - shifts).max()))

    def learn(self, drawn: Drawn, score: float, prediction: float) -> None:
        importance = drawn.ratio / drawn.mass
        for index, value in enumerate((1.0, score, prediction, prediction * prediction, score * prediction)):
            self.sums[index] += importance * value
        if hasattr(self.surrogate, "learn"):
            self.surrogate.learn(drawn.item, score)

    def consume(self, drawn: Drawn, frozen: Frozen, score: Score) -> Signal:
        """Turn the score of the next round into its signal and feed the sequence."""
        base_low = frozen.control - drawn.ratio * frozen.kappa * frozen.prediction
        base_high = base_low
        start_low = start_high = frozen.control
        if not self.repeated:
            known_low, known_high = self.known
            base_low, base_high = base_low + known_low, base_high + known_high
            start_low, start_high = start_low + known_low, start_high + known_high
        signal = Signal(
            base_low + drawn.ratio * score.low,
            base_high + drawn.ratio * score.high,
            start_low + frozen.least + _least(drawn, score.lower) - ROUNDING,
            start_high + frozen.greatest + _greatest(drawn, score.upper - 1.0) + ROUNDING,
        )
        self.sequence.update(signal.low, signal.lower, signal.upper, signal.high, scale=drawn.mass)
        precision = 1.0 / drawn.mass**2
        self.signal_sum += precision * (signal.low + signal.high) / 2
        self.signal_weight += precision
        self.consumed += 1
        if not self.repeated:
            weight = 1.0 if self.equal_weights else drawn.weight
            self.sum_low += weight * score.low
            self.sum_high += weight * score.high
            low, high = self.known
            self.sequence.know(low, high + drawn.rest)
        return signal

    def estimate(self) -> float:
        if self.signal_weight == 0.0:
            return math.nan
        lower, upper = self.sequence.interval
        return min(max(self.signal_sum / self.signal_weight, lower), upper)

    def to_state(self) -> dict[str, Any]:
        return {
            "sequence": self.sequence.to_state(),
            "fixed": None if self.fixed is None or self.surrogate is None else self.fixed.tolist(),
            "equal_weights": self.equal_weights,
            "sums": self.sums,
            "consumed": [self.consumed, self.sum_low, self.sum_high, self.signal_sum, self.signal_weight],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self.sequence = BettingSequence.from_state(state["sequence"])
        if self.surrogate is None and state["fixed"] is not None:
            self.surrogate = self.fixed = np.array(state["fixed"])
        self.equal_weights = state["equal_weights"]
        self.sums = list(state["sums"])
        self.consumed, self.sum_low, self.sum_high, self.signal_sum, self.signal_weight = state["consumed"]


def _least(drawn: Drawn, value: float) -> float:
    """The least of r(q) value."""
    return min(drawn.least_ratio * value, drawn.greatest_ratio * value)


def _greatest(drawn: Drawn, value: float) -> float:
    """The greatest of r(q) value."""
    return max(drawn.least_ratio * value, drawn.greatest_ratio * value)
