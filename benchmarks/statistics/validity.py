"""How often an interval misses at any look, in settings chosen to be hard."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from evaluation.statistics import AdaptiveEvaluation, AdaptiveMean, BettingSequences, DifficultySurrogate
from evaluation.statistics.checks import Floats

ALPHA = 0.05
ROUNDING = 1e-9

Replication = Callable[[int], bool]


@dataclass(frozen=True)
class Coverage:
    """Misses at any look among so many replications."""

    setting: str
    misses: int
    replications: int

    @property
    def rate(self) -> float:
        return self.misses / self.replications

    @property
    def is_within(self) -> bool:
        """Whether the rate exceeds alpha by no more than two standard errors of the simulation."""
        return self.rate <= ALPHA + 2 * math.sqrt(ALPHA * (1 - ALPHA) / self.replications)


def _misses(interval: tuple[float, float], truth: float) -> bool:
    return not interval[0] - ROUNDING <= truth <= interval[1] + ROUNDING


def _pool(rng: np.random.Generator, size: int, *, spread: bool) -> tuple[Floats, Floats, Floats]:
    """Weights, success probabilities and one outcome of each item."""
    weights = np.geomspace(1.0, 100.0, size) if spread else np.ones(size)
    p = np.clip(rng.beta(1.2, 0.5, size), 0.0, 1.0)
    return weights / weights.sum(), p, (rng.random(size) < p).astype(np.float64)


def _one(
    size: int,
    rounds: int,
    *,
    repeated: bool,
    spread: bool = False,
    surrogate: str = "none",
    floor: float = 1.0,
    void: bool = False,
    in_flight: int = 1,
) -> Replication:
    def replicate(seed: int) -> bool:
        rng = np.random.default_rng(seed)
        weights, p, y = _pool(rng, size, spread=spread)
        truth = float(weights @ (p if repeated else y))
        mean = AdaptiveMean(
            size, weights, ALPHA, repeated, _surrogate(surrogate, p, y, rng), seed=seed + 1, floor=floor
        )
        waiting: list[tuple[float, int, float | None]] = []
        for _ in range(rounds):
            draw = mean.draw()
            if draw is None:
                break
            score = float(rng.random() < p[draw.item]) if repeated else float(y[draw.item])
            # Wrong answers fail and are late more often than right ones.
            is_void = void and rng.random() < (0.02 if score else 0.25)
            waiting.append((rng.exponential(1.0 if score else 4.0), draw.number, None if is_void else score))
            if len(waiting) >= in_flight:
                waiting.sort()
                _, number, result = waiting.pop(0)
                mean.record(number, result)
                if _misses(mean.interval, truth):
                    return True
        for _, number, result in sorted(waiting):
            mean.record(number, result)
            if _misses(mean.interval, truth):
                return True
        return False

    return replicate


class _Adversary:
    """Predicts the opposite of what it saw, with certainty."""

    def __init__(self, size: int) -> None:
        self._values = np.full(size, 0.5)
        self._last = 0.5

    def predict(self) -> Floats:
        return np.where(self._values == 0.5, 1.0 - self._last, self._values)

    def learn(self, item: int, score: float) -> None:
        self._values[item] = self._last = 1.0 - score


class _Echo:
    """Repeats what anybody last scored on an item: the surrogate that would collapse if results could enter late."""

    def __init__(self, size: int) -> None:
        self._values = np.full(size, 0.5)

    def predict(self) -> Floats:
        return self._values.copy()

    def learn(self, item: int, score: float) -> None:
        self._values[item] = score


def _surrogate(kind: str, p: Floats, y: Floats, rng: np.random.Generator) -> object:
    others = (rng.random((len(p), 8)) < p[:, None]).astype(np.float64)
    return {
        "none": None,
        "good": np.clip(0.9 * p + 0.05, 0.0, 1.0),
        "inverted": 1.0 - p,
        "perfect": y,
        "learning": DifficultySurrogate(len(p), others),
        "adversarial": _Adversary(len(p)),
    }[kind]


def _corrected(seed: int) -> bool:
    """Verdicts of a judge, audited with probability 0.25, corrected without bias."""
    rng = np.random.default_rng(seed)
    weights, p, _ = _pool(rng, 100, spread=True)
    mean = AdaptiveMean(100, weights, ALPHA, True, seed=seed + 1)
    reach = 1 / 0.25 - 1
    for _ in range(200):
        draw = mean.draw()
        assert draw is not None
        truth = float(rng.random() < p[draw.item])
        verdict = truth if rng.random() < 0.85 else 1.0 - truth
        audited = rng.random() < 0.25
        mean.record(draw.number, verdict + audited * (truth - verdict) / 0.25, -reach, 1.0 + reach)
        if _misses(mean.interval, float(weights @ p)):
            return True
    return False


def _two_speeds(part: str, *, repeated: bool) -> Replication:
    """Two configurations, the second slow, each predicted by what both have answered."""

    def replicate(seed: int) -> bool:
        rng = np.random.default_rng(seed)
        size = 120
        weights, p, y = _pool(rng, size, spread=False)
        q = np.clip(p - 0.1 * rng.random(size), 0.0, 1.0)
        z = (rng.random(size) < q).astype(np.float64)
        truths = (float(weights @ p), float(weights @ q)) if repeated else (float(weights @ y), float(weights @ z))
        evaluation = AdaptiveEvaluation(
            size, ["fast", "slow"], weights, ALPHA, repeated, surrogate=_Echo(size), seed=seed + 1
        )
        late: list[tuple[int, float]] = []
        for _ in range(size):
            draw = evaluation.draw()
            if draw is None:
                break
            first, second = y[draw.item], z[draw.item]
            if repeated:
                first, second = rng.random(2) < (p[draw.item], q[draw.item])
            evaluation.record(draw.number, "fast", float(first))
            late.append((draw.number, float(second)))
            if len(late) > 25:
                evaluation.record(late[0][0], "slow", late.pop(0)[1])
            if _misses(_part(evaluation, part), _truth(truths, part)):
                return True
        return False

    return replicate


def _part(evaluation: AdaptiveEvaluation, part: str) -> tuple[float, float]:
    return evaluation.difference("fast", "slow") if part == "difference" else evaluation.interval(part)


def _truth(truths: tuple[float, float], part: str) -> float:
    return {"fast": truths[0], "slow": truths[1], "difference": truths[0] - truths[1]}[part]


def _ranks(seed: int) -> bool:
    """Five configurations, two of them equal: any wrong rank set at any look."""
    rng = np.random.default_rng(seed)
    means = {"a": 0.5, "b": 0.5, "c": 0.55, "d": 0.6, "e": 0.8}
    evaluation = AdaptiveEvaluation(50, list(means), None, ALPHA, True, seed=seed + 1)
    for _ in range(80):
        draw = evaluation.draw()
        assert draw is not None
        shared = rng.random()
        for name, mean in means.items():
            evaluation.record(draw.number, name, float((shared if rng.random() < 0.5 else rng.random()) < mean))
        if any(means[better] <= means[worse] for better, worse in evaluation.certified()):
            return True
    return False


def _independent(p: float, replications: int, rounds: int = 1000) -> int:
    """Bernoulli observations, all replications side by side."""
    rng = np.random.default_rng(round(1e6 * p))
    sequences = BettingSequences(replications, ALPHA)
    missed = np.zeros(replications, dtype=bool)
    for _ in range(rounds):
        sequences.update((rng.random(replications) < p).astype(np.float64))
        bounds = sequences.intervals()
        missed |= (bounds[:, 0] > p + ROUNDING) | (bounds[:, 1] < p - ROUNDING)
    return int(missed.sum())


SETTINGS: dict[str, Replication] = {
    "repeated, uniform": _one(200, 200, repeated=True),
    "repeated, weights over a factor of 100": _one(200, 200, repeated=True, spread=True),
    "repeated, good surrogate": _one(200, 200, repeated=True, surrogate="good"),
    "repeated, guided, floor 0.3": _one(200, 200, repeated=True, surrogate="good", floor=0.3, spread=True),
    "repeated, learning surrogate": _one(200, 200, repeated=True, surrogate="learning"),
    "repeated, inverted surrogate": _one(200, 200, repeated=True, surrogate="inverted"),
    "repeated, adversarial surrogate": _one(200, 200, repeated=True, surrogate="adversarial"),
    "repeated, 200 in flight": _one(200, 400, repeated=True, in_flight=200, surrogate="learning"),
    "repeated, voids where it is hard": _one(200, 200, repeated=True, void=True, surrogate="good"),
    "once, uniform": _one(150, 150, repeated=False),
    "once, weights over a factor of 100": _one(150, 150, repeated=False, spread=True),
    "once, good surrogate": _one(150, 150, repeated=False, surrogate="good"),
    "once, guided, floor 0.3": _one(150, 150, repeated=False, surrogate="good", floor=0.3, spread=True),
    "once, inverted surrogate": _one(150, 150, repeated=False, surrogate="inverted", spread=True),
    "once, perfect surrogate": _one(150, 150, repeated=False, surrogate="perfect"),
    "once, adversarial surrogate": _one(150, 150, repeated=False, surrogate="adversarial"),
    "once, 100 in flight": _one(150, 150, repeated=False, in_flight=100, surrogate="learning"),
    "once, voids where it is hard": _one(150, 150, repeated=False, void=True, surrogate="good"),
    "once, pool of 5": _one(5, 5, repeated=False),
    "once, pool of 5, weights, surrogate": _one(5, 5, repeated=False, spread=True, surrogate="inverted"),
    "once, pool of 5, guided": _one(5, 5, repeated=False, spread=True, surrogate="good", floor=0.2),
    "repeated, pool of 5": _one(5, 200, repeated=True, surrogate="inverted", spread=True),
    "corrected verdicts of a judge": _corrected,
    "two speeds, echo, slow, once": _two_speeds("slow", repeated=False),
    "two speeds, echo, fast, repeated": _two_speeds("fast", repeated=True),
    "two speeds, echo, slow, repeated": _two_speeds("slow", repeated=True),
    "two speeds, echo, difference, once": _two_speeds("difference", repeated=False),
    "two speeds, echo, difference, repeated": _two_speeds("difference", repeated=True),
    "rank sets of five": _ranks,
}
PROBABILITIES = (0.001, 0.02, 0.5, 0.78, 0.99)


def coverages(replications: int) -> Iterator[Coverage]:
    """One after the other: some take a minute for 2,000 replications."""
    for p in PROBABILITIES:
        yield Coverage(f"independent, p = {p}", _independent(p, replications), replications)
    for setting, replicate in SETTINGS.items():
        misses = sum(replicate(10 * seed) for seed in range(replications))
        yield Coverage(setting, misses, replications)
