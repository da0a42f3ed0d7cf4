"""Predictions of scores, which lower the variance of estimates and never bias them."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from evaluation.statistics import checks
from evaluation.statistics.checks import Floats

# Bands of predicted difficulty that are corrected on their own, and pseudo-results that hold a correction back.
BANDS = 10
BAND_STRENGTH = 10.0
# Pseudo-results by which an item's mean is drawn to that of all items.
ITEM_STRENGTH = 0.8


class Surrogate(Protocol):
    """Predicts scores; what it learns counts only from the next draw on.

    A surrogate may also have ``learn_from_another(item, score)``, which is told the results of the evaluation's other
    configurations.
    """

    def predict(self) -> Floats:
        """Expected scores of all items, in [0, 1]."""
        ...

    def learn(self, item: int, score: float) -> None:
        """Take up one score of the configuration itself."""
        ...


class DifficultySurrogate:
    """What others scored on an item, corrected in bands of difficulty by what this configuration scored so far.

    Args:
        size: number of items.
        outcomes: scores in [0, 1] of other systems, one row an item, one column a system, NaN where there is none.
    """

    def __init__(self, size: int, outcomes: ArrayLike | None = None) -> None:
        self.size = checks.whole("size", size, 1)
        self._sums: Floats = np.zeros(self.size)
        self._counts: Floats = np.zeros(self.size)
        if outcomes is not None:
            scores = np.asarray(outcomes, dtype=np.float64)
            if scores.ndim != 2 or len(scores) != self.size:
                raise ValueError(f"outcomes must have {self.size} rows, not the shape {scores.shape}")
            known = ~np.isnan(scores)
            checks.unit_array("outcomes", scores[known], int(known.sum()))
            self._sums, self._counts = np.where(known, scores, 0.0).sum(axis=1), known.sum(axis=1).astype(np.float64)
        self._residuals: Floats = np.zeros(BANDS)
        self._results: Floats = np.zeros(BANDS)

    def predict(self) -> Floats:
        base = self._base()
        correction = self._residuals / (self._results + BAND_STRENGTH)
        predictions: Floats = np.clip(base + correction[_band(base)], 0.0, 1.0)
        return predictions

    def learn(self, item: int, score: float) -> None:
        base = self._base()[item]
        band = _band(base)
        self._residuals[band] += score - base
        self._results[band] += 1.0

    def learn_from_another(self, item: int, score: float) -> None:
        """Take up what another configuration scored on an item."""
        self._sums[item] += score
        self._counts[item] += 1.0

    def _base(self) -> Floats:
        total = self._counts.sum()
        overall = self._sums.sum() / total if total else 0.5
        return (self._sums + ITEM_STRENGTH * overall) / (self._counts + ITEM_STRENGTH)


def _band(base: Any) -> Any:
    return np.minimum((np.asarray(base) * BANDS).astype(np.int64), BANDS - 1)


def by_configuration(surrogate: Any, names: Sequence[str]) -> dict[str, Any]:
    """A surrogate for each name, from one for all, a mapping, or one each in the order of the names."""
    if isinstance(surrogate, Mapping):
        unknown = [name for name in surrogate if name not in names]
        if unknown:
            raise ValueError(f"surrogate names {unknown[0]!r}, which is not among configurations")
        return {name: surrogate.get(name) for name in names}
    if _is_sequence_of_surrogates(surrogate):
        if len(surrogate) != len(names):
            raise ValueError(f"surrogate must be one, or one for each of {len(names)}, not {len(surrogate)}")
        return dict(zip(names, surrogate, strict=True))
    return dict.fromkeys(names, surrogate)


def _is_sequence_of_surrogates(surrogate: Any) -> bool:
    if isinstance(surrogate, np.ndarray):
        return surrogate.ndim == 2
    return isinstance(surrogate, (list, tuple)) and any(
        each is None or np.ndim(each) > 0 or hasattr(each, "predict") for each in surrogate
    )
