"""An evaluation's states: started, paused, resumed, cancelled, and taken up by workers.

The database is the truth: a state says that an evaluation is to run, and the sweep asks for a worker until one holds a
lease on it. A message of the broker that is lost or doubled changes nothing.
"""

import datetime
import logging
from decimal import Decimal
from uuid import UUID

from celery import current_app
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Sum
from django.utils import timezone

from evaluation.models import Evaluation, EvaluationStatus, Lease, Round
from questions.errors import refuse

log = logging.getLogger(__name__)

# By name: the task calls this package, not the other way round.
ADVANCE = "evaluation.advance"
# A worker that was asked for and did not come is asked for again after this long.
ASK_AGAIN_SECONDS = 30.0


def start(evaluation_id: UUID) -> None:
    """Let a registered evaluation run. Raises Refused from any other state."""
    with transaction.atomic():
        evaluation = _locked(evaluation_id)
        if evaluation.status != EvaluationStatus.REGISTERED:
            raise refuse("status", evaluation.status, "an evaluation starts once", "Resume it if it is paused.")
        evaluation.status = EvaluationStatus.RUNNING
        evaluation.started_at = timezone.now()
        _save_and_ask(evaluation)


def resume(evaluation_id: UUID) -> None:
    """Let a paused or cancelled evaluation go on from where it stood. Raises Refused from any other state."""
    with transaction.atomic():
        evaluation = _locked(evaluation_id)
        if evaluation.status not in (EvaluationStatus.PAUSED, EvaluationStatus.CANCELLED):
            raise refuse(
                "status", evaluation.status, "there is nothing to resume", "Only a paused or cancelled run resumes."
            )
        evaluation.status, evaluation.status_reason = EvaluationStatus.RUNNING, ""
        evaluation.started_at = evaluation.started_at or timezone.now()
        _save_and_ask(evaluation)


def pause(evaluation_id: UUID, reason: str) -> None:
    """Hold a running evaluation back, for a reason that is shown. Raises Refused unless it runs."""
    with transaction.atomic():
        evaluation = _locked(evaluation_id)
        if evaluation.status != EvaluationStatus.RUNNING:
            raise refuse("status", evaluation.status, "it does not run", "Only a running evaluation can be paused.")
        evaluation.status, evaluation.status_reason = EvaluationStatus.PAUSED, reason
        evaluation.save(update_fields=["status", "status_reason"])


def cancel(evaluation_id: UUID) -> None:
    """Stop an evaluation in whatever state it is; what was recorded stays. Raises Refused for a finished one."""
    with transaction.atomic():
        evaluation = _locked(evaluation_id)
        if evaluation.status == EvaluationStatus.FINISHED:
            raise refuse("status", evaluation.status, "it is finished", "There is nothing left to cancel.")
        evaluation.status, evaluation.status_reason = EvaluationStatus.CANCELLED, "Cancelled by its owner."
        evaluation.save(update_fields=["status", "status_reason"])


def waiting() -> QuerySet[Evaluation]:
    """Evaluations that are to run and have no worker."""
    held = Lease.objects.filter(evaluation=OuterRef("pk"), expires_at__gte=timezone.now())
    return Evaluation.objects.filter(~Exists(held), status=EvaluationStatus.RUNNING)


def sweep() -> int:
    """Ask for a worker for every evaluation that waits for one, and settle what dead workers left of ended ones.

    How many were asked for.
    """
    _settle_ended()
    asked_before = timezone.now() - datetime.timedelta(seconds=ASK_AGAIN_SECONDS)
    asked = 0
    for id_ in waiting().values_list("pk", flat=True):
        due = Q(queued_at=None) | Q(queued_at__lt=asked_before)
        if Evaluation.objects.filter(due, pk=id_).update(queued_at=timezone.now()):
            ask_for_worker(id_)
            asked += 1
    return asked


def take_lease(evaluation_id: UUID, *, worker: str, seconds: float) -> Lease | None:
    """A lease on a running evaluation that nobody holds; None if it does not run or a worker has it."""
    with transaction.atomic():
        evaluation = Evaluation.objects.select_for_update().filter(pk=evaluation_id).first()
        if evaluation is None or evaluation.status != EvaluationStatus.RUNNING:
            return None
        now = timezone.now()
        if evaluation.leases.filter(expires_at__gte=now).exists():
            return None
        evaluation.queued_at = None
        evaluation.save(update_fields=["queued_at"])
        return Lease.objects.create(
            evaluation=evaluation, worker=worker, expires_at=now + datetime.timedelta(seconds=seconds)
        )


def ask_for_worker(evaluation_id: UUID) -> None:
    """Send the message; a broker that is away is no harm, since the sweep asks again."""
    try:
        current_app.send_task(ADVANCE, args=[str(evaluation_id)])
    except Exception as error:
        Evaluation.objects.filter(pk=evaluation_id).update(queued_at=None)
        log.warning("no worker could be asked for (%s); the sweep will", type(error).__name__)


def _locked(evaluation_id: UUID) -> Evaluation:
    evaluation: Evaluation = Evaluation.objects.select_for_update().get(pk=evaluation_id)
    return evaluation


def _save_and_ask(evaluation: Evaluation) -> None:
    evaluation.queued_at = timezone.now()
    evaluation.save(update_fields=["status", "status_reason", "started_at", "queued_at"])
    transaction.on_commit(lambda: ask_for_worker(evaluation.pk))


def _settle_ended() -> None:
    """Count the calls that died with their worker in evaluations that will not run on, at their worst case."""
    lapsed = Lease.objects.filter(expires_at__lt=timezone.now()).exclude(evaluation__status=EvaluationStatus.RUNNING)
    for lease in lapsed.select_related("evaluation"):
        with transaction.atomic():
            evaluation = _locked(lease.evaluation_id)
            lost = Round.objects.filter(lease=lease, complete=False).aggregate(total=Sum("reserved"))["total"]
            evaluation.cost_unreported += lost or Decimal(0)
            evaluation.save(update_fields=["cost_unreported"])
            lease.delete()
