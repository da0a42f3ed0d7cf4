"""The log of an evaluation, replayed into its sampler and estimator.

The log is the union of rounds (draws) and trials (results) in the order of their sequence numbers. Whoever holds the
lock on the evaluation's row brings a ledger up to date with what others appended, appends draws and results of their
own, and so computes exactly what anyone computes who replays the log from the start.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

from evaluation.models import Entry, Evaluation, Round, Trial
from evaluation.statistics import AdaptiveEvaluation
from questions.models import SuiteItem


class LogContradicted(RuntimeError):
    """Replaying the log drew another question than was recorded: log, plan or code are not those of the run."""


@dataclass(frozen=True)
class Draw:
    """One draw: round ``number`` asks the suite's item at ``position``, which had this ``probability``."""

    number: int
    position: int
    probability: float


class Ledger:
    """Sampler and estimator of one evaluation, as of ``sequence`` events of its log."""

    def __init__(
        self, *, configuration_ids: Sequence[int], weights: Sequence[float], alpha: float, seed: int, tries: int
    ):
        total = sum(weights)
        self.configuration_ids = list(configuration_ids)
        self.tries = tries
        self.sequence = 0
        self._statistics = AdaptiveEvaluation(
            size=len(weights),
            configurations=[str(id_) for id_ in configuration_ids],
            weights=[weight / total for weight in weights],
            alpha=alpha,
            repeated=True,
            surrogate=None,
            seed=seed,
        )
        self._positions: list[int] = []
        # Of rounds not yet complete: the scores so far by configuration and try.
        self._open: dict[int, dict[int, dict[int, float | None]]] = {}

    @classmethod
    def of(cls, evaluation: Evaluation) -> "Ledger":
        """An empty ledger for an evaluation, at the start of its log."""
        ids = (
            Entry.objects.filter(evaluation=evaluation).order_by("position").values_list("configuration_id", flat=True)
        )
        weights = (
            SuiteItem.objects.filter(suite=evaluation.suite_id).order_by("position").values_list("weight", flat=True)
        )
        plan = evaluation.plan
        return cls(
            configuration_ids=list(ids),
            weights=list(weights),
            alpha=plan["alpha"],
            seed=plan["seed"],
            tries=plan["tries"],
        )

    @property
    def rounds_drawn(self) -> int:
        return len(self._positions)

    @property
    def rounds_consumed(self) -> int:
        """Length of the completed prefix, which is all that estimates may use."""
        return self._statistics.consumed

    def questions_consumed(self) -> int:
        """How many different questions the completed prefix holds."""
        return len(set(self._positions[: self.rounds_consumed]))

    def open_rounds(self) -> list[int]:
        return sorted(self._open)

    def missing(self, number: int) -> list[tuple[int, int]]:
        """The (configuration, try) pairs of an open round that have no result yet."""
        have = self._open[number]
        return [(id_, try_) for id_ in self.configuration_ids for try_ in range(self.tries) if try_ not in have[id_]]

    def position(self, number: int) -> int:
        return self._positions[number]

    def lacks(self, number: int, configuration_id: int, try_number: int) -> bool:
        """Whether this trial was drawn and has no result yet."""
        scores = self._open.get(number, {}).get(configuration_id)
        return scores is not None and 0 <= try_number < self.tries and try_number not in scores

    def draw(self) -> Draw:
        """Append a draw."""
        drawn = self._statistics.draw()
        assert drawn is not None  # questions are drawn with replacement, so that none is ever the last
        draw = Draw(drawn.number, int(drawn.item), float(drawn.probability))
        self._positions.append(draw.position)
        self._open[draw.number] = {id_: {} for id_ in self.configuration_ids}
        self.sequence += 1
        return draw

    def record(self, number: int, configuration_id: int, try_number: int, score: float | None) -> bool:
        """Append a result; None is a void. Whether it completed its round. Raises ValueError for one not lacking."""
        if not self.lacks(number, configuration_id, try_number):
            raise ValueError(f"round {number}, configuration {configuration_id}, try {try_number} awaits no result")
        scores = self._open[number][configuration_id]
        scores[try_number] = score
        self.sequence += 1
        if len(scores) == self.tries:
            # In the order of tries, so that a mean does not depend on the order of arrival.
            known = [scores[try_] for try_ in range(self.tries)]
            mean = None if None in known else sum(s for s in known if s is not None) / self.tries
            self._statistics.record(number, str(configuration_id), mean)
        if all(len(scores) == self.tries for scores in self._open[number].values()):
            del self._open[number]
            return True
        return False

    def catch_up(self, evaluation: Evaluation) -> None:
        """Apply what the log holds beyond ``sequence``. Raises LogContradicted."""
        if self.sequence == evaluation.log_length:
            return
        for event in _events(evaluation, self.sequence):
            if event.sequence != self.sequence:
                raise LogContradicted(f"event {self.sequence} of evaluation {evaluation.pk} is missing")
            if isinstance(event, Round):
                draw = self.draw()
                recorded = Draw(event.number, event.position, event.probability)
                if draw != recorded:
                    raise LogContradicted(f"evaluation {evaluation.pk} recorded {recorded}, replay draws {draw}")
            else:
                self.record(event.round_number, event.configuration_id, event.try_number, event.score)
        if self.sequence != evaluation.log_length:
            raise LogContradicted(f"the log of evaluation {evaluation.pk} ends before its length")

    def interval(self, configuration_id: int) -> tuple[float, float]:
        return self._statistics.interval(str(configuration_id))

    def estimate(self, configuration_id: int) -> float:
        """The point estimate; NaN before any data."""
        return self._statistics.estimate(str(configuration_id))

    def difference(self, first: int, second: int) -> tuple[float, float]:
        """Bounds of the first configuration's mean minus the second's, for all pairs at once."""
        return self._statistics.difference(str(first), str(second), simultaneous=True)


def _events(evaluation: Evaluation, start: int) -> Iterator[Round | Trial]:
    """Rounds and trials in the order of the log."""
    rounds = Round.objects.filter(evaluation=evaluation, sequence__gte=start).order_by("sequence")
    trials = Trial.objects.filter(evaluation=evaluation, sequence__gte=start).order_by("sequence")
    rounds = rounds.only("sequence", "number", "position", "probability")
    trials = trials.only("sequence", "round_number", "configuration_id", "try_number", "score")
    streams: list[Iterator[Round | Trial]] = [rounds.iterator(5000), trials.iterator(5000)]
    yield from heapq.merge(*streams, key=attrgetter("sequence"))
