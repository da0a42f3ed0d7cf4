"""Sequences of differences, for all pairs of configurations that share rounds."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from evaluation.statistics.batch import BettingSequences
from evaluation.statistics.betting import BettingSequence

# Up to so many pairs, sequences one by one are faster than sequences side by side.
FEW = 8
DOMAIN = (-1.0, 1.0)


class PairedSequences:
    """Intervals of ``count`` differences, each at ``alpha`` and all of them at once at ``alpha``."""

    def __init__(self, count: int, alpha: float) -> None:
        self.count = count
        # Each on its own, then shared out over all; one level where that is the same.
        self.alphas = [alpha] if count < 2 else [alpha, alpha / count]
        self._few = [[BettingSequence(a, DOMAIN) for a in self.alphas] for _ in range(count)] if count <= FEW else []
        self._many = None if count <= FEW else BettingSequences(count, self.alphas, DOMAIN)

    def interval(self, pair: int, *, simultaneous: bool) -> tuple[float, float]:
        """(lower, upper) of one difference, alone or together with all others."""
        level = len(self.alphas) - 1 if simultaneous else 0
        if self._many is not None:
            return self._many.interval(pair, level)
        return self._few[pair][level].interval

    def variance(self, pair: int) -> float:
        """Of one round's signal of the difference, from the rounds so far; NaN before two."""
        if self._many is not None:
            return self._many.variance(pair)
        return self._few[pair][0].variance

    def update(self, low: ArrayLike, lower: ArrayLike, upper: ArrayLike, high: ArrayLike, scale: float) -> None:
        """Consume one round: arrays of ``count``."""
        if self._many is not None:
            self._many.update(low, lower, upper, high, scale=scale)
            return
        columns = (np.asarray(column, dtype=np.float64).tolist() for column in (low, lower, upper, high))
        for sequences, observation in zip(self._few, zip(*columns, strict=True), strict=True):
            for sequence in sequences:
                sequence.update(*observation, scale=scale)

    def know(self, lower: ArrayLike, upper: ArrayLike) -> None:
        """Take up where the differences certainly lie."""
        if self._many is not None:
            self._many.know(lower, upper)
            return
        columns = (np.asarray(column, dtype=np.float64).tolist() for column in (lower, upper))
        for sequences, bounds in zip(self._few, zip(*columns, strict=True), strict=True):
            for sequence in sequences:
                sequence.know(*bounds)

    def to_state(self) -> Any:
        """The whole state as JSON values."""
        if self._many is not None:
            return self._many.to_state()
        return [[sequence.to_state() for sequence in sequences] for sequences in self._few]

    def restore(self, state: Any) -> None:
        if self._many is not None:
            self._many = BettingSequences.from_state(state)
        else:
            self._few = [[BettingSequence.from_state(each) for each in states] for states in state]
