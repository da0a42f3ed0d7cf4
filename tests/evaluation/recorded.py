"""Evaluations with recorded rounds, made by the recorder itself without any call to a model."""

from collections.abc import Callable
from typing import Any

from django.utils import timezone

from evaluation.engine import lifecycle
from evaluation.engine.advancing import _target, read_items
from evaluation.engine.asking import Key, Result
from evaluation.engine.recording import News, Recorder
from evaluation.graders import Verdict
from evaluation.models import Evaluation, EvaluationStatus, Outcome
from evaluation.providers import Usage

ScoreOf = Callable[[Key], float | None]


def recorder_of(evaluation: Evaluation) -> Recorder:
    """A recorder that holds the evaluation, which runs."""
    evaluation.status, evaluation.started_at = EvaluationStatus.RUNNING, timezone.now()
    evaluation.save()
    lease = lifecycle.take_lease(evaluation.pk, worker="a test", seconds=60)
    assert lease is not None
    entries = evaluation.entries.select_related("configuration__scaffold", "configuration__credential")
    targets = {entry.configuration_id: _target(entry.configuration) for entry in entries}
    items = read_items(evaluation.suite)
    return Recorder(evaluation=evaluation, lease=lease, lease_seconds=60, items=items, targets=targets)


def a_result(key: Key, score: float | None, **changes: Any) -> Result:
    """What a trial brought; a score of None makes it void."""
    void = score is None
    verdict = None if score is None else Verdict(score, score == 1.0, "8", True, "whole output", "a test's verdict")
    values: dict[str, Any] = {
        "key": key,
        "outcome": Outcome.VOID if void else Outcome.ANSWERED,
        "verdict": verdict,
        "text": "" if void else "The answer is 8.",
        "fault": "http_500" if void else "",
        "usage": Usage(12, 0, 3, 0),
        "latency_s": None if void else 0.2 + 0.001 * key.round_number,
        "first_token_s": None if void else 0.1,
        "queue_s": 0.01,
    }
    return Result(**{**values, **changes})


def record_rounds(evaluation: Evaluation, rounds: int, score_of: ScoreOf, *, at_once: int = 30) -> None:
    """Record so many rounds, then give the evaluation back; it runs on paper still unless a rule ended it."""
    recorder = recorder_of(evaluation)
    news, left = News(), rounds
    while left > 0:
        committed = recorder.commit(news, open_rounds=min(at_once, left))
        if committed.status != EvaluationStatus.RUNNING:
            break
        left -= len(committed.assignments)
        news = News(
            results=[
                a_result(key, score_of(key))
                for assignment in committed.assignments
                for key in (Key(assignment.number, id_, try_) for id_, try_ in assignment.tries)
            ]
        )
    recorder.commit(news, open_rounds=0)
    recorder.release()
    evaluation.refresh_from_db()
