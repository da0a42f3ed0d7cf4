"""Charts as plain, accessible SVG: a title, a description in words, and the data beside them as a file."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from evaluation.selectors import TracePoint

WIDTH, HEIGHT = 720, 300
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 12, 36
MOST_POINTS = 200
MOST_TICKS = 6
STYLES = 6


@dataclass(frozen=True)
class Line:
    """What is drawn of one configuration; its style is also that of its legend and of its bar in tables."""

    name: str
    position: int
    points: Sequence[TracePoint]

    @property
    def style(self) -> int:
        return self.position % STYLES

    @property
    def last(self) -> TracePoint:
        return self.points[-1]


@dataclass(frozen=True)
class Band:
    """A line in the chart's coordinates: the polygon of its interval and the polyline of its estimate."""

    style: int
    area: str
    line: str


@dataclass(frozen=True)
class Tick:
    at: float
    label: str


def trace_chart(lines: Sequence[Line]) -> SafeString:
    """The intervals of several configurations against the rounds consumed, on the scale from 0 to 1.

    Every line has at least one point.
    """
    last = max((line.last.rounds for line in lines), default=0)
    said = "; ".join(
        f"{line.name}: from {line.last.lower:.2f} to {line.last.upper:.2f} after {line.last.rounds} rounds"
        for line in lines
    )
    context = {
        "bands": [_band(line, last) for line in lines],
        "description": said or "no round is complete yet",
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "bottom": HEIGHT - BOTTOM,
        "middle": (LEFT + WIDTH - RIGHT) / 2,
        "x_ticks": [Tick(_x(rounds, last), str(rounds)) for rounds in round_ticks(last)],
        "y_ticks": [Tick(_y(value), f"{value:g}") for value in (0, 0.25, 0.5, 0.75, 1)],
    }
    return render_to_string("frontend/parts/trace.svg", context)


def round_ticks(last: int) -> list[int]:
    """Whole numbers from 0 to at most ``last``, a step of 1, 2 or 5 times a power of ten apart."""
    if last <= 0:
        return []
    power = 10 ** max(0, math.floor(math.log10(last / MOST_TICKS)))
    steps = (factor * power for factor in (1, 2, 5, 10, 20))
    step = next(step for step in steps if last / step <= MOST_TICKS)
    return list(range(0, last + 1, step))


def _band(line: Line, last: int) -> Band:
    shown = _thinned(line.points)
    upper = [(_x(p.rounds, last), _y(p.upper)) for p in shown]
    lower = [(_x(p.rounds, last), _y(p.lower)) for p in shown]
    middle = [(_x(p.rounds, last), _y(p.value)) for p in shown if p.value is not None]
    return Band(line.style, _points([*upper, *reversed(lower)]), _points(middle))


def _thinned(points: Sequence[TracePoint]) -> Sequence[TracePoint]:
    step = max(1, math.ceil(len(points) / MOST_POINTS))
    return [*points[:-1:step], points[-1]]


def _x(rounds: float, last: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * rounds / max(last, 1)


def _y(value: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value)


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
