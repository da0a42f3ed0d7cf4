"""Numbers as pages show them: with their interval, and with no more digits than it allows."""

import math
from decimal import Decimal
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from evaluation.selectors import Figure

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
    return f"${number:.2f}" if number >= 1 else f"${number:.6f}".rstrip("0")


@register.filter
def rank(ranks: tuple[int, int] | None) -> str:
    """A rank set: one rank, or the first and the last that are possible."""
    if ranks is None:
        return "–"
    return str(ranks[0]) if ranks[0] == ranks[1] else f"{ranks[0]}–{ranks[1]}"


@register.filter
def share(part: int, whole: int) -> str:
    """A percentage; a dash of nothing."""
    return "–" if not whole else f"{100 * part / whole:.0f} %"


@register.simple_tag
def interval_bar(figure: Figure, style: int = 0) -> SafeString:
    """The interval drawn on the scale from 0 to 1; the numbers beside it say the same."""
    lower = 0.0 if figure.lower is None else max(0.0, figure.lower)
    upper = 1.0 if figure.upper is None else min(1.0, figure.upper)
    dot = (
        "" if figure.value is None else format_html('<circle cx="{}" cy="6" r="3.5"/>', f"{2 + 116 * figure.value:.1f}")
    )
    return format_html(
        '<svg class="bar series-{}" viewBox="0 0 120 12" aria-hidden="true">'
        '<line class="rail" x1="2" x2="118" y1="6" y2="6"/>'
        '<line class="reach" x1="{}" x2="{}" y1="6" y2="6"/>{}</svg>',
        style % 6,
        f"{2 + 116 * lower:.1f}",
        f"{2 + 116 * upper:.1f}",
        dot,
    )
