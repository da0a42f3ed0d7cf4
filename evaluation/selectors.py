"""Reading an evaluation: figures for pages, the API and the command line alike."""

import datetime
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Max
from django.utils import timezone

from evaluation.models import (
    Configuration,
    Entry,
    Estimate,
    Evaluation,
    EvaluationStatus,
    Metric,
    Outcome,
    StopReason,
    Trial,
)
from evaluation.statistics import BettingSequence, quantile

RECENT_SECONDS = 30.0


@dataclass(frozen=True)
class Figure:
    """A value with its anytime-valid bounds; None is unknown."""

    value: float | None
    lower: float | None
    upper: float | None

    @property
    def half_width(self) -> float | None:
        return None if self.lower is None or self.upper is None else (self.upper - self.lower) / 2


UNKNOWN = Figure(None, None, None)


@dataclass(frozen=True)
class Standing:
    """One configuration's figures in one evaluation, from the consumed rounds; counts are of all recorded trials."""

    configuration: Configuration
    entry: Entry
    score: Figure
    rank: tuple[int, int] | None
    rounds: int
    trials: int
    questions: int
    # All of the plan's tries right, as a score of its own; None where a plan has one try, when it is the score.
    all_right: Figure | None
    tries: int
    cost: Decimal | None
    cost_per_correct: Decimal | None
    latency_median_s: Figure
    first_token_median_s: Figure
    tokens_input_mean: float | None
    tokens_output_mean: float | None

    @property
    def answered(self) -> int:
        return self.entry.trials - self.entry.void


@dataclass(frozen=True)
class Difference:
    """The first configuration's mean score minus the second's; certified where the bounds exclude zero."""

    first: Configuration
    second: Configuration
    figure: Figure

    @property
    def certified(self) -> bool:
        lower, upper = self.figure.lower, self.figure.upper
        return lower is not None and upper is not None and (lower > 0.0 or upper < 0.0)


@dataclass(frozen=True)
class Conclusion:
    """What may be said; ``best`` only where it is certified against every other."""

    text: str
    best: Configuration | None


@dataclass(frozen=True)
class TracePoint:
    rounds: int
    value: float | None
    lower: float
    upper: float


@dataclass(frozen=True)
class Progress:
    """How far an evaluation is."""

    status: str
    stop_reason: str
    status_reason: str
    trials: int
    planned_trials: int | None
    rounds_drawn: int
    rounds_consumed: int
    cost: Decimal
    cost_unknown: int
    failed_calls: dict[str, int]
    calls_per_second: float | None
    seconds_left: float | None
    widest_half_width: float | None
    target_half_width: float | None


def current_estimates(evaluation: Evaluation) -> list[Estimate]:
    """The estimates of the last look that was written down."""
    last = evaluation.estimates.aggregate(last=Max("rounds"))["last"]
    found = evaluation.estimates.filter(rounds=last) if last else evaluation.estimates.none()
    return list(found.select_related("configuration", "against"))


def standings(evaluation: Evaluation) -> list[Standing]:
    """Every configuration's figures, the best estimate first; those without one come last, unranked."""
    estimates = current_estimates(evaluation)
    scores = {e.configuration_id: e for e in estimates if e.metric == Metric.SCORE}
    ranks = rank_sets([e.configuration_id for e in evaluation.entries.all()], estimates)
    entries = evaluation.entries.select_related("configuration__scaffold").order_by("position")
    found = [_standing(evaluation, entry, scores.get(entry.configuration_id), ranks) for entry in entries]
    return sorted(found, key=lambda s: (s.score.value is None, -(s.score.value or 0.0), s.entry.position))


def differences(evaluation: Evaluation) -> list[Difference]:
    """Every pair's difference, as last written down."""
    return [
        Difference(e.configuration, e.against, Figure(e.value, e.lower, e.upper))
        for e in current_estimates(evaluation)
        if e.metric == Metric.DIFFERENCE and e.against is not None
    ]


def rank_sets(configuration_ids: list[int], estimates: Iterable[Estimate]) -> dict[int, tuple[int, int]]:
    """(best, worst) rank of each configuration that has an estimate, from the differences' simultaneous bounds."""
    above: Counter[int] = Counter()
    below: Counter[int] = Counter()
    ranked: set[int] = set()
    for estimate in estimates:
        ranked.add(estimate.configuration_id)
        if estimate.metric != Metric.DIFFERENCE or estimate.against_id is None:
            continue
        if estimate.lower > 0.0:
            above[estimate.against_id] += 1
            below[estimate.configuration_id] += 1
        elif estimate.upper < 0.0:
            above[estimate.configuration_id] += 1
            below[estimate.against_id] += 1
    size = len(configuration_ids)
    return {id_: (1 + above[id_], size - below[id_]) for id_ in configuration_ids if id_ in ranked}


def trace(evaluation: Evaluation) -> dict[int, list[TracePoint]]:
    """Every configuration's estimates, look by look."""
    points: dict[int, list[TracePoint]] = {}
    for e in evaluation.estimates.filter(metric=Metric.SCORE).order_by("rounds"):
        points.setdefault(e.configuration_id, []).append(TracePoint(e.rounds, e.value, e.lower, e.upper))
    return points


def progress(evaluation: Evaluation) -> Progress:
    """How far the evaluation is and, where that can be said, how long it still takes."""
    entries = list(evaluation.entries.all())
    plan = evaluation.plan
    scores = [e for e in current_estimates(evaluation) if e.metric == Metric.SCORE]
    widest = max(((e.upper - e.lower) / 2 for e in scores), default=None)
    trials = sum(entry.trials for entry in entries)
    speed = _calls_per_second(evaluation)
    planned = _planned_trials(evaluation, len(entries), widest)
    failed: Counter[str] = Counter()
    for entry in entries:
        failed.update(entry.failed_calls)
    running = evaluation.status == EvaluationStatus.RUNNING
    return Progress(
        status=evaluation.status,
        stop_reason=evaluation.stop_reason,
        status_reason=evaluation.status_reason,
        trials=trials,
        planned_trials=planned,
        rounds_drawn=evaluation.rounds_drawn,
        rounds_consumed=evaluation.rounds_consumed,
        cost=sum((entry.cost + entry.cost_failed for entry in entries), evaluation.cost_unreported),
        cost_unknown=sum(entry.cost_unknown for entry in entries),
        failed_calls=dict(failed),
        calls_per_second=speed,
        seconds_left=max(0.0, (planned - trials) / speed) if running and planned and speed else None,
        widest_half_width=widest,
        target_half_width=plan["half_width"],
    )


def conclusion(evaluation: Evaluation) -> Conclusion:
    """In plain words: which configuration is better for this work and how sure that is, or that it is open."""
    found = [s for s in standings(evaluation) if s.score.value is not None]
    suite = f"on version {evaluation.suite.version} of the suite of {evaluation.suite.task.name!r}"
    if not found:
        return Conclusion(f"Nothing is known yet {suite}: no round is complete.", None)
    sure = f"{100 * (1 - evaluation.plan['alpha']):g} %"
    text = [_verdict(evaluation, found, suite, sure)]
    best = found[0].configuration if _is_best(found) else None
    void = sum(s.entry.void for s in found)
    if void:
        text.append(f"{void} trials are void (no answer could be had); they widen the intervals and are not dropped.")
    for s in found:
        if s.answered and s.entry.cut / s.answered > 0.01:
            text.append(f"{s.configuration.name}: {s.entry.cut} of {s.answered} answers were cut at the token limit.")
    text.append(_stopped(evaluation))
    return Conclusion(" ".join(part for part in text if part), best)


def _is_best(found: list[Standing]) -> bool:
    """Whether the first is certified above every other."""
    return len(found) > 1 and found[0].rank == (1, 1)


def _verdict(evaluation: Evaluation, found: list[Standing], suite: str, sure: str) -> str:
    first = found[0]
    name, score = first.configuration.name, _interval(first.score)
    if len(found) == 1:
        return f"{name} scores {score} {suite} ({sure} sure, at every look)."
    if _is_best(found):
        gaps = " and ".join(_gap(evaluation, first, other) for other in found[1:])
        return f"For this work use {name}: it scores {score} {suite}, {gaps} ({sure} sure, at every look)."
    pairs = differences(evaluation)
    certified = sum(pair.certified for pair in pairs)
    tied = ", ".join(s.configuration.name for s in found if s.rank and s.rank[0] == 1)
    rest = f" {certified} of {len(pairs)} differences are certified." if certified else ""
    return (
        f"The evidence does not say which is best: {tied} are not distinguishable {suite} ({sure}).{rest}"
        " More rounds would narrow the differences."
    )


def _gap(evaluation: Evaluation, first: Standing, other: Standing) -> str:
    for pair in differences(evaluation):
        if (pair.first, pair.second) == (first.configuration, other.configuration):
            return f"better than {other.configuration.name} by {_points(pair.figure)}"
        if (pair.second, pair.first) == (first.configuration, other.configuration):
            return f"better than {other.configuration.name} by {_points(_negated(pair.figure))}"
    return f"better than {other.configuration.name}"


def _stopped(evaluation: Evaluation) -> str:
    if evaluation.status == EvaluationStatus.FINISHED:
        return f"It stopped because {StopReason(evaluation.stop_reason).label}."
    if evaluation.status == EvaluationStatus.RUNNING:
        return "It is still running; these figures hold at this moment too."
    return f"It is {evaluation.status}. {evaluation.status_reason}".strip()


def _interval(figure: Figure) -> str:
    return f"{figure.value:.2f} (between {figure.lower:.2f} and {figure.upper:.2f})"


def _points(figure: Figure) -> str:
    assert figure.lower is not None
    assert figure.upper is not None
    return f"{100 * figure.lower:.0f} to {100 * figure.upper:.0f} points of a hundred"


def _negated(figure: Figure) -> Figure:
    assert figure.lower is not None
    assert figure.upper is not None
    return Figure(None if figure.value is None else -figure.value, -figure.upper, -figure.lower)


def _standing(
    evaluation: Evaluation, entry: Entry, score: Estimate | None, ranks: dict[int, tuple[int, int]]
) -> Standing:
    consumed = Trial.objects.filter(
        evaluation=evaluation, configuration=entry.configuration_id, round_number__lt=evaluation.rounds_consumed
    )
    answered = consumed.exclude(outcome=Outcome.VOID)
    known_tokens = entry.trials - entry.void - entry.tokens_unknown
    costs_known = entry.cost_unknown == 0 and entry.trials > entry.void
    cost = entry.cost if costs_known else None
    tries = evaluation.plan["tries"]
    return Standing(
        configuration=entry.configuration,
        entry=entry,
        score=UNKNOWN if score is None else Figure(score.value, score.lower, score.upper),
        rank=ranks.get(entry.configuration_id),
        rounds=0 if score is None else score.rounds,
        trials=entry.trials,
        questions=0 if score is None else score.questions,
        all_right=_all_right(consumed, evaluation) if tries > 1 else None,
        tries=tries,
        cost=cost,
        cost_per_correct=None if cost is None or entry.score_sum <= 0 else cost / Decimal(str(entry.score_sum)),
        latency_median_s=_median(answered.values_list("latency_s", flat=True), evaluation),
        first_token_median_s=_median(
            answered.exclude(first_token_s=None).values_list("first_token_s", flat=True), evaluation
        ),
        tokens_input_mean=entry.tokens_input / known_tokens if known_tokens > 0 else None,
        tokens_output_mean=entry.tokens_output / known_tokens if known_tokens > 0 else None,
    )


def _median(values: Iterable[float | None], evaluation: Evaluation) -> Figure:
    known = [value for value in values if value is not None]
    if not known:
        return UNKNOWN
    value, lower, upper = quantile(known, 0.5, evaluation.plan["alpha"])
    return Figure(value, lower if math.isfinite(lower) else 0.0, upper if math.isfinite(upper) else None)


def _all_right(consumed: "Iterable[Trial]", evaluation: Evaluation) -> Figure:
    """pass^k with k the plan's tries: all tries of a round right, as one score with its own sequence."""
    tries: dict[int, list[float | None]] = {}
    for trial in consumed:
        tries.setdefault(trial.round_number, []).append(trial.score)
    sequence = BettingSequence(evaluation.plan["alpha"])
    total, count = 0.0, 0
    for number in range(evaluation.rounds_consumed):
        scores = tries.get(number, [])
        right = float(all(score == 1.0 for score in scores))
        is_void = None in scores and all(score in (None, 1.0) for score in scores)
        sequence.update(0.0 if is_void else right, z_upper=1.0 if is_void else right)
        if not is_void:
            total, count = total + right, count + 1
    if not count:
        return UNKNOWN
    lower, upper = sequence.interval
    return Figure(min(max(total / count, lower), upper), lower, upper)


def _planned_trials(evaluation: Evaluation, configurations: int, widest: float | None) -> int | None:
    """How many trials the evaluation will take: its budget, or less where its precision is likely reached before.

    A projection, not a promise: half-widths shrink with the square root of the rounds.
    """
    plan = evaluation.plan
    if evaluation.status == EvaluationStatus.FINISHED:
        return sum(entry.trials for entry in evaluation.entries.all())
    projected = None
    if plan["half_width"] and widest and evaluation.rounds_consumed >= 10:
        rounds = evaluation.rounds_consumed * max(1.0, (widest / plan["half_width"]) ** 2)
        projected = math.ceil(rounds) * configurations * plan["tries"]
    known = [n for n in (projected, plan["max_trials"]) if n is not None]
    return min(known) if known else None


def _calls_per_second(evaluation: Evaluation) -> float | None:
    since = timezone.now() - datetime.timedelta(seconds=RECENT_SECONDS)
    recent = evaluation.trials.filter(recorded_at__gte=since)
    count = recent.count()
    if count < 2:
        return evaluation.trials.count() / evaluation.seconds_run if evaluation.seconds_run > 1 else None
    first = recent.order_by("recorded_at").values_list("recorded_at", flat=True)[0]
    seconds = max((timezone.now() - first).total_seconds(), 1.0)
    return count / seconds
