"""What pages say in words of what the code keeps in fields."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.leaderboard import Row

PLAN_WORDS = {
    "half_width": "Stops when every interval is within ±",
    "max_trials": "Most trials",
    "max_cost_usd": "Most US dollars",
    "max_seconds": "Most seconds of running",
    "alpha": "Chance that an interval is ever wrong (α)",
    "tries": "Tries at each drawn question",
    "attempt_size": "Rounds in an attempt",
    "retry_deadline_s": "Seconds of retries before a trial is void",
    "stall_timeout_s": "Seconds without a byte before a call has failed",
    "cache_policy": "Prompt caching at the provider",
    "seed": "Seed of the draws",
}


def plan_in_words(plan: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The plan's fields, the stop rules first; fields that have no words of their own keep their names."""
    names = [*(name for name in PLAN_WORDS if name in plan), *(name for name in plan if name not in PLAN_WORDS)]
    return [(PLAN_WORDS.get(name, name), in_words(plan[name])) for name in names]


def in_words(value: Any) -> str:
    """A JSON value as a person would write it."""
    if value is None or value == "" or value == [] or value == {}:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {in_words(part)}" for name, part in value.items())
    if isinstance(value, list):
        return ", ".join(in_words(part) for part in value)
    return str(value)


def disclosure_in_words(disclosure: Mapping[str, Any], undisclosed: Sequence[str]) -> list[tuple[str, str]]:
    """The fields of a configuration; one that is kept back says so rather than look empty."""
    return [
        (name.replace("_", " "), "not disclosed" if name in undisclosed else in_words(value))
        for name, value in disclosure.items()
        if name != "undisclosed_fields"
    ]


def top_of(ranked: Sequence[Row]) -> str:
    """Who leads, or that the evidence does not say; "" where fewer than two are ranked."""
    leaders = [row for row in ranked if row.rank is not None and row.rank[0] == 1]
    if len(ranked) < 2 or not leaders:
        return ""
    names = _listed([row.configuration.name for row in leaders])
    if len(leaders) > 1:
        return f"Not distinguishable at the top: {names}. Nobody is certified better than any of them."
    if leaders[0].rank == (1, 1):
        return f"{names} is certified better than every other ranked configuration."
    return f"Nobody is certified better than {names}, which is not certified better than all the others."


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
