"""Writing down what is known: estimates of every configuration and pair, at looks that grow rarer with the run."""

import math
import time
from itertools import combinations

from evaluation.engine.ledger import Ledger
from evaluation.models import Estimate, Evaluation, Metric

METHOD = "betting confidence sequence, uniform draws with replacement"


class LookSchedule:
    """When a look is worth writing down: always at first, then per one per cent of growth or after five seconds.

    Which looks are written changes no figure: the sequences hold at every moment, written down or not.
    """

    ALWAYS_UNTIL = 100
    GROWTH = 1.01
    SECONDS = 5.0

    def __init__(self) -> None:
        self._rounds = 0
        self._at = -math.inf

    def is_due(self, rounds: int, *, last: bool) -> bool:
        """Whether to write the estimates at ``rounds`` consumed rounds; ``last`` once the evaluation has ended."""
        if rounds <= self._rounds:
            return False
        return (
            last
            or rounds <= self.ALWAYS_UNTIL
            or rounds >= self._rounds * self.GROWTH
            or time.monotonic() - self._at >= self.SECONDS
        )

    def looked(self, rounds: int) -> None:
        self._rounds, self._at = rounds, time.monotonic()


def estimates(ledger: Ledger, evaluation: Evaluation) -> list[Estimate]:
    """The estimates of every configuration, and of every pair's difference, from the consumed rounds."""
    questions = ledger.questions_consumed()
    scores = [
        _estimate(ledger, evaluation, questions, id_, None, ledger.estimate(id_), ledger.interval(id_))
        for id_ in ledger.configuration_ids
    ]
    differences = [
        _estimate(
            ledger,
            evaluation,
            questions,
            first,
            second,
            ledger.estimate(first) - ledger.estimate(second),
            ledger.difference(first, second),
        )
        for first, second in combinations(ledger.configuration_ids, 2)
    ]
    return scores + differences


def _estimate(
    ledger: Ledger,
    evaluation: Evaluation,
    questions: int,
    configuration_id: int,
    against_id: int | None,
    value: float,
    bounds: tuple[float, float],
) -> Estimate:
    lower, upper = bounds
    return Estimate(
        evaluation=evaluation,
        configuration_id=configuration_id,
        against_id=against_id,
        metric=Metric.SCORE if against_id is None else Metric.DIFFERENCE,
        value=None if math.isnan(value) else min(max(value, lower), upper),
        lower=lower,
        upper=upper,
        alpha=evaluation.plan["alpha"],
        method=METHOD,
        rounds=ledger.rounds_consumed,
        trials=ledger.rounds_consumed * ledger.tries,
        questions=questions,
    )
