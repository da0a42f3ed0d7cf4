r"""Adaptive estimates of weighted means over a finite pool (design.md section 4).

Before the draw of round t the sampler freezes, from results recorded by then, predictions f_t(q), a constant kappa_t
and the law pi_t(q) > 0; then it draws I_t ~ pi_t with fresh randomness. Results are consumed in the order of their
numbers, as signals (streams.py) that have the estimand as their mean, whatever was predicted. The order in which
results arrive changes nothing but the moment.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from evaluation.statistics import checks
from evaluation.statistics.betting import ROUNDING
from evaluation.statistics.checks import Floats
from evaluation.statistics.paired import PairedSequences
from evaluation.statistics.planning import Projection, rounds_to_settle
from evaluation.statistics.streams import Drawn, Frozen, Law, Score, Signal, Stream
from evaluation.statistics.surrogates import by_configuration


@dataclass(frozen=True)
class Draw:
    """Round ``number`` drew ``item`` under a law that gave it ``probability``."""

    number: int
    item: int
    probability: float


@dataclass
class _Round:
    """A round that not all configurations have consumed yet."""

    drawn: Drawn
    frozen: dict[str, Frozen]
    scores: dict[str, Score] = field(default_factory=dict)
    signals: dict[str, Signal] = field(default_factory=dict)


class AdaptiveEvaluation:
    """Several configurations measured on shared rounds of one pool.

    Args:
        size: number of items N.
        configurations: their names; every round asks all of them.
        weights: N positive numbers that sum to one; None for equal ones.
        alpha: of each configuration's interval, of each difference, and of all rank sets together.
        repeated: draw with replacement (the estimand is the mean success probability) or each item once.
        surrogate: None, an array of N predictions, an object with ``predict`` and ``learn``, a mapping from
            configuration to one of these, or a list or matrix with one for each configuration.
        seed: of the sampler; the same calls in the same order give the same draws and the same bits.
        floor: share of the weights in the sampling law; the rest goes where predictions are least certain. At 1, the
            default and on all data tried the best, every item is drawn in proportion to its weight.

    Draws, then records in any order of arrival; figures use the completed prefix of rounds alone.
    """

    def __init__(
        self,
        size: int,
        configurations: Sequence[str],
        weights: ArrayLike | None = None,
        alpha: float = 0.05,
        repeated: bool = False,
        surrogate: Any = None,
        seed: int = 0,
        *,
        floor: float = 1.0,
    ) -> None:
        self._size = checks.whole("size", size, 1)
        self._alpha = checks.probability("alpha", alpha)
        self._weights = checks.pool_weights(weights, self._size)
        self._names = list(configurations)
        if isinstance(configurations, str) or not self._names or len(set(self._names)) < len(self._names):
            raise ValueError(f"configurations must be different names, at least one, not {configurations!r}")
        if not 0.0 < floor <= 1.0:
            raise ValueError(f"floor must lie in (0, 1], not {floor!r}: a law with zeros estimates nothing")
        self._repeated, self._floor = bool(repeated), float(floor)
        self._rng = np.random.default_rng(seed)
        surrogates = by_configuration(surrogate, self._names)
        equal = bool(np.all(self._weights == self._weights[0]))
        self._streams = {
            name: Stream(self._size, self._alpha, surrogates[name], repeated=self._repeated, equal_weights=equal)
            for name in self._names
        }
        # Each once, also where several configurations share one.
        self._listeners = list({id(s): s for s in surrogates.values() if hasattr(s, "learn_from_another")}.values())
        self._pairs = {pair: place for place, pair in enumerate(combinations(self._names, 2))}
        places = np.array(list(combinations(range(len(self._names)), 2)), dtype=np.int64).reshape(-1, 2)
        self._pair_firsts, self._pair_seconds = places[:, 0], places[:, 1]
        self._differences = PairedSequences(len(self._pairs), self._alpha)
        self._cumulative = np.cumsum(self._weights)
        self._left = np.ones(self._size, dtype=bool)
        self._drawn = self._consumed = 0
        self._rounds: dict[int, _Round] = {}

    @property
    def drawn(self) -> int:
        """Rounds drawn."""
        return self._drawn

    @property
    def consumed(self) -> int:
        """Rounds in the completed prefix of all configurations."""
        return self._consumed

    def consumed_by(self, configuration: str) -> int:
        """Rounds in the completed prefix of one configuration, which its interval rests on."""
        return self._stream(configuration).consumed

    def draw(self) -> Draw | None:
        """The next round, or None when every item of a pool without repetition was drawn."""
        if not self._repeated and self._drawn == self._size:
            return None
        number = self._drawn
        kappas = {name: stream.kappa() for name, stream in self._streams.items()}
        predictions = {name: stream.predictions() for name, stream in self._streams.items()}
        law, drawn, probability = self._sample(kappas, predictions)
        frozen = {
            name: stream.freeze(law, drawn, predictions[name], kappas[name]) for name, stream in self._streams.items()
        }
        self._rounds[number] = _Round(drawn, frozen)
        if not self._repeated:
            self._left[drawn.item] = False
        self._drawn += 1
        return Draw(number, drawn.item, probability)

    def record(
        self, number: int, configuration: str, score: float | None, lower: float = 0.0, upper: float = 1.0
    ) -> None:
        """Take up a score of a drawn round; None is a void.

        ``lower`` and ``upper`` bound corrected scores, and must be fixed before the draw. Raises ValueError, state
        unchanged, for an unknown or repeated number, an unknown configuration or a score outside its bounds.
        """
        self._stream(configuration)
        if number not in self._rounds:
            raise ValueError(f"number must be that of a drawn round that still awaits results, not {number!r}")
        current = self._rounds[number]
        if configuration in current.scores:
            raise ValueError(f"number {number!r} has a result of {configuration!r} already")
        taken = self._score(score, lower, upper)
        current.scores[configuration] = taken
        if not taken.is_void:
            self._teach(current, configuration, taken.low)
        self._consume(configuration)

    def interval(self, configuration: str) -> tuple[float, float]:
        """(lower, upper) of the configuration's mean; (0.0, 1.0) before data."""
        return self._stream(configuration).sequence.interval

    def estimate(self, configuration: str) -> float:
        """The point estimate, within the interval; NaN before data."""
        return self._stream(configuration).estimate()

    def difference(self, first: str, second: str, *, simultaneous: bool = False) -> tuple[float, float]:
        """(lower, upper) of the first's mean minus the second's; ``simultaneous``: for all pairs at once."""
        for name in (first, second):
            self._stream(name)
        if first == second:
            return 0.0, 0.0
        if (first, second) in self._pairs:
            return self._differences.interval(self._pairs[first, second], simultaneous=simultaneous)
        lower, upper = self._differences.interval(self._pairs[second, first], simultaneous=simultaneous)
        return -upper, -lower

    def certified(self) -> list[tuple[str, str]]:
        """The certified-better graph: pairs (better, worse), all right together with probability 1 - alpha."""
        found = []
        # Sums of the same scores in another order differ by rounding: such pairs are ties.
        for first, second in self._pairs:
            lower, upper = self.difference(first, second, simultaneous=True)
            if lower > ROUNDING:
                found.append((first, second))
            elif upper < -ROUNDING:
                found.append((second, first))
        return found

    def rank_sets(self) -> dict[str, tuple[int, int]]:
        """(best, worst) rank of every configuration, simultaneous at alpha."""
        certified = self.certified()
        above = {name: sum(worse == name for _, worse in certified) for name in self._names}
        below = {name: sum(better == name for better, _ in certified) for name in self._names}
        return {name: (1 + above[name], len(self._names) - below[name]) for name in self._names}

    def projection(self, first: str, second: str) -> Projection:
        """How many more rounds would settle which of two is better, if they are what they seem; no guarantee.

        Unknown (NaN) before two rounds; without repetition never more than the pool has left.
        """
        if first == second:
            raise ValueError(f"second must be another configuration than first, {first!r}")
        lower, upper = self.difference(first, second)
        pair = self._pairs[(first, second) if (first, second) in self._pairs else (second, first)]
        variance = self._differences.variance(pair)
        if math.isnan(variance):
            return Projection(math.nan, math.nan, math.inf)
        estimate = min(max(self.estimate(first) - self.estimate(second), lower), upper)
        found = rounds_to_settle(
            estimate=estimate, interval=(lower, upper), variance=variance, consumed=self._consumed, alpha=self._alpha
        )
        if self._repeated:
            return found
        left = float(self._size - self._consumed)
        return Projection(min(found.likely, left), min(found.least, left), min(found.most, left))

    def violated(self, configuration: str) -> bool:
        """Whether no candidate is left for this configuration: an assumption does not hold."""
        return self._stream(configuration).sequence.violated

    def to_json(self) -> str:
        """The whole state, generator included; surrogates that learn are not."""
        return json.dumps(
            {
                "arguments": {
                    "size": self._size,
                    "configurations": self._names,
                    "alpha": self._alpha,
                    "repeated": self._repeated,
                    "floor": self._floor,
                },
                "weights": self._weights.tolist(),
                "generator": self._rng.bit_generator.state,
                "streams": {name: stream.to_state() for name, stream in self._streams.items()},
                "differences": self._differences.to_state(),
                "left": np.flatnonzero(self._left).tolist(),
                "drawn": self._drawn,
                "consumed": self._consumed,
                "rounds": [
                    [
                        number,
                        list(astuple(each.drawn)),
                        *(
                            {name: list(astuple(value)) for name, value in values.items()}
                            for values in (each.frozen, each.scores, each.signals)
                        ),
                    ]
                    for number, each in self._rounds.items()
                ],
            }
        )

    @classmethod
    def from_json(cls, text: str, surrogate: Any = None) -> "AdaptiveEvaluation":
        """Restore; a surrogate that learns must be given, in the state in which it was."""
        state = json.loads(text)
        restored = cls(**state["arguments"], surrogate=surrogate)
        restored._weights = np.array(state["weights"])
        restored._cumulative = np.cumsum(restored._weights)
        restored._rng.bit_generator.state = state["generator"]
        for name, stream in state["streams"].items():
            restored._streams[name].restore(stream)
        restored._differences.restore(state["differences"])
        restored._left = np.zeros(restored._size, dtype=bool)
        restored._left[state["left"]] = True
        restored._drawn, restored._consumed = state["drawn"], state["consumed"]
        for number, drawn, frozen, scores, signals in state["rounds"]:
            restored._rounds[number] = _Round(
                Drawn(*drawn),
                {name: Frozen(*values) for name, values in frozen.items()},
                {name: Score(*values) for name, values in scores.items()},
                {name: Signal(*values) for name, values in signals.items()},
            )
        return restored

    def _stream(self, configuration: str) -> Stream:
        if configuration not in self._streams:
            raise ValueError(f"configuration must be one of {self._names}, not {configuration!r}")
        return self._streams[configuration]

    def _sample(self, kappas: dict[str, float], predictions: dict[str, Floats]) -> tuple[Law, Drawn, float]:
        """What could be drawn, what was, and its probability."""
        point = self._rng.random()
        places: Any = slice(None) if self._repeated else np.flatnonzero(self._left)
        weights = self._weights[places]
        cumulative = self._cumulative if self._repeated else np.cumsum(weights)
        mass = 1.0 if self._repeated else float(cumulative[-1])
        law = Law(places, weights, mass)
        least = greatest = mass
        probabilities = weights
        if self._floor < 1.0:
            probabilities = self._guided(law, mass, kappas, predictions)
            cumulative = np.cumsum(probabilities)
            ratios = weights / probabilities
            law = Law(places, weights, ratios)
            least, greatest = float(ratios.min()), float(ratios.max())
        chosen = min(int(cumulative.searchsorted(point * cumulative[-1], side="right")), len(weights) - 1)
        weight = float(weights[chosen])
        item = chosen if self._repeated else int(places[chosen])
        ratio = law.ratios if isinstance(law.ratios, float) else float(law.ratios[chosen])
        rest = 0.0 if len(weights) == 1 else max(mass - weight, 0.0)
        return law, Drawn(item, weight, ratio, mass, least, greatest, rest), weight / ratio

    def _guided(self, law: Law, mass: float, kappas: dict[str, float], predictions: dict[str, Floats]) -> Floats:
        """The floor of the weights, and the rest where the second moment of Y - kappa f is largest."""
        moment = np.zeros(len(law.weights))
        for name, kappa in kappas.items():
            if self._streams[name].surrogate is not None:
                f = predictions[name][law.places]
                moment += f * (1.0 - f) + (1.0 - kappa) ** 2 * f * f
        guided = law.weights * np.sqrt(moment)
        total = float(guided.sum())
        if total <= 0.0:
            return law.weights / mass
        probabilities: Floats = self._floor * law.weights / mass + (1.0 - self._floor) * guided / total
        return probabilities

    def _score(self, score: float | None, lower: float, upper: float) -> Score:
        low, high = checks.finite("lower", lower), checks.finite("upper", upper)
        if low > high:
            raise ValueError(f"bounds must not cross: lower {lower!r}, upper {upper!r}")
        if not self._repeated and (low < 0.0 or high > 1.0):
            raise ValueError(
                f"lower and upper must lie in [0, 1] where each item is asked once, not be {lower!r} and {upper!r}:"
                " a corrected score does not settle its item"
            )
        if score is None:
            low, high = min(0.0, low), max(1.0, high)
            return Score(low, high, low, high)
        value = checks.finite("score", score)
        if not low <= value <= high:
            raise ValueError(f"score must lie in [{lower!r}, {upper!r}], not be {score!r}")
        return Score(value, value, low, high)

    def _teach(self, current: _Round, configuration: str, score: float) -> None:
        stream = self._streams[configuration]
        stream.learn(current.drawn, score, current.frozen[configuration].prediction)
        for surrogate in self._listeners:
            if surrogate is not stream.surrogate:
                surrogate.learn_from_another(current.drawn.item, score)

    def _consume(self, configuration: str) -> None:
        """Take up what completes prefixes: first of the configuration, then of all."""
        stream = self._streams[configuration]
        while (current := self._rounds.get(stream.consumed)) is not None and configuration in current.scores:
            current.signals[configuration] = stream.consume(
                current.drawn, current.frozen[configuration], current.scores[configuration]
            )
        while (current := self._rounds.get(self._consumed)) is not None and len(current.signals) == len(self._names):
            self._compare(current)
            del self._rounds[self._consumed]
            self._consumed += 1

    def _compare(self, current: _Round) -> None:
        if not self._pairs:
            return
        signals = [current.signals[name] for name in self._names]
        low, high, lower, upper = np.array([(s.low, s.high, s.lower, s.upper) for s in signals]).T
        first, second = self._pair_firsts, self._pair_seconds
        self._differences.update(
            low[first] - high[second],
            lower[first] - upper[second],
            upper[first] - lower[second],
            high[first] - low[second],
            current.drawn.mass,
        )
        if not self._repeated and current.drawn.rest == 0.0:
            known = np.array([stream.known for stream in self._streams.values()])
            self._differences.know(known[first, 0] - known[second, 1], known[first, 1] - known[second, 0])


class AdaptiveMean:
    """One configuration: see AdaptiveEvaluation, whose arguments it shares."""

    _NAME = "mean"

    def __init__(
        self,
        size: int,
        weights: ArrayLike | None = None,
        alpha: float = 0.05,
        repeated: bool = False,
        surrogate: Any = None,
        seed: int = 0,
        *,
        floor: float = 1.0,
    ) -> None:
        self._evaluation = AdaptiveEvaluation(
            size, [self._NAME], weights, alpha, repeated, surrogate, seed, floor=floor
        )

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

    @property
    def violated(self) -> bool:
        """Whether no candidate is left: an assumption does not hold."""
        return self._evaluation.violated(self._NAME)

    def draw(self) -> Draw | None:
        """The next item to ask, or None when the pool is exhausted."""
        return self._evaluation.draw()

    def record(self, number: int, score: float | None, lower: float = 0.0, upper: float = 1.0) -> None:
        """Take up the score of a draw; see AdaptiveEvaluation.record."""
        self._evaluation.record(number, self._NAME, score, lower, upper)

    def to_json(self) -> str:
        """The whole state, generator included; a surrogate that learns is not."""
        return self._evaluation.to_json()

    @classmethod
    def from_json(cls, text: str, surrogate: Any = None) -> "AdaptiveMean":
        """Restore; a surrogate that learns must be given, in the state in which it was."""
        restored = cls.__new__(cls)
        restored._evaluation = AdaptiveEvaluation.from_json(text, surrogate)
        return restored
