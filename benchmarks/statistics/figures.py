"""Draws the figures of docs/statistics.md: ``python -m benchmarks.statistics.figures``. Fixed seeds, plain SVG."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np

from benchmarks.statistics import peeking
from evaluation.statistics import AdaptiveMean, BettingSequence, DifficultySurrogate, HoeffdingSequence

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "figures" / "statistics"
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 320, 56, 16, 16, 44
COLOURS = ("#2a5db0", "#c2571a", "#2e7d4f", "#7a4fa3")

Line = Sequence[tuple[float, float]]


def _chart(
    lines: dict[str, list[Line]], x: tuple[str, float], y: tuple[str, float, float], legend: int = TOP + 14
) -> str:
    """An SVG of named lines; x is (title, largest value), y is (title, least, largest), legend its height."""
    across, up = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def place(point: tuple[float, float]) -> str:
        horizontal = LEFT + across * point[0] / x[1]
        return f"{horizontal:.1f},{TOP + up * (1 - (point[1] - y[1]) / (y[2] - y[1])):.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif"'
        ' font-size="12" role="img">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT + across / 2:.0f}" y="{HEIGHT - 8}" text-anchor="middle">{escape(x[0])}</text>',
        f'<text transform="translate(14 {TOP + up / 2:.0f}) rotate(-90)" text-anchor="middle">{escape(y[0])}</text>',
    ]
    for k in range(5):
        value = y[1] + (y[2] - y[1]) * k / 4
        height = TOP + up * (1 - k / 4)
        parts.append(f'<path d="M{LEFT} {height:.1f}h{across}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{height + 4:.1f}" text-anchor="end">{value:.2g}</text>')
        parts.append(
            f'<text x="{LEFT + across * k / 4:.1f}" y="{HEIGHT - 26}" text-anchor="middle">{x[1] * k / 4:.0f}</text>'
        )
    for number, (name, drawn) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        for line in drawn:
            parts.append(
                f'<polyline points="{" ".join(place(point) for point in line)}" fill="none" stroke="{colour}"'
                ' stroke-width="1.6"/>'
            )
        parts.append(
            f'<text x="{WIDTH - RIGHT - 6}" y="{legend + 16 * number}" text-anchor="end" fill="{colour}">'
            f"{escape(name)}</text>"
        )
    return "\n".join([*parts, "</svg>", ""])


def intervals() -> str:
    """Bounds on one stream of scores, by two sequences."""
    rng = np.random.default_rng(4)
    sequences: dict[str, BettingSequence | HoeffdingSequence] = {
        "stitched Hoeffding": HoeffdingSequence(),
        "betting": BettingSequence(),
    }
    lines: dict[str, list[list[tuple[float, float]]]] = {name: [[], []] for name in sequences}
    for count, z in enumerate((rng.random(1000) < 0.8).astype(float), start=1):
        for name, sequence in sequences.items():
            sequence.update(float(z))
            for side in (0, 1):
                lines[name][side].append((count, sequence.interval[side]))
    lines["truth"] = [[(0, 0.8), (1000, 0.8)]]
    return _chart(
        {name: list(sides) for name, sides in lines.items()}, ("trials", 1000), ("mean score", 0.0, 1.0), legend=200
    )


def surrogates() -> str:
    """Half-widths with and without a surrogate, with and without repetition, on a made-up pool of 1,000 items."""
    rng = np.random.default_rng(5)
    p = rng.beta(0.7, 0.2, 1000)
    y = (rng.random(1000) < p).astype(float)
    others = (rng.random((1000, 9)) < p[:, None]).astype(float)

    def half_widths(seed: int, *, repeated: bool, known: bool) -> list[float]:
        surrogate = DifficultySurrogate(1000, others) if known else None
        mean = AdaptiveMean(1000, None, 0.05, repeated, surrogate, seed)
        found = []
        for _ in range(600):
            draw = mean.draw()
            assert draw is not None
            mean.record(draw.number, float(rng.random() < p[draw.item]) if repeated else float(y[draw.item]))
            found.append((mean.interval[1] - mean.interval[0]) / 2)
        return found

    lines: dict[str, list[Line]] = {}
    for name, repeated, known in (
        ("repeated", True, False),
        ("once", False, False),
        ("repeated, surrogate", True, True),
        ("once, surrogate", False, True),
    ):
        medians = np.median([half_widths(seed, repeated=repeated, known=known) for seed in range(15)], axis=0)
        lines[name] = [[(k + 1, width) for k, width in enumerate(medians.tolist()) if width <= 0.2]]
    return _chart(lines, ("trials", 600), ("half-width, median of 15 runs", 0.0, 0.2))


def looks() -> str:
    """How the misses of intervals for a fixed size add up over looks."""
    lines: dict[str, list[Line]] = {"Wald": [], "Wilson": []}
    horizons = (30, 60, 120, 250, 500, 1000, 2000)
    rates = [peeking.miss_rates(rounds=horizon, replications=2000) for horizon in horizons]
    for name in lines:
        lines[name] = [[(horizon, rate[name]) for horizon, rate in zip(horizons, rates, strict=True)]]
    lines["promised"] = [[(0, 0.05), (2000, 0.05)]]
    return _chart(
        lines, ("looked at from trial 30 until trial", 2000), ("share of runs that missed", 0.0, 0.6), legend=160
    )


def main() -> None:
    """Write the figures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for figure in (intervals, surrogates, looks):
        (FOLDER / f"{figure.__name__}.svg").write_text(figure(), encoding="utf-8")
        print(f"wrote {figure.__name__}.svg")


if __name__ == "__main__":
    main()
