"""Celery's side of the engine: ids in, one call, safe to run twice."""

import multiprocessing
from typing import Any
from uuid import UUID

from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down

from evaluation.engine import advancing, lifecycle

# Made before the pool forks, so that the main process can tell its children to hand their evaluations over.
_stopping = multiprocessing.Event()


@worker_shutting_down.connect
def _hand_over(**_: Any) -> None:
    _stopping.set()


@worker_ready.connect
def _ask_at_once(**_: Any) -> None:
    lifecycle.sweep()


# The limit ends a turn that hangs; it lies above the longest turn, after which a task ends by itself.
@shared_task(name=lifecycle.ADVANCE, acks_late=True, ignore_result=True, time_limit=int(advancing.LONGEST_TURN_S) + 300)
def advance(evaluation_id: str) -> None:
    """Run an evaluation for one turn."""
    advancing.advance(UUID(evaluation_id), stopping=_stopping.is_set)


@shared_task(name="evaluation.sweep", ignore_result=True, time_limit=60)
def sweep() -> None:
    """Ask for workers where the broker lost a message or a worker died."""
    lifecycle.sweep()
