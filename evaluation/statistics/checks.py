"""Checks of what comes from outside: a ValueError names the argument and the value."""

import math
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def probability(name: str, value: float) -> float:
    """A number strictly between 0 and 1."""
    if not (isinstance(value, Real) and 0.0 < value < 1.0):
        raise ValueError(f"{name} must lie in (0, 1), not {value!r}")
    return float(value)


def finite(name: str, value: float) -> float:
    """A finite number, as a float."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number, not {value!r}")
    return number


def ordered(name: str, lower: float, upper: float) -> tuple[float, float]:
    """Two finite numbers, the first below the second."""
    low, high = finite(f"lower end of {name}", lower), finite(f"upper end of {name}", upper)
    if not low < high:
        raise ValueError(f"{name} must run from a lower to a higher number, not from {lower!r} to {upper!r}")
    return low, high


def whole(name: str, value: int, least: int) -> int:
    """A whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, not {value!r}")
    return int(value)


def pool_weights(weights: ArrayLike | None, size: int) -> Floats:
    """``size`` positive weights that sum to one; equal ones for None."""
    if weights is None:
        return np.full(size, 1.0 / size)
    array = _array("weights", weights)
    if array.shape != (size,):
        raise ValueError(f"weights must be {size} numbers, not an array of shape {array.shape}")
    if not np.all(np.isfinite(array)) or np.any(array <= 0):
        bad = array[~(np.isfinite(array) & (array > 0))][0]
        raise ValueError(f"weights must be positive and finite, not {bad!r}")
    total = float(array.sum())
    if abs(total - 1.0) > 1e-9:
        raise ValueError(f"weights must sum to 1, not to {total!r}")
    return array / total


def unit_array(name: str, values: ArrayLike, size: int) -> Floats:
    """``size`` numbers in [0, 1]."""
    array = _array(name, values)
    if array.shape != (size,):
        raise ValueError(f"{name} must be {size} numbers, not an array of shape {array.shape}")
    inside = (array >= 0.0) & (array <= 1.0)
    if not inside.all():
        raise ValueError(f"{name} must lie in [0, 1], not {array[~inside][0]!r}")
    return array


def _array(name: str, values: ArrayLike) -> Floats:
    """A copy, so that what the caller does with theirs changes nothing."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, not {values!r}") from None
