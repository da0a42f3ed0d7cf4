"""Predictions from difficulty, and what they are worth."""

import math

import numpy as np
import pytest

from evaluation.statistics import AdaptiveMean, DifficultySurrogate


def test_without_outcomes_every_item_is_a_coin() -> None:
    assert DifficultySurrogate(4).predict().tolist() == [0.5] * 4


def test_items_that_others_solve_are_predicted_to_be_solved() -> None:
    outcomes = np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    easy, middle, hard = DifficultySurrogate(3, outcomes).predict()
    assert 1.0 >= easy > middle > hard >= 0.0


def test_own_results_correct_the_band_of_difficulty_they_fall_in() -> None:
    outcomes = np.repeat([[1.0] * 4, [0.0] * 4], 50, axis=0)
    surrogate = DifficultySurrogate(100, outcomes)
    easy, hard = surrogate.predict()[[0, 99]]
    for item in range(30):
        surrogate.learn(item, 0.0)
    assert surrogate.predict()[40] < easy - 0.4
    assert surrogate.predict()[99] == hard


def test_results_of_others_make_an_item_easier_or_harder() -> None:
    surrogate = DifficultySurrogate(3)
    surrogate.learn_from_another(0, 1.0)
    surrogate.learn_from_another(1, 0.0)
    assert surrogate.predict()[0] > surrogate.predict()[1]


def test_missing_outcomes_count_as_unknown() -> None:
    surrogate = DifficultySurrogate(2, [[1.0, math.nan], [math.nan, math.nan]])
    assert np.isfinite(surrogate.predict()).all()


@pytest.mark.parametrize("outcomes", [[[1.0], [0.0], [1.0]], [1.0, 0.0], [[2.0], [0.0]]])
def test_bad_outcomes_are_refused(outcomes: list[object]) -> None:
    with pytest.raises(ValueError, match="outcomes"):
        DifficultySurrogate(2, outcomes)  # type: ignore[arg-type]


def trials(surrogate: object, y: np.ndarray, seed: int, *, repeated: bool) -> int:
    mean = AdaptiveMean(len(y), repeated=repeated, surrogate=surrogate, seed=seed)
    while (draw := mean.draw()) is not None:
        mean.record(draw.number, float(y[draw.item]))
        if mean.interval[1] - mean.interval[0] <= 0.14:
            break
    return mean.consumed


@pytest.mark.parametrize("repeated", [True, False])
def test_a_good_surrogate_halves_the_trials_and_a_bad_one_costs_little(repeated: bool) -> None:
    rng = np.random.default_rng(1)
    p = rng.choice([0.05, 0.95], 600, p=[0.3, 0.7])
    y = (rng.random(600) < p).astype(float)
    medians = {
        name: np.median([trials(surrogate, y, seed, repeated=repeated) for seed in range(12)])
        for name, surrogate in {"none": None, "good": p, "inverted": 1 - p, "shuffled": rng.permutation(p)}.items()
    }
    assert medians["good"] < 0.55 * medians["none"]
    assert medians["inverted"] < 1.1 * medians["none"]
    assert medians["shuffled"] < 1.1 * medians["none"]
