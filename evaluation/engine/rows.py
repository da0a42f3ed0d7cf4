"""From a trial's result to the rows that keep it, and from an ungraded answer's row back to the result."""

import dataclasses
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from evaluation.engine.asking import Key, Result
from evaluation.models import Entry, Evaluation, Outcome, Output, Trial, Verdict
from evaluation.providers import Usage

LONGEST_TEXT = 1_000_000
TOTALS = (
    "trials",
    "void",
    "score_sum",
    "cut",
    "refused",
    "empty",
    "too_slow",
    "no_answer",
    "tokens_input",
    "tokens_output",
    "tokens_unknown",
    "cost",
    "cost_unknown",
    "cost_failed",
    "failed_calls",
)
_COUNTED = {
    Outcome.VOID: "void",
    Outcome.CUT: "cut",
    Outcome.REFUSED: "refused",
    Outcome.EMPTY: "empty",
    Outcome.TOO_SLOW: "too_slow",
}


def trial_row(evaluation: Evaluation, sequence: int, result: Result) -> Trial:
    return Trial(
        evaluation=evaluation,
        configuration_id=result.key.configuration_id,
        round_number=result.key.round_number,
        try_number=result.key.try_number,
        sequence=sequence,
        outcome=result.outcome,
        score=None if result.verdict is None else result.verdict.score,
        fault=result.fault[:40],
        finish_reason=result.finish_reason[:40],
        returned_model=storable(result.returned_model)[:200],
        tokens_input=result.usage.input,
        tokens_cached=result.usage.cached,
        tokens_reasoning=result.usage.reasoning,
        tokens_output=result.usage.output,
        cost=result.cost,
        first_token_s=result.first_token_s,
        latency_s=result.latency_s,
        queue_s=result.queue_s,
        retry_s=result.retry_s,
        loop_lag_s=result.loop_lag_s,
        failed_calls=dict(result.failed_calls) or None,
    )


def output_row(trial: Trial, result: Result) -> Output:
    return Output(trial=trial, text=storable(result.text))


def verdict_row(trial: Trial, result: Result, *, grader_kind: str, grader_version: str) -> Verdict:
    verdict = result.verdict
    assert verdict is not None
    return Verdict(
        trial=trial,
        grader_kind=grader_kind,
        grader_version=grader_version,
        score=verdict.score,
        correct=verdict.correct,
        found=verdict.found,
        answer=None if verdict.answer is None else storable(verdict.answer),
        rule=verdict.rule[:80],
        explanation=storable(verdict.explanation),
        integrity=(verdict.integrity or "")[:80],
    )


def add_to_totals(entry: Entry, result: Result) -> None:
    """Count one trial in its entry's totals."""
    entry.trials += 1
    if result.outcome in _COUNTED:
        name = _COUNTED[result.outcome]
        setattr(entry, name, getattr(entry, name) + 1)
    if result.verdict is not None:
        entry.score_sum += result.verdict.score
        entry.no_answer += not result.verdict.found
        entry.tokens_unknown += result.usage.input is None or result.usage.output is None
        entry.cost_unknown += result.cost is None
    entry.tokens_input += result.usage.input or 0
    entry.tokens_output += result.usage.output or 0
    entry.cost += result.cost or Decimal(0)
    entry.cost_failed += result.cost_failed
    entry.failed_calls = dict(Counter(entry.failed_calls) + Counter(result.failed_calls))


def answer_to_json(result: Result) -> dict[str, Any]:
    """All of an ungraded result but its key."""
    values = dataclasses.asdict(dataclasses.replace(result, verdict=None))
    del values["key"], values["verdict"]
    values["text"] = storable(result.text)
    values["cost"] = None if result.cost is None else str(result.cost)
    values["cost_failed"] = str(result.cost_failed)
    return values


def answer_from_json(key: Key, values: Mapping[str, Any]) -> Result:
    return Result(
        **{
            **values,
            "key": key,
            "verdict": None,
            "outcome": Outcome(values["outcome"]),
            "usage": Usage(**values["usage"]),
            "cost": None if values["cost"] is None else Decimal(values["cost"]),
            "cost_failed": Decimal(values["cost_failed"]),
        }
    )


def storable(text: str) -> str:
    """What a PostgreSQL text can hold: no NUL, no lone surrogate, at most a million characters."""
    return text[:LONGEST_TEXT].replace("\x00", "\N{SYMBOL FOR NULL}").encode("utf-8", "replace").decode()
