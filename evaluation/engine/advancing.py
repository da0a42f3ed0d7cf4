"""Taking an evaluation up: lease, suite, configurations and keys are read, then the runner runs it."""

import asyncio
import logging
import os
import socket
import time
from collections.abc import Callable
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError

from evaluation.engine import lifecycle, rows
from evaluation.engine.asking import Item, Key, Result, Target
from evaluation.engine.recording import Recorder
from evaluation.engine.running import Runner, Turn
from evaluation.graders import grader_version
from evaluation.models import Configuration, Evaluation, EvaluationStatus, Lease
from evaluation.providers import PROVIDERS
from questions.errors import Refused
from questions.models import Suite

log = logging.getLogger(__name__)

# Others that wait get a turn after this long; nobody waiting, a turn goes on.
FAIR_TURN_S = 20.0
# Even alone, a task ends before the broker thinks it lost (an hour), and is asked for again.
LONGEST_TURN_S = 1200.0


def advance(evaluation_id: UUID, *, stopping: Callable[[], bool]) -> str:
    """Run an evaluation for one turn; ``stopping`` says whether this worker is to stop.

    The status in which it was left; "" where there was nothing to do, such as when another worker has it.
    """
    seconds = settings.LEASE_SECONDS
    lease = lifecycle.take_lease(evaluation_id, worker=_worker_name(), seconds=seconds)
    if lease is None:
        return ""
    try:
        runner = _runner(Evaluation.objects.select_related("suite").get(pk=evaluation_id), lease, seconds, stopping)
    except BaseException as error:
        lease.delete()
        if isinstance(error, CannotRun):
            lifecycle.pause(evaluation_id, str(error))
            return EvaluationStatus.PAUSED
        raise
    try:
        status = asyncio.run(runner.run())
    except DatabaseError:
        raise  # the sweep tries again when the database is back
    except Exception as error:
        log.exception("evaluation %s was stopped by a fault of ours", evaluation_id)
        _pause_for(evaluation_id, error)
        return EvaluationStatus.PAUSED
    if status == EvaluationStatus.RUNNING and not stopping():
        lifecycle.ask_for_worker(evaluation_id)
    return status


def _pause_for(evaluation_id: UUID, error: Exception) -> None:
    """Say on its page that a fault of this program stopped it, rather than fail anew with every sweep."""
    reason = f"A fault of this program stopped it ({type(error).__name__}: {error}). Resume it once that is mended."
    try:
        lifecycle.pause(evaluation_id, reason[:1000])
    except Refused:
        log.info("evaluation %s runs no longer", evaluation_id)


class CannotRun(RuntimeError):
    """What the evaluation was registered with is not what is here; the message says the remedy."""


def _runner(evaluation: Evaluation, lease: Lease, seconds: float, stopping: Callable[[], bool]) -> Runner:
    _check_graders(evaluation)
    items = read_items(evaluation.suite)
    entries = evaluation.entries.select_related("configuration__scaffold", "configuration__credential")
    targets = {entry.configuration_id: _target(entry.configuration) for entry in entries}
    recorder = Recorder(evaluation=evaluation, lease=lease, lease_seconds=seconds, items=items, targets=targets)
    return Runner(
        recorder=recorder,
        items=items,
        targets=targets,
        kept_answers=_kept_answers(evaluation),
        allow_local=settings.ALLOW_LOCAL_ENDPOINTS,
        turn=Turn(is_over=_turn(stopping), heartbeat_s=seconds / 4),
    )


def read_items(suite: Suite) -> list[Item]:
    """The items of a suite in the order of their positions."""
    revisions = (item.revision for item in suite.items.select_related("revision").order_by("position"))
    return [Item(r.messages, r.references, r.grader_kind, r.grader_parameters) for r in revisions]


def _target(configuration: Configuration) -> Target:
    scaffold = configuration.scaffold
    return Target(
        id=configuration.pk,
        name=configuration.name,
        provider=PROVIDERS[configuration.provider],
        endpoint=configuration.endpoint,
        model=configuration.model,
        preamble=scaffold.messages if scaffold else [],
        decoding=configuration.decoding,
        reasoning_effort=configuration.reasoning_effort,
        time_limit_s=configuration.time_limit_s,
        prices=configuration.prices,
        concurrency=configuration.concurrency,
        key=_key(configuration),
    )


def _key(configuration: Configuration) -> str:
    if configuration.credential is None:
        return ""
    try:
        return configuration.credential.reveal()
    except Exception as error:
        raise CannotRun(
            f"The key {configuration.credential.name!r} cannot be decrypted ({type(error).__name__}):"
            " enter it again, or restore the encryption key it was kept under, then resume."
        ) from None


def _check_graders(evaluation: Evaluation) -> None:
    for kind, registered in evaluation.graders.items():
        try:
            present = grader_version(kind)
        except (Refused, ValueError, KeyError):
            present = "none"
        if present != registered:
            raise CannotRun(
                f"The grader {kind!r} was registered in version {registered} and is {present} here: scores of two"
                " versions must not be mixed. Run a worker of that version, or register the evaluation anew."
            )


def _kept_answers(evaluation: Evaluation) -> dict[Key, Result]:
    kept = {}
    for row in evaluation.ungraded_answers.all():
        key = Key(row.round_number, row.configuration_id, row.try_number)
        kept[key] = rows.answer_from_json(key, row.answer)
    return kept


def _turn(stopping: Callable[[], bool]) -> Callable[[], bool]:
    """Whether to stop here, looking at the database for others who wait at most once a second."""
    began_at = looked_at = time.monotonic()

    def is_over() -> bool:
        nonlocal looked_at
        now = time.monotonic()
        if stopping() or now - began_at > LONGEST_TURN_S:
            return True
        if now - began_at < FAIR_TURN_S or now - looked_at < 1.0:
            return False
        looked_at = now
        return _others_wait()

    return is_over


def _others_wait() -> bool:
    return lifecycle.waiting().exists()


def _worker_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"
