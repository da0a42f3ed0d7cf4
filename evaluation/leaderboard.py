"""The leaderboard of a task: every configuration's newest evaluation, ranked or listed below with the reason."""

from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from evaluation.models import Configuration, Evaluation, EvaluationStatus
from evaluation.selectors import Standing, standings
from questions.models import Task, Visibility

FEWEST_ATTEMPTS = 5


@dataclass(frozen=True)
class Row:
    """A configuration's line; ``listed_below`` says why it is not ranked, "" for one that is."""

    configuration: Configuration
    evaluation: Evaluation
    standing: Standing
    rank: tuple[int, int] | None
    listed_below: str


def leaderboard(task: Task, user: AbstractBaseUser | AnonymousUser) -> list[Row]:
    """The rows that ``user`` may see: ranked ones first, the best estimate first; ties are ties.

    Configurations of one evaluation are ranked by their paired differences. Those of several are compared by their own
    intervals, each at its alpha: one is above another only where its whole interval is. A newer evaluation of a
    configuration supersedes an older one.
    """
    found = _newest_of_each(task, user)
    suite_version = max((e.suite.version for e, _ in found), default=0)
    rows = [(e, s, _reason(e, s, suite_version)) for e, s in found]
    ranked = [(e, s) for e, s, reason in rows if not reason]
    below = [Row(s.configuration, e, s, None, reason) for e, s, reason in rows if reason]
    paired = len({e.pk for e, _ in ranked}) == 1 and len(ranked) == ranked[0][0].entries.count()
    ranks = {id(s): s.rank if paired else _rank(s, [other for _, other in ranked]) for _, s in ranked}
    listed = [Row(s.configuration, e, s, ranks[id(s)], "") for e, s in ranked]
    return [*sorted(listed, key=_by_score), *sorted(below, key=_by_score)]


def _newest_of_each(task: Task, user: AbstractBaseUser | AnonymousUser) -> list[tuple[Evaluation, Standing]]:
    evaluations = Evaluation.objects.visible_to(user).filter(suite__task=task)
    evaluations = evaluations.exclude(status=EvaluationStatus.REGISTERED).select_related("suite__task")
    newest: dict[int, tuple[Evaluation, Standing]] = {}
    for evaluation in evaluations.order_by("suite__version", "registered_at"):
        for standing in standings(evaluation):
            if standing.score.value is not None or standing.configuration.pk not in newest:
                newest[standing.configuration.pk] = (evaluation, standing)
    return list(newest.values())


def _reason(evaluation: Evaluation, standing: Standing, suite_version: int) -> str:
    """Why a row is not ranked, the weightiest reason first; "" if it is."""
    if standing.score.value is None:
        return "no round is complete yet"
    if standing.entry.void == standing.trials:
        return "every trial is void"
    if evaluation.suite.version < suite_version:
        return f"measured on version {evaluation.suite.version} of the suite"
    attempts = standing.rounds // evaluation.plan["attempt_size"]
    if attempts < FEWEST_ATTEMPTS:
        return f"{attempts} of at least {FEWEST_ATTEMPTS} attempts ({evaluation.plan['attempt_size']} rounds each)"
    if evaluation.suite.task.visibility != Visibility.SHARED:
        return ""
    if evaluation.visibility != Visibility.SHARED:
        return "a private evaluation, shown to you alone"
    if standing.configuration.undisclosed_fields:
        return "undisclosed: " + ", ".join(standing.configuration.undisclosed_fields)
    if not standing.configuration.available_to_public:
        return "not available to the public"
    return ""


def _rank(standing: Standing, ranked: list[Standing]) -> tuple[int, int]:
    """(best, worst) rank among the ranked, by intervals that do not overlap."""
    lower, upper = standing.score.lower or 0.0, 1.0 if standing.score.upper is None else standing.score.upper
    others = [s.score for s in ranked if s is not standing]
    above = sum((other.lower or 0.0) > upper for other in others)
    below = sum((1.0 if other.upper is None else other.upper) < lower for other in others)
    return 1 + above, len(ranked) - below


def _by_score(row: Row) -> tuple[bool, float, str]:
    value = row.standing.score.value
    return value is None, -(value or 0.0), row.configuration.name
