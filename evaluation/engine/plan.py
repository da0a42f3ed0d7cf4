"""The plan of an evaluation: what is fixed before the first trial and never changes."""

import dataclasses
import math
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from questions.errors import Problem, Refused

# Avoiding the cache needs a way of asking for it that differs by provider.
CACHE_POLICIES = ("allow",)


def _new_seed() -> int:
    return secrets.randbits(48)


@dataclass(frozen=True)
class Plan:
    """Stop rules, budgets and sampling of one evaluation.

    Attributes:
        alpha: two-sided error probability of each configuration's interval, and of all differences together.
        half_width: stop when every configuration's interval is at most this far on either side; None: no such rule.
        max_trials: most trials in all, over every configuration; None: no limit.
        max_cost_usd: most US dollars in all, worst cases of calls in flight included; None: no limit.
        max_seconds: most seconds of running (pauses left out); None: no limit.
        tries: tries per drawn question and configuration; the mean of their scores enters the estimate.
        seed: of the sampler.
        attempt_size: consecutive rounds that make an Attempt.
        retry_deadline_s: seconds after its first call at which a trial that met only faults becomes void.
        stall_timeout_s: seconds without a byte after which a call has failed.
        cache_policy: "allow" the provider its prompt cache, which makes repeated tries cheaper and faster.
    """

    alpha: float = 0.05
    half_width: float | None = 0.1
    max_trials: int | None = None
    max_cost_usd: Decimal | None = None
    max_seconds: float | None = None
    tries: int = 1
    seed: int = field(default_factory=_new_seed)
    attempt_size: int = 25
    retry_deadline_s: float = 300.0
    stall_timeout_s: float = 60.0
    cache_policy: str = "allow"

    def __post_init__(self) -> None:
        problems = [problem for rule in _RULES if (problem := rule(self))]
        if problems:
            raise Refused(*problems)

    def to_json(self) -> dict[str, Any]:
        """The plan as JSON values; money as text, so that no digit is lost."""
        values = dataclasses.asdict(self)
        values["max_cost_usd"] = None if self.max_cost_usd is None else str(self.max_cost_usd)
        return values

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Plan":
        """A plan from outside; raises Refused naming every unknown key, wrong type and impossible value."""
        known = {f.name for f in dataclasses.fields(cls)}
        problems = [
            Problem(f"plan.{name}", str(value), "is not part of a plan", f"Use {', '.join(sorted(known))}.")
            for name, value in values.items()
            if name not in known
        ]
        converted: dict[str, Any] = {}
        for name, value in values.items():
            if name in known:
                try:
                    converted[name] = _converted(name, value)
                except (TypeError, ValueError, InvalidOperation):
                    problems.append(Problem(f"plan.{name}", str(value), "has the wrong type", _EXPECTED[name] + "."))
        if problems:
            raise Refused(*problems)
        return cls(**converted)


_OPTIONAL = {"half_width", "max_trials", "max_cost_usd", "max_seconds"}
_EXPECTED = {
    "alpha": "Give a number between 0 and 1",
    "half_width": "Give a number between 0 and 0.5, or leave it empty",
    "max_trials": "Give a whole number of trials, or leave it empty",
    "max_cost_usd": "Give an amount of US dollars, or leave it empty",
    "max_seconds": "Give a number of seconds, or leave it empty",
    "tries": "Give a whole number from 1 to 100",
    "seed": "Give a whole number from 0 to 2^63 - 1",
    "attempt_size": "Give a whole number of rounds",
    "retry_deadline_s": "Give a number of seconds",
    "stall_timeout_s": "Give a number of seconds",
    "cache_policy": f"Give one of {', '.join(CACHE_POLICIES)}",
}


def _converted(name: str, value: Any) -> Any:
    if value is None and name in _OPTIONAL:
        return None
    if isinstance(value, bool) or value is None:
        raise TypeError
    if name in ("max_trials", "tries", "seed", "attempt_size"):
        if isinstance(value, float) and not value.is_integer():
            raise ValueError
        return int(value)
    if name == "max_cost_usd":
        return Decimal(str(value))
    return str(value) if name == "cache_policy" else float(value)


def _rule(name: str, holds: Callable[[Any], bool], message: str) -> Callable[[Plan], Problem | None]:
    def check(plan: Plan) -> Problem | None:
        value = getattr(plan, name)
        if (value is None and name in _OPTIONAL) or (value is not None and holds(value)):
            return None
        return Problem(f"plan.{name}", str(value), message, _EXPECTED[name] + ".")

    return check


def _positive(value: float) -> bool:
    return math.isfinite(value) and value > 0


def _has_a_stop_rule(plan: Plan) -> Problem | None:
    if any(getattr(plan, name) is not None for name in _OPTIONAL):
        return None
    return Problem(
        "plan",
        "",
        "has no stop rule, so that it would never end",
        "Set half_width, max_trials, max_cost_usd or max_seconds.",
    )


_RULES: tuple[Callable[[Plan], Problem | None], ...] = (
    _rule("alpha", lambda v: 0 < v < 1, "lies outside (0, 1)"),
    _rule("half_width", lambda v: 0 < v < 0.5, "lies outside (0, 0.5)"),
    _rule("max_trials", lambda v: 0 < v < 2**31, "is not a positive number of trials"),
    _rule("max_cost_usd", lambda v: v.is_finite() and v > 0, "is not a positive amount"),
    _rule("max_seconds", _positive, "is not a positive time"),
    _rule("tries", lambda v: 1 <= v <= 100, "lies outside 1 to 100"),
    _rule("seed", lambda v: 0 <= v < 2**63, "lies outside 0 to 2^63 - 1"),
    _rule("attempt_size", lambda v: 1 <= v <= 10_000, "lies outside 1 to 10000"),
    _rule("retry_deadline_s", lambda v: math.isfinite(v) and v >= 0, "is not a time"),
    _rule("stall_timeout_s", _positive, "is not a positive time"),
    _rule("cache_policy", lambda v: v in CACHE_POLICIES, "is not a cache policy"),
    _has_a_stop_rule,
)
