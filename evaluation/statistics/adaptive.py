r"""Adaptive estimates of a weighted mean over a finite pool (design.md section 4).

Before the draw of round t the sampler freezes, from results recorded by then, predictions f_t(q), a constant kappa_t
and the law pi_t(q) > 0; then it draws I_t ~ pi_t. Results are consumed in the order of their numbers, as

    Z_t = known_t + kappa_t sum_{R_t} w_q f_t(q) + (w_I / pi_t(I)) (Y_t - kappa_t f_t(I)),    E[Z_t | past] = theta,

with R_t the whole pool and known_t = 0 when tries are repeated; when each question is asked once, R_t holds those not
yet drawn and known_t is the weighted sum of the scores of those drawn before. The law is pi proportional to w on R_t,
so that w_I / pi_t(I) is the weight of R_t, whatever was drawn.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import combinations
from typing import Any, Protocol

import numpy as np

from evaluation.statistics import checks
from evaluation.statistics.betting import BettingSequence
from evaluation.statistics.checks import Floats

# Pseudo-observations that pull kappa towards its start, so that a useless surrogate costs little.
KAPPA_PRIOR_COUNT = 12.0
KAPPA_START = 0.5


class Surrogate(Protocol):
    """Predicts scores; what it learns counts only from the next draw on."""

    def predict(self) -> Floats:
        """Expected scores of all items, in [0, 1]."""
        ...

    def learn(self, item: int, score: float) -> None:
        """Take up one score."""
        ...


@dataclass(frozen=True)
class Draw:
    """Round ``number`` drew ``item`` under a law that gave it ``probability``."""

    number: int
    item: int
    probability: float


@dataclass(frozen=True)
class _Frozen:
    """What one configuration's signal of one round rests on, fixed before the draw."""

    kappa: float
    # The drawn item's prediction, the least and the greatest of those that could be drawn, and their weighted sum.
    prediction: float
    least: float
    greatest: float
    control: float


@dataclass(frozen=True)
class _Score:
    """A score known to lie in [low, high], with the predictable bounds of what it could have been."""

    low: float
    high: float
    lower: float = 0.0
    upper: float = 1.0

    @property
    def is_void(self) -> bool:
        return self.low != self.high


@dataclass(frozen=True)
class _Signal:
    """Z of one round: its value (two for a void) and its predictable bounds."""

    low: float
    high: float
    lower: float
    upper: float

    def minus(self, other: "_Signal") -> "_Signal":
        return _Signal(self.low - other.high, self.high - other.low, self.lower - other.upper, self.upper - other.lower)


class _Stream:
    """One configuration: what predicts it, how far that is trusted, and the estimate from what was consumed."""

    def __init__(self, size: int, alpha: float, surrogate: Any) -> None:
        self.sequence = BettingSequence(alpha)
        self.surrogate = surrogate
        self.size = size
        self.fixed: Floats | None = None
        if surrogate is None:
            self.fixed = np.zeros(size)
        elif not hasattr(surrogate, "predict"):
            self.fixed = checks.unit_array("surrogate", surrogate, size)
        # Count of recorded results, and sums of scores, predictions, squared predictions and products.
        self.sums = [0.0, 0.0, 0.0, 0.0, 0.0]
        # Weighted sums of the scores consumed, voids at 0 and at 1.
        self.known_low = self.known_high = 0.0
        self.signal_sum = self.signal_weight = 0.0

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
        covariance = yf / n - (y / n) * (f / n)
        if variance == 0.0:
            return KAPPA_START
        return min(
            1.0, max(0.0, (n * covariance / variance + KAPPA_PRIOR_COUNT * KAPPA_START) / (n + KAPPA_PRIOR_COUNT))
        )

    def learn(self, item: int, score: float, prediction: float) -> None:
        for index, value in enumerate((1.0, score, prediction, prediction * prediction, score * prediction)):
            self.sums[index] += value
        if hasattr(self.surrogate, "learn"):
            self.surrogate.learn(item, score)

    def consume(self, frozen: _Frozen, score: _Score, mass: float, weight: float, *, repeated: bool) -> _Signal:
        """Turn a score into its signal and feed the sequence; ``weight`` is the item's, ``mass`` that of R_t."""
        kappa = frozen.kappa
        base = kappa * frozen.control
        shift = kappa * frozen.prediction
        known_low, known_high = (0.0, 0.0) if repeated else (self.known_low, self.known_high)
        signal = _Signal(
            known_low + base + mass * (score.low - shift),
            known_high + base + mass * (score.high - shift),
            known_low + base + mass * (score.lower - kappa * frozen.greatest),
            known_high + base + mass * (score.upper - kappa * frozen.least),
        )
        self.sequence.update(signal.low, signal.lower, signal.upper, signal.high, scale=mass)
        precision = 1.0 / mass**2
        self.signal_sum += precision * (signal.low + signal.high) / 2
        self.signal_weight += precision
        if not repeated:
            self.known_low += weight * score.low
            self.known_high += weight * score.high
            self.sequence.know(self.known_low, min(1.0, self.known_high + max(mass - weight, 0.0)))
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
            "sums": self.sums,
            "consumed": [self.known_low, self.known_high, self.signal_sum, self.signal_weight],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self.sequence = BettingSequence.from_state(state["sequence"])
        if self.surrogate is None and state["fixed"] is not None:
            self.surrogate = self.fixed = np.array(state["fixed"])
        self.sums = list(state["sums"])
        self.known_low, self.known_high, self.signal_sum, self.signal_weight = state["consumed"]


class AdaptiveEvaluation:
    """Several configurations measured on shared rounds of one pool.

    Args:
        size: number of items N.
        configurations: their names; every round asks all of them.
        weights: N positive numbers that sum to one; None for equal ones.
        alpha: of each configuration's interval, of each difference, and of all rank sets together.
        repeated: draw with replacement (the estimand is the mean success probability) or each item once.
        surrogate: None, an array of N predictions, an object with ``predict`` and ``learn``, or a mapping from
            configuration to one of these.
        seed: of the sampler; the same calls in the same order give the same draws and the same bits.

    Draws, then records in any order of arrival; figures use the completed prefix of rounds alone.
    """

    def __init__(
        self,
        size: int,
        configurations: Sequence[str],
        weights: Sequence[float] | Floats | None = None,
        alpha: float = 0.05,
        repeated: bool = False,
        surrogate: Any = None,
        seed: int = 0,
    ) -> None:
        self._size = checks.whole("size", size, 1)
        self._alpha = checks.probability("alpha", alpha)
        self._weights = checks.pool_weights(weights, self._size)
        self._names = list(configurations)
        if not self._names or len(set(self._names)) < len(self._names):
            raise ValueError(f"configurations must be different names, at least one, not {configurations!r}")
        self._repeated = bool(repeated)
        self._rng = np.random.default_rng(seed)
        chosen = surrogate if isinstance(surrogate, Mapping) else dict.fromkeys(self._names, surrogate)
        self._streams = {name: _Stream(self._size, self._alpha, chosen.get(name)) for name in self._names}
        self._pairs = {pair: BettingSequence(self._alpha, (-1.0, 1.0)) for pair in combinations(self._names, 2)}
        # For rank sets alpha is shared out over the pairs, with sequences of their own.
        share = self._alpha / max(len(self._pairs), 1)
        self._shared = (
            self._pairs if len(self._pairs) < 2 else {p: BettingSequence(share, (-1.0, 1.0)) for p in self._pairs}
        )
        self._cumulative = np.cumsum(self._weights)
        self._left = np.ones(self._size, dtype=bool)
        self._drawn = self._consumed = 0
        # Rounds not yet consumed: (item, mass of what could be drawn), frozen constants and scores so far.
        self._rounds: dict[int, tuple[int, float]] = {}
        self._frozen: dict[int, dict[str, _Frozen]] = {}
        self._scores: dict[int, dict[str, _Score]] = {}

    @property
    def drawn(self) -> int:
        """Rounds drawn."""
        return self._drawn

    @property
    def consumed(self) -> int:
        """Rounds in the completed prefix."""
        return self._consumed

    def draw(self) -> Draw | None:
        """The next round, or None when every item of a pool without repetition was drawn."""
        if not self._repeated and self._drawn == self._size:
            return None
        item, probability, mass = self._sample()
        number = self._drawn
        self._frozen[number] = {name: self._freeze(self._streams[name], item) for name in self._names}
        self._rounds[number] = (item, mass)
        self._scores[number] = {}
        if not self._repeated:
            self._left[item] = False
        self._drawn += 1
        return Draw(number, item, probability)

    def record(
        self, number: int, configuration: str, score: float | None, lower: float = 0.0, upper: float = 1.0
    ) -> None:
        """Take up a score of a drawn round; None is a void.

        ``lower`` and ``upper`` bound corrected scores, and must be fixed before the draw. Raises ValueError, state
        unchanged, for an unknown or repeated number, an unknown configuration or a score outside its bounds.
        """
        if configuration not in self._streams:
            raise ValueError(f"configuration must be one of {self._names}, not {configuration!r}")
        if number not in self._rounds:
            raise ValueError(f"number must be that of a drawn round that still awaits results, not {number!r}")
        if configuration in self._scores[number]:
            raise ValueError(f"number {number!r} has a result of {configuration!r} already")
        taken = self._score(score, lower, upper)
        self._scores[number][configuration] = taken
        if not taken.is_void:
            stream = self._streams[configuration]
            stream.learn(self._rounds[number][0], taken.low, self._frozen[number][configuration].prediction)
        while self._consumed in self._scores and len(self._scores[self._consumed]) == len(self._names):
            self._consume(self._consumed)
            self._consumed += 1

    def interval(self, configuration: str) -> tuple[float, float]:
        """(lower, upper) of the configuration's mean; (0.0, 1.0) before data."""
        return self._streams[configuration].sequence.interval

    def estimate(self, configuration: str) -> float:
        """The point estimate, within the interval; NaN before data."""
        return self._streams[configuration].estimate()

    def difference(self, first: str, second: str, *, simultaneous: bool = False) -> tuple[float, float]:
        """(lower, upper) of the first's mean minus the second's; ``simultaneous``: for all pairs at once."""
        sequences = self._shared if simultaneous else self._pairs
        if (first, second) in sequences:
            return sequences[first, second].interval
        lower, upper = sequences[second, first].interval
        return -upper, -lower

    def rank_sets(self) -> dict[str, tuple[int, int]]:
        """(best, worst) rank of every configuration, simultaneous at alpha."""
        ranks = {}
        for name in self._names:
            others = [self.difference(name, other, simultaneous=True) for other in self._names if other != name]
            above = sum(upper < 0.0 for _, upper in others)
            below = sum(lower > 0.0 for lower, _ in others)
            ranks[name] = (1 + above, len(self._names) - below)
        return ranks

    def violated(self, configuration: str) -> bool:
        """Whether no candidate is left for this configuration: an assumption does not hold."""
        return self._streams[configuration].sequence.violated

    def to_json(self) -> str:
        """The whole state, generator included; surrogates that learn are not."""
        return json.dumps(
            {
                "arguments": {
                    "size": self._size,
                    "configurations": self._names,
                    "weights": self._weights.tolist(),
                    "alpha": self._alpha,
                    "repeated": self._repeated,
                },
                "generator": self._rng.bit_generator.state,
                "streams": {name: stream.to_state() for name, stream in self._streams.items()},
                "pairs": [sequence.to_state() for sequence in self._pairs.values()],
                "shared": [sequence.to_state() for sequence in self._shared.values()],
                "left": np.flatnonzero(self._left).tolist(),
                "drawn": self._drawn,
                "consumed": self._consumed,
                "rounds": [
                    [
                        number,
                        *self._rounds[number],
                        {name: astuple(frozen) for name, frozen in self._frozen[number].items()},
                        {name: astuple(score) for name, score in self._scores[number].items()},
                    ]
                    for number in self._rounds
                ],
            }
        )

    @classmethod
    def from_json(cls, text: str, surrogate: Any = None) -> "AdaptiveEvaluation":
        """Restore; a surrogate that learns must be given, in the state in which it was."""
        state = json.loads(text)
        restored = cls(**state["arguments"], surrogate=surrogate)
        restored._weights = np.array(state["arguments"]["weights"])
        restored._cumulative = np.cumsum(restored._weights)
        restored._rng.bit_generator.state = state["generator"]
        for name, stream in state["streams"].items():
            restored._streams[name].restore(stream)
        pairs = list(restored._pairs)
        restored._pairs = {p: BettingSequence.from_state(s) for p, s in zip(pairs, state["pairs"], strict=True)}
        restored._shared = (
            restored._pairs
            if len(pairs) < 2
            else {p: BettingSequence.from_state(s) for p, s in zip(pairs, state["shared"], strict=True)}
        )
        restored._left = np.zeros(restored._size, dtype=bool)
        restored._left[state["left"]] = True
        restored._drawn, restored._consumed = state["drawn"], state["consumed"]
        for number, item, mass, frozen, scores in state["rounds"]:
            restored._rounds[number] = (item, mass)
            restored._frozen[number] = {name: _Frozen(*values) for name, values in frozen.items()}
            restored._scores[number] = {name: _Score(*values) for name, values in scores.items()}
        return restored

    def _sample(self) -> tuple[int, float, float]:
        """An item, its probability and the mass of all that could be drawn."""
        point = self._rng.random()
        if self._repeated:
            item = min(int(self._cumulative.searchsorted(point * self._cumulative[-1], side="right")), self._size - 1)
            return item, float(self._weights[item]), 1.0
        left = np.flatnonzero(self._left)
        cumulative = np.cumsum(self._weights[left])
        mass = float(cumulative[-1])
        item = int(left[min(int(cumulative.searchsorted(point * mass, side="right")), len(left) - 1)])
        return item, float(self._weights[item]) / mass, mass

    def _freeze(self, stream: _Stream, item: int) -> _Frozen:
        kappa = stream.kappa()
        predictions = stream.predictions()
        if kappa == 0.0:
            return _Frozen(0.0, float(predictions[item]), 0.0, 0.0, 0.0)
        possible = predictions if self._repeated else predictions[self._left]
        weights = self._weights if self._repeated else self._weights[self._left]
        return _Frozen(
            kappa,
            float(predictions[item]),
            float(possible.min()),
            float(possible.max()),
            float(weights @ possible),
        )

    def _score(self, score: float | None, lower: float, upper: float) -> _Score:
        low, high = checks.finite("lower", lower), checks.finite("upper", upper)
        if low > high:
            raise ValueError(f"bounds must not cross: lower {lower!r}, upper {upper!r}")
        if not self._repeated and (low < 0.0 or high > 1.0):
            raise ValueError(
                f"lower and upper must lie in [0, 1] where each item is asked once, not be {lower!r} and {upper!r}:"
                " a corrected score does not settle its item"
            )
        if score is None:
            return _Score(min(0.0, low), max(1.0, high), min(0.0, low), max(1.0, high))
        value = checks.finite("score", score)
        if not low <= value <= high:
            raise ValueError(f"score must lie in [{lower!r}, {upper!r}], not be {score!r}")
        return _Score(value, value, low, high)

    def _consume(self, number: int) -> None:
        item, mass = self._rounds.pop(number)
        frozen, scores = self._frozen.pop(number), self._scores.pop(number)
        weight = float(self._weights[item])
        signals = {
            name: self._streams[name].consume(frozen[name], scores[name], mass, weight, repeated=self._repeated)
            for name in self._names
        }
        for (first, second), sequence in self._pairs.items():
            paired = signals[first].minus(signals[second])
            for each in {id(s): s for s in (sequence, self._shared[first, second])}.values():
                each.update(paired.low, paired.lower, paired.upper, paired.high, scale=mass)


class AdaptiveMean:
    """One configuration: see AdaptiveEvaluation, whose arguments it shares."""

    _NAME = "mean"

    def __init__(
        self,
        size: int,
        weights: Sequence[float] | Floats | None = None,
        alpha: float = 0.05,
        repeated: bool = False,
        surrogate: Any = None,
        seed: int = 0,
    ) -> None:
        self._evaluation = AdaptiveEvaluation(size, [self._NAME], weights, alpha, repeated, surrogate, seed)

    @property
    def drawn(self) -> int:
        """Items drawn."""
        return self._evaluation.drawn

    @property
    def consumed(self) -> int:
        """Length of the completed prefix."""
        return self._evaluation.consumed

    @property
    def interval(self) -> tuple[float, float]:
        """(lower, upper); (0.0, 1.0) before data."""
        return self._evaluation.interval(self._NAME)

    @property
    def estimate(self) -> float:
        """Within the interval; NaN before data."""
        return self._evaluation.estimate(self._NAME)

    def draw(self) -> Draw | None:
        """The next item to ask, or None when the pool is exhausted."""
        return self._evaluation.draw()

    def record(self, number: int, score: float | None, lower: float = 0.0, upper: float = 1.0) -> None:
        """Take up the score of a draw; see AdaptiveEvaluation.record."""
        self._evaluation.record(number, self._NAME, score, lower, upper)

    def to_json(self) -> str:
        return self._evaluation.to_json()

    @classmethod
    def from_json(cls, text: str, surrogate: Any = None) -> "AdaptiveMean":
        restored = cls.__new__(cls)
        restored._evaluation = AdaptiveEvaluation.from_json(text, surrogate)
        return restored
