"""How late the event loop runs: a call measured while it is late measures this machine, not the provider."""

import asyncio
import time
from collections import deque

INTERVAL_S = 0.05
# Shorter delays are the timer's own grain.
NOTEWORTHY_S = 0.005


class LagMonitor:
    """Wakes twenty times a second and notes by how much it overslept."""

    def __init__(self) -> None:
        self._late: deque[tuple[float, float]] = deque(maxlen=20_000)
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "LagMonitor":
        self._task = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        self._task.cancel()

    def worst_since(self, moment: float) -> float:
        """The longest delay in seconds noted since ``moment`` (of ``time.perf_counter``)."""
        worst = 0.0
        for noted_at, lag in reversed(self._late):
            if noted_at < moment:
                break
            worst = max(worst, lag)
        return worst

    async def _watch(self) -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(INTERVAL_S)
            now = time.perf_counter()
            lag = now - before - INTERVAL_S
            if lag > NOTEWORTHY_S:
                self._late.append((now, lag))
