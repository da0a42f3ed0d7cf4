"""Numbers as pages show them: with their interval, and with no more digits than it allows."""

import math
from decimal import Decimal
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from evaluation.selectors import Figure, Standing
from frontend.charts import STYLES

register = template.Library()


def digits_for(figure: Figure) -> int:
    """Digits after the point that the interval allows: one beyond its half-width's first."""
    if figure.half_width is None or figure.half_width <= 0:
        return 2
    return min(4, max(0, 1 - math.floor(math.log10(figure.half_width))))


@register.filter
def value(figure: Figure) -> str:
    """The value alone; a dash for what is unknown."""
    return "–" if figure.value is None else f"{figure.value:.{digits_for(figure)}f}"


@register.filter
def bounds(figure: Figure) -> str:
    """The bounds in words that can be read aloud."""
    if figure.lower is None:
        return ""
    digits = digits_for(figure)
    upper = "unknown" if figure.upper is None else f"{figure.upper:.{digits}f}"
    return f"{figure.lower:.{digits}f} to {upper}"


@register.filter
def money(amount: Any) -> str:
    """US dollars; what is unknown is said to be, and never shown as zero."""
    if amount is None:
        return "unknown"
    number = Decimal(amount)
    if number == 0:
        return "free"
    # Two figures of what is less than a dollar: the first two that are not zero, wherever they stand.
    digits = 2 if number >= 1 else 1 - number.adjusted()
    return f"${number:.{digits}f}"


@register.filter
def rank(ranks: tuple[int, int] | None) -> str:
    """A rank set: one rank, or the first and the last that are possible."""
    if ranks is None:
        return "–"
    return str(ranks[0]) if ranks[0] == ranks[1] else f"{ranks[0]}–{ranks[1]}"


@register.filter
def share(part: int, whole: int) -> str:
    """A percentage; a dash of nothing; what is there is never rounded to nothing."""
    if not whole:
        return "–"
    return "under 1 %" if 0 < 100 * part < whole else f"{100 * part / whole:.0f} %"


@register.filter
def mishaps(standing: Standing) -> list[str]:
    """What went wrong with a configuration's trials, in words; voids are of all trials, the others of the answers."""
    entry, answered = standing.entry, standing.answered
    counts = [
        (entry.void, standing.trials, "void"),
        (entry.cut, answered, "cut"),
        (entry.refused, answered, "refused"),
        (entry.empty, answered, "empty"),
        (entry.too_slow, answered, "too slow"),
        (entry.no_answer, answered, "without an answer"),
    ]
    return [f"{share(count, whole)} {name}" for count, whole, name in counts if count]


@register.simple_tag
def interval_bar(figure: Figure, style: int = 0) -> SafeString:
    """The interval drawn on the scale from 0 to 1; the numbers beside it say the same."""
    return _bar(figure, 0.0, f"series-{style % STYLES}", SafeString(""))


@register.simple_tag
def difference_bar(figure: Figure) -> SafeString:
    """The interval of a difference on the scale from -1 to 1, with a mark at zero, in one colour for all."""
    return _bar(figure, -1.0, "difference", SafeString('<line class="zero" x1="60" x2="60" y1="0" y2="12"/>'))


def _bar(figure: Figure, least: float, style: str, mark: SafeString) -> SafeString:
    """A bar from ``least`` to 1; unknown bounds reach to the ends."""

    def at(number: float) -> str:
        return f"{2 + 116 * (min(max(number, least), 1.0) - least) / (1.0 - least):.1f}"

    dot = "" if figure.value is None else format_html('<circle cx="{}" cy="6" r="3.5"/>', at(figure.value))
    return format_html(
        '<svg class="bar {}" viewBox="0 0 120 12" aria-hidden="true">'
        '<line class="rail" x1="2" x2="118" y1="6" y2="6"/>{}'
        '<line class="reach" x1="{}" x2="{}" y1="6" y2="6"/>{}</svg>',
        style,
        mark,
        at(least if figure.lower is None else figure.lower),
        at(1.0 if figure.upper is None else figure.upper),
        dot,
    )
