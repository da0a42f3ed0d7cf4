"""How many trials a half-width takes, on real outcomes, each system in turn the target and the others what is known."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.statistics import outcomes
from evaluation.statistics import (
    AdaptiveMean,
    BettingSequence,
    ConfidenceSequence,
    DifficultySurrogate,
    EmpiricalBernsteinSequence,
    HoeffdingSequence,
)
from evaluation.statistics.checks import Floats

ALPHA = 0.05
POOL = 1500
LONGEST = 60_000


@dataclass(frozen=True)
class Target:
    """A pool as one system answers it: per item its outcomes, and what is known of others' on it (NaN: nothing)."""

    name: str
    tries: list[Floats]
    others: Floats


def targets(name: str, seed: int) -> list[Target]:
    """Every system of a data set, on a pool of at most 1,500 items that the seed chooses."""
    rng = np.random.default_rng(seed)
    if name in ("game24", "misguided_attention"):
        systems, tries = getattr(outcomes, name)()
        means = np.array([[each.mean() for each in items] for items in tries]).T
        return [Target(s, tries[k], np.delete(means, k, axis=1)) for k, s in enumerate(systems)]
    systems, scores = getattr(outcomes, name)()
    pool = scores[rng.permutation(len(scores))[:POOL]]
    return [Target(s, list(pool[:, k].reshape(-1, 1)), np.delete(pool, k, axis=1)) for k, s in enumerate(systems)]


Method = Callable[[Target, int, float], int]


def uniform(sequence: Callable[[], ConfidenceSequence]) -> Method:
    """A sequence fed with independent uniform draws."""

    def run(target: Target, seed: int, half_width: float) -> int:
        rng = np.random.default_rng(seed)
        chosen = sequence()
        for count in range(1, LONGEST + 1):
            tries = target.tries[int(rng.integers(len(target.tries)))]
            chosen.update(float(tries[int(rng.integers(len(tries)))]))
            lower, upper = chosen.interval
            if upper - lower <= 2 * half_width:
                return count
        return LONGEST

    return run


def adaptive(*, repeated: bool, surrogate: str = "learning", floor: float = 1.0) -> Method:
    """AdaptiveMean, the surrogate being as told."""

    def run(target: Target, seed: int, half_width: float) -> int:
        rng = np.random.default_rng(seed)
        size = len(target.tries)
        chosen = _surrogate(surrogate, target, rng)
        mean = AdaptiveMean(size, None, ALPHA, repeated, chosen, seed, floor=floor)
        while (draw := mean.draw()) is not None and draw.number < LONGEST:
            tries = target.tries[draw.item]
            mean.record(draw.number, float(tries[int(rng.integers(len(tries)))]))
            lower, upper = mean.interval
            if upper - lower <= 2 * half_width:
                break
        return mean.consumed

    return run


def _surrogate(kind: str, target: Target, rng: np.random.Generator) -> object:
    size = len(target.tries)
    others = np.nan_to_num(target.others, nan=0.5).mean(axis=1)
    count = target.others.shape[1]
    known = (count * others + 0.8 * others.mean()) / (count + 0.8)
    if kind == "none":
        return None
    if kind == "fixed":
        return known
    if kind == "shuffled":
        return rng.permutation(known)
    if kind == "inverted":
        return 1.0 - known
    return DifficultySurrogate(size, target.others)


def stratified(target: Target, seed: int, half_width: float) -> int:
    """Cer-Eval-like: five strata of known difficulty, each sampled in proportion, its own Hoeffding-type sequence at a
    fifth of alpha, bounds added up. Ours after the idea of the paper, not its code."""
    rng = np.random.default_rng(seed)
    others = np.nan_to_num(target.others, nan=0.5).mean(axis=1)
    strata = [s for s in np.array_split(np.argsort(others, kind="stable"), 5) if len(s)]
    sequences = [HoeffdingSequence(ALPHA / len(strata)) for _ in strata]
    shares = [len(s) / len(others) for s in strata]
    for count in range(1, LONGEST + 1):
        k = count % len(strata)
        tries = target.tries[int(rng.choice(strata[k]))]
        sequences[k].update(float(tries[int(rng.integers(len(tries)))]))
        width = sum(share * (s.interval[1] - s.interval[0]) for share, s in zip(shares, sequences, strict=True))
        if width <= 2 * half_width:
            return count
    return LONGEST


def ville(target: Target, seed: int, half_width: float) -> int:
    """The betting sequence of the package ville, uniform draws."""
    from ville import BettingCS  # type: ignore[import-not-found]  # a peer, installed for this comparison alone

    rng = np.random.default_rng(seed)
    # Its bounds are looked at after every trial; a grid of 1,000 points is as good at this width, and faster.
    sequence = BettingCS(alpha=ALPHA, grid=1000)
    for count in range(1, LONGEST + 1):
        tries = target.tries[int(rng.integers(len(target.tries)))]
        sequence.update(float(tries[int(rng.integers(len(tries)))]))
        lower, upper = sequence.interval()
        if upper - lower <= 2 * half_width:
            return count
    return LONGEST


METHODS: dict[str, Method] = {
    "stitched Hoeffding, uniform": uniform(lambda: HoeffdingSequence(ALPHA)),
    "empirical Bernstein, uniform": uniform(lambda: EmpiricalBernsteinSequence(ALPHA)),
    "stratified (Cer-Eval-like)": stratified,
    "betting, uniform": uniform(lambda: BettingSequence(ALPHA)),
    "repeated, uniform": adaptive(repeated=True, surrogate="none"),
    "repeated, surrogate": adaptive(repeated=True),
    "repeated, surrogate, floor 0.3 (CELEUS-like)": adaptive(repeated=True, floor=0.3),
    "repeated, surrogate, floor 0.6": adaptive(repeated=True, floor=0.6),
    "repeated, shuffled surrogate": adaptive(repeated=True, surrogate="shuffled"),
    "repeated, inverted surrogate": adaptive(repeated=True, surrogate="inverted"),
}
ONCE: dict[str, Method] = {
    "once, uniform": adaptive(repeated=False, surrogate="none"),
    "once, fixed surrogate": adaptive(repeated=False, surrogate="fixed"),
    "once, surrogate": adaptive(repeated=False),
    "once, surrogate, floor 0.6": adaptive(repeated=False, floor=0.6),
    "once, shuffled surrogate": adaptive(repeated=False, surrogate="shuffled"),
    "once, inverted surrogate": adaptive(repeated=False, surrogate="inverted"),
}
DATA_SETS = ("mmlu", "farel", "gsm8k", "game24", "misguided_attention")


def medians(data: str, method: Method, half_width: float, seeds: int, most_targets: int = 1000) -> dict[str, float]:
    """Of every target, the median trials over the seeds."""
    counts: dict[str, list[int]] = {}
    for seed in range(seeds):
        chosen = targets(data, seed)
        # Different draws for different targets, so that their luck is not the same.
        for place, target in enumerate(chosen[:: max(1, math.ceil(len(chosen) / most_targets))]):
            counts.setdefault(target.name, []).append(method(target, 1000 * place + seed, half_width))
    return {name: float(np.median(values)) for name, values in counts.items()}


def oracle(target: Target) -> float:
    """Share of the variance that is left when the expected score of each item is known: the best surrogate's limit."""
    means = np.array([each.mean() for each in target.tries])
    within = float(np.mean([each.var() for each in target.tries]))
    total = within + float(means.var())
    return within / total if total else math.nan
