"""Charts as plain, accessible SVG: a title, a description, and the data in a table beside them on the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from evaluation.selectors import TracePoint

WIDTH, HEIGHT = 720, 300
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 12, 36
MOST_POINTS = 200


@dataclass(frozen=True)
class Band:
    """One configuration's trace: the polygon of its interval and the line of its estimate."""

    name: str
    style: int
    area: str
    line: str


@dataclass(frozen=True)
class Tick:
    at: float
    label: str


def trace_chart(names: Mapping[int, str], points: Mapping[int, Sequence[TracePoint]]) -> SafeString:
    """The intervals of several configurations against the rounds consumed, on the scale from 0 to 1."""
    last = max((line[-1].rounds for line in points.values() if line), default=0)
    bands = [
        _band(names[id_], style, _thinned(line), last)
        for style, (id_, line) in enumerate(points.items())
        if line and id_ in names
    ]
    said = "; ".join(
        f"{names[id_]}: from {line[-1].lower:.2f} to {line[-1].upper:.2f} after {line[-1].rounds} rounds"
        for id_, line in points.items()
        if line and id_ in names
    )
    context = {
        "bands": bands,
        "description": said or "no round is complete yet",
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "bottom": HEIGHT - BOTTOM,
        "middle": (LEFT + WIDTH - RIGHT) / 2,
        "x_ticks": [Tick(_x(last * share, last), f"{last * share:.0f}") for share in (0, 0.25, 0.5, 0.75, 1)]
        if last
        else [],
        "y_ticks": [Tick(_y(value), f"{value:g}") for value in (0, 0.25, 0.5, 0.75, 1)],
    }
    return render_to_string("frontend/parts/trace.svg", context)


def _band(name: str, style: int, line: Sequence[TracePoint], last: int) -> Band:
    upper = [(_x(p.rounds, last), _y(p.upper)) for p in line]
    lower = [(_x(p.rounds, last), _y(p.lower)) for p in line]
    middle = [(_x(p.rounds, last), _y(p.value)) for p in line if p.value is not None]
    return Band(name, style % 6, _points([*upper, *reversed(lower)]), _points(middle))


def _thinned(line: Sequence[TracePoint]) -> Sequence[TracePoint]:
    step = max(1, len(line) // MOST_POINTS)
    return [*line[:-1:step], line[-1]]


def _x(rounds: float, last: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * rounds / max(last, 1)


def _y(value: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value)


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
