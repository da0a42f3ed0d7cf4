"""A number, with units and tolerances where the task has them."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from evaluation.graders import text
from evaluation.graders.units import comparable, convert, same_unit
from evaluation.graders.verdict import GraderError, Verdict, no_answer, refuse_unknown, typed, verdict

PARAMETERS = ("abs_tol", "rel_tol", "sig_figs", "unit", "unit_required", "same_unit", "percent", "locale")
COMMA_LOCALES = frozenset(
    {"de", "fr", "es", "it", "pt", "nl", "pl", "ru", "tr", "sv", "da", "nb", "no", "fi", "cs", "el"}
)
# Beyond this a power of ten is no measurement; exact arithmetic on it would only cost time.
LARGEST_EXPONENT = 400
LONGEST_NUMBER = 400
LONGEST_SEARCH = 20_000

_SPACES = " \u00a0\u2009\u202f"
_POWER = r"(?:[eE][+-]?\d+|\s?(?:×|x|\*|·|\\times|\\cdot)\s?10\s?(?:\^|\*\*)?\s?\{?[+-]?\d+\}?)?"
_EN = rf"(?:\d{{1,3}}(?:,\d{{3}})+|\d{{1,3}}(?:[{_SPACES}']\d{{3}})+|\d+)(?:\.\d+)?|\.\d+"
_DE = rf"(?:\d{{1,3}}(?:\.\d{{3}})+|\d{{1,3}}(?:[{_SPACES}']\d{{3}})+|\d+)(?:,\d+)?|,\d+"


def _number_pattern(plain_number: str) -> re.Pattern[str]:
    currency = r"[$€£¥₹]?\s?"
    return re.compile(
        rf"(?<![\w.,^])(?P<sign>[+-]\s?)?{currency}(?P<sign2>[+-])?"
        rf"(?:(?P<special>nan|inf(?:inity)?)\b|(?P<whole>\d+)\s+(?P<mixed>\d+\s?/\s?\d+)|"
        rf"(?P<number>(?:{plain_number}){_POWER})(?:\s?/\s?(?P<denominator>\d+(?:\.\d+)?)(?![\w.]*[A-Za-z]))?)(?![\d])",
        re.IGNORECASE,
    )


_PATTERNS = {"en": _number_pattern(_EN), "comma": _number_pattern(_DE)}
_FRACTION = re.compile(r"\\[dt]?frac\s*(?:\{([^{}]*)\}|(\d))\s*(?:\{([^{}]*)\}|(\d))")
_LATEX_NOISE = re.compile(r"\\(?:text|mathrm|mathbf|mbox)\s*\{([^{}]*)\}|\\[,;:! ]|\\(?:left|right|displaystyle)\b|\$")
_UNIT = re.compile(
    r"\s?(?:per\s?cent\b|percent\b|%|[°µμA-Za-zΩÅ‰][°µμA-Za-zΩÅ0-9^*·/²³⁻¹\-]*(?:\s?[/·*]\s?[A-Za-zµμΩ][A-Za-z0-9^]*)*)"
)


@dataclass(frozen=True)
class _Number:
    """A number read from text; ``value`` is None for NaN and for what is too large to be meant."""

    value: Fraction | None
    exact: bool
    unit: str
    percent: bool
    shown: str


class Numeric:
    """Reads one number (boxed, declared, bold, the whole output, else the last) and compares within the tolerance."""

    version = "1.0.0"

    def check_parameters(self, parameters: Mapping[str, Any]) -> None:
        refuse_unknown(parameters, PARAMETERS)
        for name in ("abs_tol", "rel_tol"):
            value = typed(parameters, name, (int, float), None, "a number of at least 0")
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise GraderError(f"parameters.{name}", value, "is not a tolerance", "Give a number of at least 0.")
        figures = typed(parameters, "sig_figs", int, None, "a whole number from 1 to 15")
        if figures is not None and not 1 <= figures <= 15:
            raise GraderError("parameters.sig_figs", figures, "lies outside 1 to 15", "Give significant figures.")
        typed(parameters, "unit_required", bool, False, "true or false")
        typed(parameters, "same_unit", bool, False, "true or false")
        unit = typed(parameters, "unit", str, None, 'a unit such as "mL"')
        if unit is not None and not comparable(unit, unit):
            raise GraderError("parameters.unit", unit, "is not a known unit", 'Give one such as "mL", "mg/L" or "%".')
        for name in ("unit_required", "same_unit"):
            if parameters.get(name) and unit is None:
                raise GraderError(f"parameters.{name}", True, "needs a unit", "Name the unit too.")
        if parameters.get("percent") not in (None, "fraction_or_percent"):
            remedy = 'Give "fraction_or_percent", or leave it out.'
            raise GraderError("parameters.percent", parameters["percent"], "is not a rule for percentages", remedy)
        typed(parameters, "locale", str, "en", 'a language such as "en" or "de"')

    def check_reference(self, reference: str, parameters: Mapping[str, Any]) -> None:
        _reference(reference, *_reading(parameters))

    def grade(self, output: str, references: Sequence[str], parameters: Mapping[str, Any]) -> Verdict:
        said = text.without_reasoning(output)
        if said is None:
            return no_answer("the reasoning was never finished")
        locale, unit = _reading(parameters)
        found = _find(_without_latex(text.plain(said)), _PATTERNS[locale], locale)
        if found is None:
            return no_answer("no number could be made out")
        number, rule = found
        for reference in references:
            expected = _reference(reference, locale, unit)
            if _matches(number, expected, unit, parameters):
                return verdict(True, number.shown, rule, f"{number.shown} agrees with {reference}")
        return verdict(False, number.shown, rule, f"{number.shown} does not agree with {' or '.join(references)}")


def _reading(parameters: Mapping[str, Any]) -> tuple[str, str | None]:
    language = str(parameters.get("locale", "en")).replace("_", "-").split("-")[0].casefold()
    return ("comma" if language in COMMA_LOCALES else "en"), parameters.get("unit")


@lru_cache(maxsize=8192)
def _reference(reference: str, locale: str, unit: str | None) -> _Number:
    """A reference as a number in the declared unit. References are written with a decimal point, in any locale."""
    matches = list(_PATTERNS["en"].finditer(_without_latex(text.plain(reference))))
    if len(matches) != 1:
        remedy = "Give one number, such as 1234.5, with its unit if the task has one."
        raise GraderError("references", reference, "is not one number", remedy)
    number = _number(matches[0], "en")
    if number.value is None:
        raise GraderError(
            "references", reference, "equals nothing, so that no answer could match", "Give a finite number."
        )
    if unit and number.unit and not comparable(number.unit, unit):
        raise GraderError("references", reference, f"is not given in units of {unit}", f"Give it in {unit}.")
    return number


def _find(said: str, pattern: re.Pattern[str], locale: str) -> tuple[_Number, str] | None:
    for rule, region in (
        ("boxed", text.last_boxed(said)),
        ("after ####", text.after_marker(said)),
        ("declared", text.declared(said)),
    ):
        if region is not None and (match := pattern.search(region[:LONGEST_SEARCH])):
            return _number(match, locale), rule
    whole = text.unmarked(said).rstrip(" .!")
    if len(whole) <= LONGEST_NUMBER and (match := pattern.match(whole)) and _is_all(match, whole):
        return _number(match, locale), "whole output"
    tail = said[-LONGEST_SEARCH:]
    bold = re.findall(r"\*\*([^*\n]{1,80})\*\*", tail)
    for part in reversed(bold):
        if match := pattern.search(part):
            return _number(match, locale), "bold"
    numbers = list(pattern.finditer(tail))
    return (_number(numbers[-1], locale), "last number") if numbers else None


def _is_all(match: re.Match[str], whole: str) -> bool:
    rest = _UNIT.sub("", whole[match.end() :], count=1).strip(" .!€$£¥₹")
    return not rest


def _number(match: re.Match[str], locale: str) -> _Number:
    following = match.string[match.end() : match.end() + 40]
    unit_match = _UNIT.match(following)
    unit = unit_match[0].strip() if unit_match else ""
    percent = unit.startswith("%") or unit.casefold().replace(" ", "") == "percent"
    negative = "-" in (match["sign"] or "") or match["sign2"] == "-"
    shown = (match[0] + (unit_match[0] if unit_match else "")).strip()[:LONGEST_NUMBER]
    value, exact = _value(match, locale)
    if value is not None and negative:
        value = -value
    return _Number(value, exact, "%" if percent else unit, percent, shown)


def _value(match: re.Match[str], locale: str) -> tuple[Fraction | None, bool]:
    if match["special"]:
        return None, False
    try:
        if match["mixed"]:
            return Fraction(match["whole"]) + Fraction(re.sub(r"\s", "", match["mixed"])), True
        value, exact = _decimal(match["number"], locale)
        if value is not None and match["denominator"]:
            return value / Fraction(match["denominator"]), True
        return value, exact
    except (ZeroDivisionError, ValueError):
        return None, False


def _decimal(number: str, locale: str) -> tuple[Fraction | None, bool]:
    """Value, and whether it is written without a decimal point, so that it is meant exactly."""
    if len(number) > LONGEST_NUMBER:
        return None, False
    parts = re.split(r"[eE]|\s?(?:×|x|\*|·|\\times|\\cdot)\s?10", number, maxsplit=1)
    mantissa = re.sub(rf"[{_SPACES}']", "", parts[0])
    mantissa = mantissa.replace(".", "").replace(",", ".") if locale == "comma" else mantissa.replace(",", "")
    exponent = int(re.sub(r"[^\d-]", "", parts[1])) if len(parts) == 2 else 0
    if abs(exponent) > LARGEST_EXPONENT:
        return None, False
    return Fraction(mantissa) * Fraction(10) ** exponent, "." not in mantissa and exponent >= 0


def _matches(number: _Number, expected: _Number, unit: str | None, parameters: Mapping[str, Any]) -> bool:
    value, target = number.value, expected.value
    if value is None or target is None:
        return False
    if unit is not None:
        if parameters.get("same_unit", False) and number.unit and not same_unit(number.unit, unit):
            return False  # where converting is the work, the quantity as it was given is no answer
        converted = _in_unit(number, unit, bool(parameters.get("unit_required", False)))
        aim = _in_unit(expected, unit, False)
        if converted is None or aim is None:
            return False
        value, target = converted, aim
    elif number.percent != expected.percent and parameters.get("percent") == "fraction_or_percent":
        value, target = (value / 100, target) if number.percent else (value, target / 100)
    return _close(value, target, number.exact and expected.exact, parameters)


def _in_unit(number: _Number, unit: str, required: bool) -> Fraction | None:
    """The number in the declared unit; None for another dimension, or where a unit is required and absent."""
    assert number.value is not None
    if not number.unit:
        return None if required else number.value
    if not comparable(number.unit, unit):
        # Words that follow a number without being a unit ("12 apples") leave it as it is, unless a unit is due.
        return None if required or comparable(number.unit, number.unit) else number.value
    return convert(number.value, number.unit, unit)


def _close(value: Fraction, target: Fraction, exact: bool, parameters: Mapping[str, Any]) -> bool:
    if value == target:
        return True
    figures = parameters.get("sig_figs")
    if figures is not None:
        return _rounded(value, figures) == _rounded(target, figures)
    relative, absolute = parameters.get("rel_tol"), parameters.get("abs_tol")
    if relative is None and absolute is None:
        if exact:
            return False
        relative = 1e-9  # what conversion of units and decimal fractions may lose
    allowed = max(Fraction(absolute or 0), Fraction(relative or 0) * abs(target))
    # Tolerances are binary fractions of decimal numbers: 0.1 off by 0.1 is within 0.1.
    return abs(value - target) <= allowed * (1 + Fraction(1, 10**12))


def _rounded(value: Fraction, figures: int) -> str:
    return f"{float(value):.{figures - 1}e}"


def _without_latex(said: str) -> str:
    if "\\" not in said and "$" not in said:
        return said
    said = _FRACTION.sub(lambda m: f"{m[1] or m[2]}/{m[3] or m[4]}", said)
    said = re.sub(r",\\!\s*", ",", said)  # a thousands comma with its space taken back
    said = said.replace("{,}", ",").replace("\\%", "%").replace("\\$", "$")
    return _LATEX_NOISE.sub(lambda m: m[1] or (m[0] if m[0] == "$" else ""), said)
