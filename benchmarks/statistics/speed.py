"""Time of an update with its bounds, one sequence at a time and many side by side."""

import time
from dataclasses import dataclass

import numpy as np

from evaluation.statistics import AdaptiveEvaluation, BettingSequence, BettingSequences


@dataclass(frozen=True)
class Timing:
    """Microseconds, and what they should not exceed (None: for comparison)."""

    what: str
    microseconds: float
    target: float | None


def _one(updates: int) -> float:
    rng = np.random.default_rng(1)
    sequence = BettingSequence()
    taken = []
    for z in (rng.random(updates) < 0.78).astype(float).tolist():
        start = time.perf_counter()
        sequence.update(z)
        _ = sequence.interval
        taken.append(time.perf_counter() - start)
    return 1e6 * float(np.median(taken))


def _ville(updates: int) -> float:
    from ville import BettingCS  # type: ignore[import-not-found]

    rng = np.random.default_rng(1)
    sequence = BettingCS(grid=10_000)
    taken = []
    for z in (rng.random(updates) < 0.78).astype(float).tolist():
        start = time.perf_counter()
        sequence.update(z)
        sequence.interval()
        taken.append(time.perf_counter() - start)
    return 1e6 * float(np.median(taken))


def _batch(count: int, updates: int) -> float:
    rng = np.random.default_rng(2)
    sequences = BettingSequences(count, [0.05, 0.05 / count], (-1.0, 1.0))
    taken = []
    for _ in range(updates):
        z = (rng.random(count) < 0.8).astype(float) - (rng.random(count) < 0.75)
        start = time.perf_counter()
        sequences.update(z, -1.0, 1.0)
        taken.append(time.perf_counter() - start)
    return 1e6 * float(np.median(taken)) / count


def _rounds(configurations: int, rounds: int) -> float:
    """Seconds that 2,000 rounds of all configurations and all their pairs take."""
    rng = np.random.default_rng(3)
    names = [f"c{k}" for k in range(configurations)]
    evaluation = AdaptiveEvaluation(1500, names, repeated=True)
    scores = (rng.random((rounds, configurations)) < 0.8).astype(float).tolist()
    start = time.perf_counter()
    for row in scores:
        draw = evaluation.draw()
        assert draw is not None
        for name, score in zip(names, row, strict=True):
            evaluation.record(draw.number, name, score)
    return 2000 * (time.perf_counter() - start) / rounds


def timings(*, quick: bool, with_ville: bool) -> list[Timing]:
    """All of them; on a machine that is busy, compare with ville's in the same run."""
    scale = 1 if quick else 5
    found = [
        Timing("one sequence: update and bounds", _one(1000 * scale), 20.0),
        Timing("1,225 sequences at two levels: update of each", _batch(1225, 60 * scale), 5.0),
        Timing("50 configurations, 1,225 pairs: seconds for 2,000 rounds", _rounds(50, 40 * scale), 15.0),
    ]
    if with_ville:
        found.append(Timing("ville 0.1.0, grid of 10,000: update and bounds", _ville(300 * scale), None))
    return found
