"""Tables and live progress in a terminal."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from evaluation.models import Evaluation
    from evaluation.selectors import Difference, Figure, Progress, Standing

BAR_WIDTH = 32


def figure(value: Figure, *, digits: int = 2, unit: str = "") -> str:
    """A value with its bounds; a dash for what is unknown."""
    if value.value is None:
        return "–"
    upper = "∞" if value.upper is None else f"{value.upper:.{digits}f}"
    bounds = "" if value.lower is None else f" [{value.lower:.{digits}f}, {upper}]"
    return f"{value.value:.{digits}f}{unit}{bounds}"


def money(amount: Decimal | None) -> str:
    """US dollars; what is unknown is said to be."""
    if amount is None:
        return "unknown"
    return "free" if amount == 0 else f"${amount:.6f}".rstrip("0").rstrip(".")


def interval_bar(value: Figure, width: int = BAR_WIDTH) -> Text:
    """The interval drawn on [0, 1]."""
    lower = 0.0 if value.lower is None else value.lower
    upper = 1.0 if value.upper is None else value.upper
    first, last = round(lower * (width - 1)), round(upper * (width - 1))
    cells = ["━" if first <= index <= last else "·" for index in range(width)]
    if value.value is not None:
        cells[min(max(round(value.value * (width - 1)), 0), width - 1)] = "●"
    return Text("".join(cells))


def live(evaluation: Evaluation, progress: Progress, standings: list[Standing]) -> RenderableType:
    """What a running evaluation shows."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("configuration", "0" + " " * (BAR_WIDTH - 2) + "1", "score", "±"):
        table.add_column(heading)
    for standing in sorted(standings, key=lambda s: s.entry.position):
        half = standing.score.half_width
        table.add_row(
            standing.configuration.name,
            interval_bar(standing.score),
            "–" if standing.score.value is None else f"{standing.score.value:.2f}",
            "–" if half is None else f"{half:.2f}",
        )
    bar = ProgressBar(total=progress.planned_trials or 100, completed=progress.trials, width=40)
    return Group(table, Text(), bar, Text(progress_line(progress)))


def progress_line(progress: Progress) -> str:
    """One line: trials, rounds, precision, cost, speed, time left."""
    planned = f" of about {progress.planned_trials}" if progress.planned_trials else ""
    parts = [f"{progress.trials}{planned} trials", f"{progress.rounds_consumed} rounds"]
    if progress.widest_half_width is not None and progress.target_half_width is not None:
        parts.append(f"± {progress.widest_half_width:.3f} (goal {progress.target_half_width:g})")
    parts.append(
        "cost " + (f"unknown for {progress.cost_unknown} trials" if progress.cost_unknown else money(progress.cost))
    )
    if progress.calls_per_second is not None:
        parts.append(f"{progress.calls_per_second:.1f} calls/s")
    if progress.seconds_left is not None:
        parts.append(f"about {progress.seconds_left:.0f} s left")
    if progress.failed_calls:
        parts.append("retried: " + ", ".join(f"{n}× {fault}" for fault, n in sorted(progress.failed_calls.items())))
    return " · ".join(parts)


def results(standings: list[Standing]) -> RenderableType:
    """The tables at the end: how good, and at what price and speed."""
    tries = standings[0].tries if standings else 1
    quality = _table("How good", "rank", "configuration", "score", f"pass^{tries}", "trials", "void", "cut", "refused")
    effort = _table("At what price and speed", "configuration", "per correct", "latency", "first token", "tokens")
    for standing in standings:
        entry = standing.entry
        quality.add_row(
            ranks(standing.rank),
            standing.configuration.name,
            figure(standing.score),
            figure(standing.all_right or standing.score),
            *(str(count) for count in (standing.trials, entry.void, entry.cut, entry.refused)),
        )
        effort.add_row(
            standing.configuration.name,
            money(standing.cost_per_correct),
            figure(standing.latency_median_s, unit=" s"),
            figure(standing.first_token_median_s, unit=" s"),
            _tokens(standing),
        )
    note = Text("In brackets: the interval that holds at every look. Latencies are medians.", style="dim")
    return Group(quality, Text(), effort, note)


def _table(title: str, *headings: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0))
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def ranks(rank: tuple[int, int] | None) -> str:
    """A rank set: one rank, or the first and last possible."""
    if rank is None:
        return "–"
    return str(rank[0]) if rank[0] == rank[1] else f"{rank[0]}–{rank[1]}"


def difference_line(difference: Difference) -> str:
    """A pair in words."""
    shown = figure(difference.figure)
    said = "certified" if difference.certified else "not distinguishable"
    return f"{difference.first.name} − {difference.second.name}: {shown}  {said}"


def result_json(evaluation: Evaluation, standings: list[Standing], conclusion: str) -> dict[str, Any]:
    """The result for machines."""
    return {
        "evaluation": str(evaluation.pk),
        "status": evaluation.status,
        "stop_reason": evaluation.stop_reason,
        "conclusion": conclusion,
        "standings": [
            {
                "configuration": standing.configuration.name,
                "score": standing.score.__dict__,
                "rank": standing.rank,
                "trials": standing.trials,
                "rounds": standing.rounds,
                "void": standing.entry.void,
                "cost": None if standing.cost is None else str(standing.cost),
                "latency_median_s": standing.latency_median_s.value,
            }
            for standing in standings
        ],
    }


def _tokens(standing: Standing) -> str:
    if standing.tokens_input_mean is None or standing.tokens_output_mean is None:
        return "unknown"
    return f"{standing.tokens_input_mean:.0f}/{standing.tokens_output_mean:.1f}"
