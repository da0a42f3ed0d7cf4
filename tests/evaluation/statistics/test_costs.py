"""Costs, latencies, quantiles and categories."""

import math

import numpy as np
import pytest

from evaluation.statistics import CappedMean, CategoryMeans, CostPerCorrect, QuantileSequence, quantile, ratio_interval


def test_a_capped_mean_starts_as_its_range_and_closes_on_the_mean() -> None:
    mean = CappedMean(20.0)
    assert mean.interval == (0.0, 20.0)
    for value in np.resize([1.0, 3.0], 2000):
        mean.update(float(value))
    assert mean.interval[0] < 2.0 < mean.interval[1]
    assert mean.interval[1] - mean.interval[0] < 0.5


def test_values_above_the_limit_count_as_the_limit() -> None:
    capped, at_limit = CappedMean(2.0), CappedMean(2.0)
    for _ in range(50):
        capped.update(1e9)
        at_limit.update(2.0)
    assert capped.interval == at_limit.interval


def test_unknown_values_advance_neither_bound() -> None:
    mean = CappedMean(1.0)
    for _ in range(500):
        mean.update(None)
    assert mean.interval == (0.0, 1.0)


def test_ratios_weigh_rounds_of_a_guided_law() -> None:
    """Items 0 (cost 0) and 1 (cost 1) of equal weight, the second drawn with probability 0.8."""
    rng = np.random.default_rng(2)
    mean = CappedMean(1.0, largest_ratio=2.5)
    for second in rng.random(3000) < 0.8:
        mean.update(float(second), ratio=0.625 if second else 2.5)
    assert mean.interval[0] < 0.5 < mean.interval[1] < 0.56


@pytest.mark.parametrize(("value", "ratio"), [(-1.0, 1.0), (math.nan, 1.0), (1.0, 2.0), (1.0, 0.0)])
def test_bad_values_and_ratios_are_refused(value: float, ratio: float) -> None:
    with pytest.raises(ValueError, match=r"value|ratio"):
        CappedMean(1.0).update(value, ratio)


def test_cost_per_correct_answer_is_unbounded_while_nothing_is_right() -> None:
    cost = CostPerCorrect(1.0)
    for _ in range(100):
        cost.update(0.5, 0.0)
    lower, upper = cost.interval
    assert upper == math.inf
    assert lower > 1.0


def test_a_bad_score_leaves_the_cost_as_it_was() -> None:
    cost = CostPerCorrect(1.0)
    with pytest.raises(ValueError, match="score"):
        cost.update(0.5, 2.0)
    assert cost.interval == (0.0, math.inf)


def test_a_ratio_of_bounds_takes_the_extremes() -> None:
    assert ratio_interval((1.0, 2.0), (0.5, 0.8)) == (1.25, 4.0)


def test_categories_share_alpha_and_keep_apart() -> None:
    means = CategoryMeans(["easy", "hard"], 0.05)
    for _ in range(100):
        means.update("easy", 1.0)
        means.update("hard", None)
    assert means.interval("easy")[0] > 0.9
    assert means.interval("hard") == (0.0, 1.0)
    with pytest.raises(ValueError, match="category"):
        means.update("other", 1.0)


def test_a_quantile_closes_in_between_its_candidates() -> None:
    sequence = QuantileSequence(np.linspace(0.05, 1.0, 20).tolist(), 0.9)
    assert sequence.interval == (-math.inf, math.inf)
    for value in np.random.default_rng(3).random(2000):
        sequence.update(float(value))
    lower, upper = sequence.interval
    assert 0.8 <= lower < 0.9 <= upper <= 0.95


def test_answers_that_never_came_are_later_than_every_candidate() -> None:
    sequence = QuantileSequence([1.0, 2.0], 0.5)
    for _ in range(200):
        sequence.update(math.inf)
    assert sequence.interval == (2.0, math.inf)


@pytest.mark.parametrize("candidates", [[], [1.0, 1.0], [2.0, 1.0], [math.nan]])
def test_candidates_that_do_not_increase_are_refused(candidates: list[float]) -> None:
    with pytest.raises(ValueError, match="candidates"):
        QuantileSequence(candidates, 0.5)


def test_the_quantile_of_a_sample_lies_within_its_bounds() -> None:
    value, lower, upper = quantile(np.arange(1.0, 1001.0), 0.5)
    assert value == 500.0
    assert lower < value < upper


def test_a_quantile_of_nothing_is_unknown() -> None:
    value, lower, upper = quantile([], 0.5)
    assert math.isnan(value)
    assert (lower, upper) == (-math.inf, math.inf)


def test_a_sample_too_small_for_a_bound_has_none() -> None:
    assert quantile([1.0, 2.0, 3.0], 0.99)[2] == math.inf


@pytest.mark.parametrize(("values", "p"), [([1.0], 0.0), ([1.0], 1.0), ([math.nan], 0.5)])
def test_bad_quantiles_are_refused(values: list[float], p: float) -> None:
    with pytest.raises(ValueError, match=r"p must|values"):
        quantile(values, p)
