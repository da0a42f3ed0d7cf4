"""One trial from its first call to its verdict: calls, waiting, faults and grading, without any database.

Which event counts as what is the table of design.md section 4. Time spent in failed calls and in waiting is kept apart
from the latency of the call that succeeded.
"""

import asyncio
import dataclasses
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import httpx

from evaluation import pricing
from evaluation.engine.lag import LagMonitor
from evaluation.graders import Verdict, grade
from evaluation.models import Outcome
from evaluation.providers import Answer, CallFailed, ConfigurationRejected, Provider, Request, Usage

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 30.0
# Graders that may think for long get a thread, so that the clock of other calls goes on.
SLOW_GRADERS = frozenset({"math", "sql", "regex"})


@dataclass(frozen=True)
class Item:
    """What a suite's item asks and how its answers are graded."""

    messages: Sequence[Mapping[str, Any]]
    references: Sequence[str]
    grader_kind: str
    grader_parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Target:
    """A configuration as it is called."""

    id: int
    name: str
    provider: Provider
    endpoint: str
    model: str
    preamble: Sequence[Mapping[str, Any]]
    decoding: Mapping[str, Any]
    reasoning_effort: str
    time_limit_s: float | None
    prices: Mapping[str, Any] | None
    concurrency: int
    key: str = field(repr=False)

    def request(self, item: Item) -> Request:
        return Request(
            endpoint=self.endpoint,
            model=self.model,
            messages=[dict(message) for message in (*self.preamble, *item.messages)],
            decoding=dict(self.decoding),
            reasoning_effort=self.reasoning_effort,
            key=self.key,
        )

    def worst_cost(self, item: Item) -> Decimal | None:
        """The most that one call for this item can cost in US dollars; None if nothing bounds it."""
        messages = (*self.preamble, *item.messages)
        return pricing.worst_cost(self.prices, messages, self.decoding.get("max_tokens"))


@dataclass(frozen=True, order=True)
class Key:
    """Which trial: unique within an evaluation."""

    round_number: int
    configuration_id: int
    try_number: int


@dataclass(frozen=True)
class Result:
    """All that is recorded of one trial; ``verdict`` is None if and only if it is void."""

    key: Key
    outcome: Outcome
    verdict: Verdict | None
    text: str = ""
    fault: str = ""
    finish_reason: str = ""
    returned_model: str = ""
    usage: Usage = field(default_factory=Usage)
    cost: Decimal | None = None
    first_token_s: float | None = None
    latency_s: float | None = None
    queue_s: float | None = None
    retry_s: float = 0.0
    loop_lag_s: float | None = None
    failed_calls: Mapping[str, int] = field(default_factory=dict)
    cost_failed: Decimal = Decimal(0)


class GraderFailed(Exception):
    """The grader broke on an answer, which is kept in ``ungraded``."""

    def __init__(self, ungraded: Result, error: Exception) -> None:
        self.ungraded = ungraded
        super().__init__(f"{type(error).__name__}: {error}")


@dataclass
class _Spent:
    """What failed calls have cost so far."""

    faults: Counter[str] = field(default_factory=Counter)
    money: Decimal = Decimal(0)


@dataclass(frozen=True)
class _LastCall:
    """How the calls of a trial ended; times are of ``time.perf_counter``."""

    outcome: Outcome
    answer: Answer
    fault: str
    first_called_at: float
    called_at: float


# Asks whether a budget of money allows one more call of this worst case, after one that may have to be paid.
Permit = Callable[[Decimal | None], Awaitable[bool]]


async def ask(
    client: httpx.AsyncClient,
    *,
    key: Key,
    target: Target,
    item: Item,
    slots: asyncio.Semaphore,
    drawn_at: float,
    retry_deadline_s: float,
    permit: Permit,
    lag: LagMonitor,
) -> Result:
    """Ask until there is an answer or the deadline has passed, then grade.

    Raises ConfigurationRejected where asking again is of no use, and GraderFailed.
    """
    spent = _Spent()
    call = await _call_until_answered(client, target, item, slots, spent, retry_deadline_s, permit)
    answer, outcome = call.answer, call.outcome
    return await graded(
        Result(
            key=key,
            outcome=outcome,
            verdict=None,
            text=answer.text,
            fault=call.fault,
            finish_reason=answer.finish_reason,
            returned_model=answer.returned_model,
            usage=answer.usage,
            cost=pricing.cost(target.prices, answer.usage) if outcome != Outcome.VOID else None,
            first_token_s=answer.first_token_s,
            latency_s=answer.latency_s if outcome != Outcome.VOID else None,
            queue_s=call.first_called_at - drawn_at,
            retry_s=call.called_at - call.first_called_at,
            loop_lag_s=lag.worst_since(call.called_at),
            failed_calls=dict(spent.faults),
            cost_failed=spent.money,
        ),
        item,
    )


async def graded(result: Result, item: Item) -> Result:
    """The result with its verdict; a void has none. Raises GraderFailed when the grader breaks twice."""
    if result.outcome == Outcome.VOID:
        return result
    try:
        return _with_verdict(result, await _grade(result.text, item))
    except Exception:
        # Once more: a helper process of a grader may have died in between.
        try:
            return _with_verdict(result, await _grade(result.text, item))
        except Exception as error:
            raise GraderFailed(result, error) from error


async def _call_until_answered(
    client: httpx.AsyncClient,
    target: Target,
    item: Item,
    slots: asyncio.Semaphore,
    spent: _Spent,
    retry_deadline_s: float,
    permit: Permit,
) -> _LastCall:
    """Call with waits in between, which hold no slot, until an answer, the deadline or the end of the money."""
    request = target.request(item)
    first_called_at: float | None = None
    attempt = 0
    while True:
        async with slots:
            called_at = time.perf_counter()
            first_called_at = first_called_at or called_at
            try:
                async with asyncio.timeout(target.time_limit_s):
                    answer = await target.provider.complete(client, request)
                return _LastCall(outcome_of(answer), answer, "", first_called_at, called_at)
            except TimeoutError:
                waited = time.perf_counter() - called_at
                return _LastCall(Outcome.TOO_SLOW, _no_answer(waited), "", first_called_at, called_at)
            except ConfigurationRejected:
                raise
            except CallFailed as caught:
                failure = caught
        spent.faults[failure.fault] += 1
        allowed = True
        if failure.billable:
            worst = target.worst_cost(item)
            spent.money += worst or Decimal(0)
            allowed = await permit(worst)
        wait = waiting_time(attempt, failure.retry_after_s)
        attempt += 1
        if not allowed or time.perf_counter() + wait > first_called_at + retry_deadline_s:
            return _LastCall(Outcome.VOID, _no_answer(), failure.fault, first_called_at, called_at)
        await asyncio.sleep(wait)


def waiting_time(attempt: int, retry_after_s: float | None) -> float:
    """Seconds before the next call: what the provider asks for, else exponential back-off with jitter."""
    if retry_after_s is not None:
        # A little apart, so that all who were turned away do not come back at once.
        return retry_after_s * random.uniform(1.0, 1.1)  # noqa: S311 - spreads load, guards nothing
    return random.uniform(0.5, 1.0) * min(LONGEST_WAIT_S, FIRST_WAIT_S * 2.0**attempt)  # noqa: S311


def outcome_of(answer: Answer) -> Outcome:
    """What a call that succeeded says of the configuration."""
    if answer.refused:
        return Outcome.REFUSED
    if answer.finish_reason in ("length", "max_tokens"):
        return Outcome.CUT
    if not answer.text.strip():
        return Outcome.EMPTY
    return Outcome.ANSWERED


def _no_answer(latency_s: float = 0.0) -> Answer:
    return Answer("", "", "", Usage(), None, latency_s)


async def _grade(text: str, item: Item) -> Verdict:
    if item.grader_kind in SLOW_GRADERS:
        return await asyncio.to_thread(_verdict, text, item)
    return _verdict(text, item)


def _verdict(text: str, item: Item) -> Verdict:
    return grade(
        item.grader_kind, output=text, references=list(item.references), parameters=dict(item.grader_parameters)
    )


def _with_verdict(result: Result, verdict: Verdict) -> Result:
    return dataclasses.replace(result, verdict=verdict)
