"""The one transaction that moves an evaluation on: results in, estimates and stop rules, new draws out.

Every commit holds the lock on the evaluation's row. The database is the truth: a commit that fails leaves nothing
behind, and the ledger is then built anew from the log.
"""

import datetime
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import reduce
from operator import or_

from django.db import transaction
from django.db.models import Q, Sum
from django.utils import timezone

from evaluation.engine import rows, stopping
from evaluation.engine.asking import Item, Key, Result, Target
from evaluation.engine.estimating import LookSchedule, estimates
from evaluation.engine.ledger import Ledger
from evaluation.engine.plan import Plan
from evaluation.models import (
    Entry,
    Estimate,
    Evaluation,
    EvaluationStatus,
    Lease,
    Output,
    Round,
    StopReason,
    Trial,
    UngradedAnswer,
    Verdict,
)

ZERO = Decimal(0)
_MOVED = (
    "status",
    "status_reason",
    "stop_reason",
    "finished_at",
    "seconds_run",
    "log_length",
    "rounds_drawn",
    "rounds_consumed",
    "cost_unreported",
)


@dataclass(frozen=True)
class Assignment:
    """Tries of one round, as (configuration, try), that this worker now owes."""

    number: int
    position: int
    tries: Sequence[tuple[int, int]]


@dataclass
class News:
    """What happened since the last commit."""

    results: list[Result] = field(default_factory=list)
    ungraded: list[tuple[Result, str]] = field(default_factory=list)
    # Worst cases of calls that may have to be paid although nobody reported it.
    cost_unreported: Decimal = ZERO
    # Why the run must pause, in words with the remedy; "" if it need not.
    pause_reason: str = ""


@dataclass(frozen=True)
class Committed:
    """What a commit decided: the evaluation's status, and the rounds that were drawn or taken over."""

    status: str
    assignments: Sequence[Assignment]


class Recorder:
    """A worker's hold on one evaluation. Not thread-safe: all calls come from one thread."""

    def __init__(
        self,
        *,
        evaluation: Evaluation,
        lease: Lease,
        lease_seconds: float,
        items: Sequence[Item],
        targets: Mapping[int, Target],
    ) -> None:
        self.plan = Plan.from_json(evaluation.plan)
        self._evaluation_id = evaluation.pk
        self._graders: Mapping[str, str] = evaluation.graders
        self._lease = lease
        self._lease_seconds = lease_seconds
        self._renewed_at = time.monotonic()
        self._items = items
        self._targets = targets
        self._ledger: Ledger | None = None
        self._mine: set[int] = set()
        # Results of a commit that failed in a way that leaves open whether the database has them.
        self._uncertain: set[Key] = set()
        self._committed_at = time.monotonic()
        self._looks = LookSchedule()
        self._dearest_round = _most(self._worst_of_round(item) for item in items)

    def commit(self, news: News, *, open_rounds: int) -> Committed:
        """Record the news, decide, and draw until ``open_rounds`` rounds are open here; all or nothing.

        After any exception the same news may be committed once more: results that the log holds already are
        recognised.
        """
        seconds = time.monotonic() - self._committed_at
        mine = set(self._mine)
        try:
            with transaction.atomic():
                committed = self._commit(news, open_rounds, seconds)
        except BaseException:
            self._ledger = None
            self._mine = mine
            self._uncertain.update(result.key for result in news.results)
            raise
        self._committed_at += seconds
        self._uncertain.clear()
        return committed

    def release(self) -> None:
        """Give the lease back; rounds still open are free for the next worker."""
        Lease.objects.filter(pk=self._lease.pk).delete()

    def affords(self, worst: Decimal | None) -> bool:
        """Whether the budget of money allows one more call of this worst case beyond what is reserved."""
        if self.plan.max_cost_usd is None:
            return True
        evaluation = Evaluation.objects.get(pk=self._evaluation_id)
        committed = self._committed_usd(evaluation, evaluation.entries.all())
        return worst is not None and committed + worst <= self.plan.max_cost_usd

    def _commit(self, news: News, open_rounds: int, seconds: float) -> Committed:
        evaluation = Evaluation.objects.select_for_update().get(pk=self._evaluation_id)
        ledger = self._ledger = self._ledger or Ledger.of(evaluation)
        ledger.catch_up(evaluation)
        self._renew_lease()
        entries = {entry.configuration_id: entry for entry in evaluation.entries.all()}
        evaluation.seconds_run += seconds
        evaluation.cost_unreported += news.cost_unreported
        self._record(ledger, evaluation, entries, news.results)
        self._keep_ungraded(news.ungraded)
        committed_usd = self._committed_usd(evaluation, entries.values())
        refusal = self._decide(ledger, evaluation, news.pause_reason, committed_usd)
        self._look(ledger, evaluation)
        assignments: list[Assignment] = []
        if evaluation.status == EvaluationStatus.RUNNING:
            assignments += self._take_over(ledger, evaluation)
            if refusal is None:
                assignments += self._draw(ledger, evaluation, open_rounds, committed_usd)
        evaluation.log_length = ledger.sequence
        evaluation.rounds_drawn = ledger.rounds_drawn
        evaluation.rounds_consumed = ledger.rounds_consumed
        evaluation.save(update_fields=_MOVED)
        Entry.objects.bulk_update(entries.values(), rows.TOTALS)
        return Committed(evaluation.status, assignments)

    def _record(
        self, ledger: Ledger, evaluation: Evaluation, entries: Mapping[int, Entry], results: Sequence[Result]
    ) -> None:
        recorded: list[tuple[Trial, Result]] = []
        completed: list[int] = []
        for result in results:
            key = result.key
            if not ledger.lacks(key.round_number, key.configuration_id, key.try_number):
                if key not in self._uncertain:
                    # Another worker took this trial over and was first; what this one paid is spent all the same.
                    evaluation.cost_unreported += self._cost_at_worst(ledger, result) + result.cost_failed
                continue
            recorded.append((rows.trial_row(evaluation, ledger.sequence, result), result))
            score = None if result.verdict is None else result.verdict.score
            if ledger.record(key.round_number, key.configuration_id, key.try_number, score):
                completed.append(key.round_number)
            rows.add_to_totals(entries[key.configuration_id], result)
            if result.cost is None and result.verdict is not None:
                evaluation.cost_unreported += self._cost_at_worst(ledger, result)
        self._write(ledger, recorded)
        Round.objects.filter(evaluation=evaluation, number__in=completed).update(complete=True, lease=None)
        self._mine.difference_update(completed)

    def _write(self, ledger: Ledger, recorded: Sequence[tuple[Trial, Result]]) -> None:
        if not recorded:
            return
        Trial.objects.bulk_create([trial for trial, _ in recorded])
        graded = [(trial, result) for trial, result in recorded if result.verdict is not None]
        Output.objects.bulk_create([rows.output_row(trial, result) for trial, result in graded])
        kinds = [self._items[ledger.position(trial.round_number)].grader_kind for trial, _ in graded]
        Verdict.objects.bulk_create(
            rows.verdict_row(trial, result, grader_kind=kind, grader_version=self._graders[kind])
            for (trial, result), kind in zip(graded, kinds, strict=True)
        )
        UngradedAnswer.objects.filter(evaluation=self._evaluation_id).filter(
            reduce(
                or_,
                (
                    Q(configuration=t.configuration_id, round_number=t.round_number, try_number=t.try_number)
                    for t, _ in recorded
                ),
            )
        ).delete()

    def _keep_ungraded(self, ungraded: Sequence[tuple[Result, str]]) -> None:
        UngradedAnswer.objects.bulk_create(
            (
                UngradedAnswer(
                    evaluation_id=self._evaluation_id,
                    configuration_id=result.key.configuration_id,
                    round_number=result.key.round_number,
                    try_number=result.key.try_number,
                    answer=rows.answer_to_json(result),
                    error=rows.storable(error)[:2000],
                )
                for result, error in ungraded
            ),
            ignore_conflicts=True,
        )

    def _decide(
        self, ledger: Ledger, evaluation: Evaluation, pause_reason: str, committed_usd: Decimal
    ) -> StopReason | None:
        """End or pause the evaluation where its plan or a fault says so; else the budget that forbids another round."""
        if evaluation.status != EvaluationStatus.RUNNING:
            return None
        intervals = [ledger.interval(id_) for id_ in ledger.configuration_ids]
        if ledger.rounds_consumed and stopping.precise_enough(self.plan, intervals):
            _finish(evaluation, StopReason.PRECISION)
            return None
        if pause_reason:
            evaluation.status, evaluation.status_reason = EvaluationStatus.PAUSED, pause_reason
            return None
        if stopping.out_of_time(self.plan, evaluation.seconds_run):
            _finish(evaluation, StopReason.TIME)
            return None
        refusal = self._forbids(ledger, committed_usd)
        if refusal is not None and not ledger.open_rounds():
            _finish(evaluation, refusal)
        return refusal

    def _draw(
        self, ledger: Ledger, evaluation: Evaluation, open_rounds: int, committed_usd: Decimal
    ) -> list[Assignment]:
        drawn: list[Round] = []
        while len(self._mine) < open_rounds and self._forbids(ledger, committed_usd) is None:
            sequence = ledger.sequence
            draw = ledger.draw()
            worst = self._worst_of_round(self._items[draw.position])
            committed_usd += worst or ZERO
            self._mine.add(draw.number)
            drawn.append(
                Round(
                    evaluation=evaluation,
                    number=draw.number,
                    sequence=sequence,
                    position=draw.position,
                    probability=draw.probability,
                    reserved=worst,
                    lease=self._lease,
                )
            )
        Round.objects.bulk_create(drawn)
        return [_assignment(ledger, round_.number) for round_ in drawn]

    def _take_over(self, ledger: Ledger, evaluation: Evaluation) -> list[Assignment]:
        """Open rounds that nobody works on, those of a lapsed lease included."""
        others = set(ledger.open_rounds()) - self._mine
        if not others:
            return []
        now = timezone.now()
        free = Q(lease=None) | Q(lease__expires_at__lt=now) | Q(lease=self._lease)
        found = Round.objects.filter(free, evaluation=evaluation, number__in=others)
        taken = list(found.order_by("number").values_list("number", "lease_id"))
        for number, lease_id in taken:
            if lease_id not in (None, self._lease.pk):
                # Its worker died: the calls that it had in flight may have been answered, and billed, unheard.
                item = self._items[ledger.position(number)]
                worst = (self._targets[id_].worst_cost(item) for id_, _ in ledger.missing(number))
                evaluation.cost_unreported += sum((cost or ZERO for cost in worst), ZERO)
        numbers = [number for number, _ in taken]
        Round.objects.filter(evaluation=evaluation, number__in=numbers).update(lease=self._lease)
        Lease.objects.filter(evaluation=evaluation, expires_at__lt=now).exclude(pk=self._lease.pk).delete()
        self._mine.update(numbers)
        return [_assignment(ledger, number) for number in numbers]

    def _look(self, ledger: Ledger, evaluation: Evaluation) -> None:
        last = evaluation.status in (EvaluationStatus.FINISHED, EvaluationStatus.CANCELLED, EvaluationStatus.PAUSED)
        if self._looks.is_due(ledger.rounds_consumed, last=last):
            Estimate.objects.bulk_create(estimates(ledger, evaluation), ignore_conflicts=True)
            self._looks.looked(ledger.rounds_consumed)

    def _renew_lease(self) -> None:
        """Put off the lease's end, and make it anew should somebody have thought it lapsed."""
        now = time.monotonic()
        if now - self._renewed_at < self._lease_seconds / 4:
            return
        expires_at = timezone.now() + datetime.timedelta(seconds=self._lease_seconds)
        if not Lease.objects.filter(pk=self._lease.pk).update(expires_at=expires_at):
            self._lease.expires_at = expires_at
            self._lease.save(force_insert=True)
            self._mine.clear()  # what was open here is taken over anew, unless another worker has it by now
        self._renewed_at = now

    def _forbids(self, ledger: Ledger, committed_usd: Decimal) -> StopReason | None:
        return stopping.forbids_another_round(
            self.plan,
            configurations=len(ledger.configuration_ids),
            rounds_drawn=ledger.rounds_drawn,
            committed_usd=committed_usd,
            dearest_round_usd=self._dearest_round,
        )

    def _committed_usd(self, evaluation: Evaluation, entries: Iterable[Entry]) -> Decimal:
        """All that was spent or may be: costs, failed calls, what nobody reported, worst cases of open rounds."""
        if self.plan.max_cost_usd is None:
            return ZERO
        reserved = evaluation.rounds.filter(complete=False).aggregate(total=Sum("reserved"))["total"] or ZERO
        return sum((entry.cost + entry.cost_failed for entry in entries), evaluation.cost_unreported + reserved)

    def _worst_of_round(self, item: Item) -> Decimal | None:
        worst = [target.worst_cost(item) for target in self._targets.values()]
        known = [cost for cost in worst if cost is not None]
        return sum(known, ZERO) * self.plan.tries if len(known) == len(worst) else None

    def _cost_at_worst(self, ledger: Ledger, result: Result) -> Decimal:
        """The cost, or where it is unknown the most that it can be."""
        if result.cost is not None:
            return result.cost
        item = self._items[ledger.position(result.key.round_number)]
        return self._targets[result.key.configuration_id].worst_cost(item) or ZERO


def _assignment(ledger: Ledger, number: int) -> Assignment:
    return Assignment(number, ledger.position(number), ledger.missing(number))


def _finish(evaluation: Evaluation, reason: StopReason) -> None:
    evaluation.status, evaluation.stop_reason = EvaluationStatus.FINISHED, reason
    evaluation.status_reason = ""
    evaluation.finished_at = timezone.now()


def _most(costs: Iterable[Decimal | None]) -> Decimal | None:
    """The greatest; None if any is unknown."""
    known = list(costs)
    return None if None in known else max((cost for cost in known if cost is not None), default=None)
