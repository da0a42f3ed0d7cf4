"""A worker's loop over one evaluation: keep calls in flight and commit what arrives, until it or the turn ends."""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from typing import Any, TypeVar

import httpx
from django.db import DatabaseError, InterfaceError, connection

from evaluation.engine.asking import GraderFailed, Item, Key, Result, Target, ask, graded
from evaluation.engine.lag import LagMonitor
from evaluation.engine.recording import ZERO, Assignment, Committed, News, Recorder
from evaluation.models import EvaluationStatus
from evaluation.providers import ConfigurationRejected
from evaluation.providers.client import open_client

log = logging.getLogger(__name__)
T = TypeVar("T")

# Rounds kept open beyond what fills all slots, so that a slot never waits for the next commit.
SPARE = 2.0
# Commits are at least this far apart, so that a fast provider's answers share one.
COMMIT_INTERVAL_S = 0.05
# A database that restarts is waited for; the answers are kept in memory meanwhile.
DATABASE_PATIENCE_S = 120.0


@dataclass
class Turn:
    """When a worker's turn at an evaluation is over: asked between commits, where the database may be read."""

    # True when the worker is to stop, or others wait and this turn was long enough.
    is_over: Callable[[], bool]
    heartbeat_s: float


@dataclass
class _InFlight:
    """What the calls in flight have in common."""

    client: httpx.AsyncClient
    slots: Mapping[str, asyncio.Semaphore]
    lag: LagMonitor
    tasks: dict[asyncio.Task[Result], Key] = field(default_factory=dict)
    awakened: asyncio.Event = field(default_factory=asyncio.Event)


class Runner:
    """Runs one evaluation until it ends, pauses or the worker's turn is over."""

    def __init__(
        self,
        *,
        recorder: Recorder,
        items: Sequence[Item],
        targets: Mapping[int, Target],
        kept_answers: Mapping[Key, Result],
        allow_local: bool,
        turn: Turn,
    ) -> None:
        self._recorder = recorder
        self._items = items
        self._targets = targets
        self._kept_answers = dict(kept_answers)
        self._allow_local = allow_local
        self._turn = turn
        self._plan = recorder.plan
        # One thread, so that all commits use one connection and follow each other.
        self._database = ThreadPoolExecutor(max_workers=1, thread_name_prefix="commit")

    async def run(self) -> str:
        """The status in which the evaluation was left."""
        try:
            async with (
                open_client(stall_timeout_s=self._plan.stall_timeout_s, allow_local=self._allow_local) as client,
                LagMonitor() as lag,
            ):
                return await self._run(_InFlight(client, self._slots(), lag))
        finally:
            await self._in_database(self._recorder.release)
            await self._in_database(_disconnect)
            self._database.shutdown()

    async def _run(self, flight: _InFlight) -> str:
        open_rounds = self._open_rounds()
        news = News()
        while True:
            committed_at = time.monotonic()
            committed = await self._commit(news, open_rounds)
            if committed.status != EvaluationStatus.RUNNING:
                await self._abandon(flight)
                return committed.status
            for assignment in committed.assignments:
                self._begin(flight, assignment)
            if await self._in_database(self._turn.is_over):
                await self._hand_over(flight)
                return committed.status
            await self._wait_for_news(flight, committed_at)
            news = self._collect(flight)

    async def _commit(self, news: News, open_rounds: int) -> Committed:
        """Commit, waiting for a database that is away; what is in flight goes on meanwhile."""
        given_up_at = time.monotonic() + DATABASE_PATIENCE_S
        while True:
            try:
                return await self._in_database(partial(self._recorder.commit, news, open_rounds=open_rounds))
            except (DatabaseError, InterfaceError) as error:
                if not _may_pass(error) or time.monotonic() > given_up_at:
                    raise
                log.warning("the database is away (%s); %d results wait", type(error).__name__, len(news.results))
                await self._in_database(_disconnect)
                await asyncio.sleep(0.5)

    def _begin(self, flight: _InFlight, assignment: Assignment) -> None:
        drawn_at = time.perf_counter()
        item = self._items[assignment.position]
        for configuration_id, try_number in assignment.tries:
            key = Key(assignment.number, configuration_id, try_number)
            kept = self._kept_answers.pop(key, None)
            if kept is not None:
                trial = graded(kept, item)
            else:
                target = self._targets[configuration_id]
                trial = ask(
                    flight.client,
                    key=key,
                    target=target,
                    item=item,
                    slots=flight.slots[target.endpoint],
                    drawn_at=drawn_at,
                    retry_deadline_s=self._plan.retry_deadline_s,
                    permit=self._permit,
                    lag=flight.lag,
                )
            task = asyncio.create_task(trial)
            task.add_done_callback(lambda _: flight.awakened.set())
            flight.tasks[task] = key

    async def _wait_for_news(self, flight: _InFlight, committed_at: float) -> None:
        """Until something is done or the heart must beat, but no sooner than commits may follow each other."""
        timeout = self._turn.heartbeat_s
        if self._plan.max_seconds is not None:
            timeout = min(timeout, 1.0)
        try:
            await asyncio.wait_for(flight.awakened.wait(), timeout)
        except TimeoutError:
            return
        await asyncio.sleep(max(0.0, committed_at + COMMIT_INTERVAL_S - time.monotonic()))

    def _collect(self, flight: _InFlight) -> News:
        flight.awakened.clear()
        news = News()
        for task in [task for task in flight.tasks if task.done()]:
            key = flight.tasks.pop(task)
            target = self._targets[key.configuration_id]
            try:
                news.results.append(task.result())
            except ConfigurationRejected as rejection:
                news.pause_reason = (
                    f"{target.name} was rejected by {target.endpoint}: {rejection.fault.replace('_', ' ')}"
                    f" ({rejection.detail}). Mend it there or give another key, then resume."
                )
            except GraderFailed as failure:
                news.ungraded.append((failure.ungraded, str(failure)))
                news.pause_reason = (
                    f"The grader failed on an answer of {target.name} in round {key.round_number}: {failure}."
                    " The answer is kept and is graded when the evaluation is resumed with a mended grader."
                )
        return news

    async def _abandon(self, flight: _InFlight) -> None:
        """End all calls in flight; what they may cost is counted, since nobody will report it."""
        news = await self._drained(flight, patience_s=0.0)
        await self._commit(news, open_rounds=0)

    async def _hand_over(self, flight: _InFlight) -> None:
        """Let calls in flight come to their end for a while, so that little is paid twice."""
        news = await self._drained(flight, patience_s=self._turn.heartbeat_s * 2)
        await self._commit(news, open_rounds=0)

    async def _drained(self, flight: _InFlight, *, patience_s: float) -> News:
        if flight.tasks and patience_s:
            await asyncio.wait(flight.tasks, timeout=patience_s)
        news = self._collect(flight)
        for task in flight.tasks:
            task.cancel()
        await asyncio.gather(*flight.tasks, return_exceptions=True)
        for key in flight.tasks.values():
            news.cost_unreported += self._targets[key.configuration_id].worst_cost(self._longest_item()) or ZERO
        return news

    def _longest_item(self) -> Item:
        return max(self._items, key=lambda item: sum(len(str(m["content"])) for m in item.messages))

    async def _permit(self, worst: Decimal | None) -> bool:
        return await self._in_database(partial(self._recorder.affords, worst))

    def _slots(self) -> dict[str, asyncio.Semaphore]:
        """One limit for each endpoint: configurations that share it share what it bears."""
        limits: dict[str, int] = defaultdict(int)
        for target in self._targets.values():
            limits[target.endpoint] = max(limits[target.endpoint], target.concurrency)
        return {endpoint: asyncio.Semaphore(limit) for endpoint, limit in limits.items()}

    def _open_rounds(self) -> int:
        """How many rounds to keep open so that the endpoint with the most room stays full."""
        calls: dict[str, int] = defaultdict(int)
        room: dict[str, int] = defaultdict(int)
        for target in self._targets.values():
            calls[target.endpoint] += self._plan.tries
            room[target.endpoint] = max(room[target.endpoint], target.concurrency)
        return max(2, *(-int(-SPARE * room[endpoint] // calls[endpoint]) for endpoint in calls))

    async def _in_database(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._database, work)


def _disconnect() -> None:
    # Looked up here, in the thread whose connection it is.
    connection.close()


def _may_pass(error: Exception) -> bool:
    """Whether a database error is one of a connection or a restart, not of what was asked."""
    code: Any = getattr(error.__cause__, "sqlstate", None)
    return code is None or code[:2] in ("08", "57", "53", "40", "55")
