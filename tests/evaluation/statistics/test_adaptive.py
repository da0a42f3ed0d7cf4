"""AdaptiveMean and AdaptiveEvaluation: draws, any order of arrival, exhaustion, comparison, JSON, bad input."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.statistics import AdaptiveEvaluation, AdaptiveMean, DifficultySurrogate


def scores(size: int, seed: int, p: float = 0.6) -> np.ndarray:
    return (np.random.default_rng(seed).random(size) < p).astype(float)


def test_before_data_the_interval_is_everything_and_the_estimate_unknown() -> None:
    mean = AdaptiveMean(10)
    assert mean.interval == (0.0, 1.0)
    assert math.isnan(mean.estimate)
    assert (mean.drawn, mean.consumed) == (0, 0)


def test_rounds_are_numbered_from_zero_and_items_come_from_the_pool() -> None:
    mean = AdaptiveMean(7, repeated=True, seed=3)
    draws = [mean.draw() for _ in range(50)]
    assert [draw.number for draw in draws if draw] == list(range(50))
    assert {draw.item for draw in draws if draw} == set(range(7))


def test_without_repetition_each_item_is_drawn_once_and_then_none() -> None:
    mean = AdaptiveMean(20, seed=1)
    assert sorted(draw.item for draw in iter(mean.draw, None)) == list(range(20))
    assert mean.draw() is None


def test_the_probability_is_that_of_the_law_at_the_draw() -> None:
    weights = np.arange(1.0, 6.0) / 15
    mean = AdaptiveMean(5, weights, seed=2)
    left = 1.0
    for draw in iter(mean.draw, None):
        assert draw.probability == pytest.approx(weights[draw.item] / left)
        left -= weights[draw.item]


@pytest.mark.parametrize("floor", [1.0, 0.4])
def test_items_are_drawn_as_often_as_their_probability_says(floor: float) -> None:
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    mean = AdaptiveMean(4, weights, repeated=True, surrogate=np.array([0.5, 0.05, 0.95, 0.5]), seed=5, floor=floor)
    draws = [mean.draw() for _ in range(4000)]
    counts = np.bincount([draw.item for draw in draws if draw], minlength=4)
    law = {draw.item: draw.probability for draw in draws if draw}
    assert sum(law.values()) == pytest.approx(1.0)
    assert counts / 4000 == pytest.approx([law[i] for i in range(4)], abs=0.03)
    if floor == 1.0:
        assert [law[i] for i in range(4)] == pytest.approx(weights)


@pytest.mark.parametrize("floor", [1.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("surrogate", [None, "good", "inverted"])
def test_an_exhausted_pool_leaves_a_point(floor: float, weighted: bool, surrogate: str | None) -> None:
    y = scores(40, 4)
    weights = np.geomspace(1, 100, 40) / np.geomspace(1, 100, 40).sum() if weighted else None
    predictions = {"good": 0.1 + 0.8 * y, "inverted": 1.0 - y}.get(surrogate or "")
    mean = AdaptiveMean(40, weights, surrogate=predictions, seed=7, floor=floor)
    for draw in iter(mean.draw, None):
        mean.record(draw.number, y[draw.item])
    truth = float(y @ (np.full(40, 1 / 40) if weights is None else weights))
    assert mean.interval == pytest.approx((truth, truth), abs=1e-12)
    assert mean.interval[0] == mean.interval[1] == mean.estimate


def test_the_order_of_arrival_changes_nothing_but_the_moment() -> None:
    y = scores(60, 8)
    sorted_, shuffled = (AdaptiveMean(60, surrogate=0.2 + 0.6 * y, seed=9) for _ in range(2))
    draws = list(iter(sorted_.draw, None))
    assert list(iter(shuffled.draw, None)) == draws
    for draw in draws[:50]:
        sorted_.record(draw.number, y[draw.item])
    for k in np.random.default_rng(1).permutation(50):
        shuffled.record(int(k), y[draws[k].item])
    assert shuffled.interval == sorted_.interval
    assert shuffled.estimate == sorted_.estimate


def test_a_hole_holds_the_interval_back() -> None:
    mean = AdaptiveMean(100, repeated=True)
    for _ in range(30):
        mean.draw()
    for number in range(1, 30):
        mean.record(number, 1.0)
    assert mean.consumed == 0
    assert mean.interval == (0.0, 1.0)
    mean.record(0, 1.0)
    assert mean.consumed == 30
    assert mean.interval[0] > 0.3


def test_a_fast_configuration_is_not_held_back_by_a_slow_one() -> None:
    evaluation = AdaptiveEvaluation(50, ["fast", "slow"], repeated=True)
    for _ in range(40):
        draw = evaluation.draw()
        assert draw is not None
        evaluation.record(draw.number, "fast", 1.0)
    assert (evaluation.consumed_by("fast"), evaluation.consumed_by("slow"), evaluation.consumed) == (40, 0, 0)
    assert evaluation.interval("fast")[0] > 0.5
    assert evaluation.difference("fast", "slow") == (-1.0, 1.0)


def test_voids_stay_open_for_ever_without_repetition() -> None:
    mean = AdaptiveMean(10, seed=1)
    for draw in iter(mean.draw, None):
        mean.record(draw.number, None if draw.item < 2 else 1.0)
    assert mean.interval == pytest.approx((0.8, 1.0))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from([0.0, 0.3, 1.0, None]), min_size=1, max_size=40), st.integers(0, 5), st.booleans())
def test_the_estimate_lies_in_the_interval(results: list[float | None], seed: int, repeated: bool) -> None:
    mean = AdaptiveMean(40, repeated=repeated, surrogate=np.linspace(0, 1, 40), seed=seed)
    for result in results:
        draw = mean.draw()
        assert draw is not None
        mean.record(draw.number, result)
        assert mean.interval[0] <= mean.estimate <= mean.interval[1]


def test_corrected_scores_may_leave_the_unit_interval_within_their_bounds() -> None:
    mean = AdaptiveMean(5, repeated=True)
    for _ in range(300):
        draw = mean.draw()
        assert draw is not None
        mean.record(draw.number, 1.5 if draw.number % 2 else -0.5, lower=-1.0, upper=2.0)
    assert mean.interval[0] <= 0.5 <= mean.interval[1]
    assert mean.interval[1] - mean.interval[0] < 0.6


def test_corrected_scores_are_refused_where_each_item_is_asked_once() -> None:
    mean = AdaptiveMean(5)
    mean.draw()
    with pytest.raises(ValueError, match="lower and upper"):
        mean.record(0, 1.5, lower=-1.0, upper=2.0)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((5, 1.0), "number"),
        ((-1, 1.0), "number"),
        ((0, 1.0), "number"),
        ((1, math.nan), "score"),
        ((1, math.inf), "score"),
        ((1, 1.2), "1.2"),
        ((1, 0.5, 1.0, 0.0), "cross"),
        ((1, 0.5, math.nan, 1.0), "lower"),
    ],
)
def test_bad_records_are_refused_by_name_and_change_nothing(arguments: tuple[float, ...], named: str) -> None:
    mean = AdaptiveMean(10)
    mean.draw()
    mean.draw()
    mean.record(0, 1.0)
    before = mean.to_json()
    with pytest.raises(ValueError, match=named):
        mean.record(*arguments)  # type: ignore[arg-type]
    assert mean.to_json() == before


def test_a_round_has_one_result_of_each_configuration() -> None:
    evaluation = AdaptiveEvaluation(10, ["a", "b"])
    evaluation.draw()
    evaluation.record(0, "a", 1.0)
    with pytest.raises(ValueError, match="already"):
        evaluation.record(0, "a", 1.0)
    with pytest.raises(ValueError, match="configuration"):
        evaluation.record(0, "c", 1.0)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"size": 0}, "size"),
        ({"size": 2.5}, "size"),
        ({"alpha": 0.0}, "alpha"),
        ({"alpha": math.nan}, "alpha"),
        ({"weights": [0.5, 0.6, -0.1]}, "weights"),
        ({"weights": [0.5, 0.5, 0.5]}, "weights"),
        ({"weights": [0.5, 0.5]}, "weights"),
        ({"weights": [1.0, 0.0, 0.0]}, "weights"),
        ({"weights": [0.5, math.nan, 0.5]}, "weights"),
        ({"surrogate": np.array([0.5, 0.5])}, "surrogate"),
        ({"surrogate": np.array([0.5, 0.5, 1.5])}, "surrogate"),
        ({"surrogate": np.array([0.5, 0.5, math.nan])}, "surrogate"),
        ({"floor": 0.0}, "floor"),
        ({"floor": 1.5}, "floor"),
    ],
)
def test_bad_pools_are_refused_by_name(arguments: dict[str, object], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        AdaptiveMean(**{"size": 3, **arguments})  # type: ignore[arg-type]


@pytest.mark.parametrize("configurations", [[], ["a", "a"], "ab"])
def test_configurations_must_be_different_names(configurations: list[str]) -> None:
    with pytest.raises(ValueError, match="configurations"):
        AdaptiveEvaluation(3, configurations)


@pytest.mark.parametrize("names", [["a"], ["a", "b"], [f"c{i}" for i in range(6)]])
def test_json_restores_draws_and_bits_with_rounds_in_flight(names: list[str]) -> None:
    def configured() -> dict[str, object]:
        return {"a": np.linspace(0, 1, 80)} if "a" in names else {}

    original = AdaptiveEvaluation(80, names, seed=11, surrogate=configured())
    rng = np.random.default_rng(0)
    for _ in range(40):
        original.draw()
    cells = [(number, name) for number in range(40) for name in names]
    order = rng.permutation(len(cells))
    results = rng.random(len(cells))
    for k in order[: len(order) // 2]:
        original.record(*cells[k], float(results[k]) if results[k] > 0.1 else None)
    restored = AdaptiveEvaluation.from_json(original.to_json())
    for each in (original, restored):
        for k in order[len(order) // 2 :]:
            each.record(*cells[k], float(results[k]))
    assert [restored.draw() for _ in range(40)] == [original.draw() for _ in range(40)]
    assert restored.to_json() == original.to_json()
    assert restored.rank_sets() == original.rank_sets()


def test_a_surrogate_that_learns_is_given_anew_on_restoring() -> None:
    surrogate = DifficultySurrogate(30)
    mean = AdaptiveMean(30, surrogate=surrogate, seed=2)
    for _ in range(10):
        draw = mean.draw()
        assert draw is not None
        mean.record(draw.number, float(draw.item % 2))
    restored = AdaptiveMean.from_json(mean.to_json(), surrogate=surrogate)
    draw = mean.draw()
    assert restored.draw() == draw
    assert restored.interval == mean.interval


class Memory:
    """Predicts what it was last told about an item."""

    def __init__(self, size: int) -> None:
        self.values = np.full(size, 0.5)

    def predict(self) -> np.ndarray:
        return self.values.copy()

    def learn(self, item: int, score: float) -> None:
        self.values[item] = score


def test_what_a_shared_surrogate_learns_of_the_drawn_item_does_not_enter_its_round() -> None:
    """The trap: predictions that already know the answer would reproduce themselves without any variance."""
    slow_only_wrong = AdaptiveEvaluation(400, ["fast", "slow"], surrogate=Memory(400), seed=4)
    draws = [slow_only_wrong.draw() for _ in range(200)]
    for draw in draws:
        assert draw is not None
        slow_only_wrong.record(draw.number, "fast", 1.0)
    for draw in draws:
        assert draw is not None
        slow_only_wrong.record(draw.number, "slow", 0.0)
    lower, upper = slow_only_wrong.interval("slow")
    assert lower == 0.0
    assert upper < 0.2
    assert slow_only_wrong.rank_sets() == {"fast": (1, 1), "slow": (2, 2)}


class Listener(Memory):
    """Counts what it is told."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.own = self.others = 0

    def learn(self, item: int, score: float) -> None:
        self.own += 1

    def learn_from_another(self, item: int, score: float) -> None:
        self.others += 1


def test_surrogates_are_told_of_others_results_once() -> None:
    shared, single = Listener(9), Listener(9)
    evaluation = AdaptiveEvaluation(9, ["a", "b", "c"], surrogate={"a": shared, "b": shared, "c": single})
    evaluation.draw()
    for name in "abc":
        evaluation.record(0, name, 1.0)
    assert (shared.own, shared.others) == (2, 1)
    assert (single.own, single.others) == (1, 2)


def test_one_surrogate_for_each_configuration_may_be_a_matrix_a_list_or_a_mapping() -> None:
    good, flat = np.linspace(0, 1, 30), np.full(30, 0.5)
    given: list[object] = [np.stack([good, flat]), [good, flat], {"a": good, "b": flat}]
    states = []
    for surrogate in given:
        evaluation = AdaptiveEvaluation(30, ["a", "b"], surrogate=surrogate, seed=1)
        for _ in range(10):
            draw = evaluation.draw()
            assert draw is not None
            for name in ("a", "b"):
                evaluation.record(draw.number, name, 1.0)
        states.append(evaluation.to_json())
    assert states[0] == states[1] == states[2]


def test_surrogates_for_unknown_or_missing_configurations_are_refused() -> None:
    with pytest.raises(ValueError, match="surrogate"):
        AdaptiveEvaluation(3, ["a"], surrogate={"b": None})
    with pytest.raises(ValueError, match="surrogate"):
        AdaptiveEvaluation(3, ["a"], surrogate=np.full((2, 3), 0.5))


def test_a_difference_is_the_mirror_image_of_its_reverse() -> None:
    evaluation = AdaptiveEvaluation(100, ["a", "b"], repeated=True)
    for _ in range(100):
        draw = evaluation.draw()
        assert draw is not None
        evaluation.record(draw.number, "a", 1.0)
        evaluation.record(draw.number, "b", float(draw.number % 3 == 0))
    lower, upper = evaluation.difference("a", "b")
    assert 0.0 < lower < 0.67 < upper
    assert evaluation.difference("b", "a") == (-upper, -lower)
    assert evaluation.certified() == [("a", "b")]


@pytest.mark.parametrize("names", [["a", "b"], list("abcde")])
def test_a_projection_shrinks_to_nothing_once_a_pair_is_settled(names: list[str]) -> None:
    evaluation = AdaptiveEvaluation(500, names)
    assert math.isnan(evaluation.projection("a", "b").likely)
    rng = np.random.default_rng(2)
    projected = []
    for draw in iter(evaluation.draw, None):
        for name in names:
            evaluation.record(draw.number, name, float(rng.random() < (0.8 if name == "a" else 0.6)))
        projected.append(evaluation.projection("b", "a").likely)
    assert 5 < projected[20] <= 480
    assert projected[-1] == 0.0


def test_a_pair_of_one_has_no_projection() -> None:
    with pytest.raises(ValueError, match="second"):
        AdaptiveEvaluation(5, ["a"]).projection("a", "a")


def test_equal_totals_of_an_exhausted_pool_are_a_tie() -> None:
    y = scores(30, 5)
    evaluation = AdaptiveEvaluation(30, ["a", "b"], np.full(30, 1 / 30), seed=6)
    for draw in iter(evaluation.draw, None):
        evaluation.record(draw.number, "a", y[draw.item])
        evaluation.record(draw.number, "b", y[-1 - draw.item])
    assert evaluation.rank_sets() == {"a": (1, 2), "b": (1, 2)}


def test_many_configurations_agree_with_few_on_a_pair() -> None:
    """Ten pairs are handled side by side, three one by one."""
    y = {name: scores(50, i, 0.3 + 0.1 * i) for i, name in enumerate("abcde")}

    def run(names: str) -> AdaptiveEvaluation:
        evaluation = AdaptiveEvaluation(50, list(names), seed=3)
        for draw in iter(evaluation.draw, None):
            if draw.number == 35:
                break
            for name in names:
                evaluation.record(draw.number, name, y[name][draw.item])
        return evaluation

    assert run("abcde").difference("a", "c") == pytest.approx(run("abc").difference("a", "c"), abs=1e-4)
    assert run("abcde").difference("a", "c", simultaneous=True)[0] < run("abc").difference("a", "c")[0]
