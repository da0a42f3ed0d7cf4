"""Units by pint, with what is asked twice remembered."""

from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

_SPELLINGS = {"%": "percent", "‰": "permille", "℃": "degC", "°C": "degC", "°F": "degF", "Å": "angstrom"}


@cache
def _registry() -> Any:
    import pint  # takes a third of a second, and many tasks have no units

    return pint.UnitRegistry(autoconvert_offset_to_baseunit=True, cache_folder=None)


@lru_cache(maxsize=4096)
def _unit(name: str) -> Any:
    """pint's unit, or None for what is none."""
    spelled = _SPELLINGS.get(name.strip(), name.strip()).rstrip(".")
    # NFKC makes a Greek mu of the micro sign; both mean a millionth.
    spelled = spelled.replace("μ", "µ").replace("·", "*").replace("−", "-")
    if not spelled or len(spelled) > 40:
        return None
    try:
        return _registry().Unit(spelled)
    except Exception:  # pint raises a dozen kinds of error for what it cannot read
        return None


@lru_cache(maxsize=8192)
def comparable(unit: str, other: str) -> bool:
    """Whether both are units of the same dimension."""
    first, second = _unit(unit), _unit(other)
    return first is not None and second is not None and first.dimensionality == second.dimensionality


@lru_cache(maxsize=8192)
def same_unit(unit: str, other: str) -> bool:
    """Whether both name one unit, however they are spelled."""
    return unit == other or (comparable(unit, other) and _unit(unit) == _unit(other))


@lru_cache(maxsize=8192)
def _factor(unit: str, target: str) -> Fraction | None:
    """What to multiply with; None for scales with an offset, such as degrees."""
    registry = _registry()
    zero = registry.Quantity(0.0, _unit(unit)).to(_unit(target)).magnitude
    if zero != 0.0:
        return None
    return Fraction(registry.Quantity(1.0, _unit(unit)).to(_unit(target)).magnitude).limit_denominator(10**15)


def convert(value: Fraction, unit: str, target: str) -> Fraction:
    """The value in another, comparable unit."""
    if unit == target:
        return value
    factor = _factor(unit, target)
    if factor is not None:
        return value * factor
    return Fraction(_registry().Quantity(float(value), _unit(unit)).to(_unit(target)).magnitude)
