"""pass@k, pass^k, clustered means, variance between and within questions, projections."""

import math
from itertools import combinations

import numpy as np
import pytest

from evaluation.statistics import (
    BettingSequence,
    clustered_mean,
    pass_at_k,
    pass_hat_k,
    rounds_to_settle,
    variance_shares,
)


@pytest.mark.parametrize(("n", "c", "k"), [(5, 2, 3), (5, 0, 2), (4, 4, 4), (6, 5, 1)])
def test_pass_figures_average_over_all_choices_of_k_tries(n: int, c: int, k: int) -> None:
    tries = [True] * c + [False] * (n - c)
    choices = list(combinations(tries, k))
    assert pass_at_k(n, c, k) == pytest.approx(sum(any(each) for each in choices) / len(choices))
    assert pass_hat_k(n, c, k) == pytest.approx(sum(all(each) for each in choices) / len(choices))


@pytest.mark.parametrize(("n", "c", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 0), (3, 1, 4)])
def test_impossible_counts_are_refused(n: int, c: int, k: int) -> None:
    for figure in (pass_at_k, pass_hat_k):
        with pytest.raises(ValueError, match="must lie between"):
            figure(n, c, k)


def test_clustered_bounds_cover_at_a_fixed_size() -> None:
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(400):
        found = clustered_mean(rng.beta(2, 1, 30))
        covered += found.lower <= 2 / 3 <= found.upper
    assert 0.92 <= covered / 400 <= 0.98


def test_one_question_says_nothing_about_others() -> None:
    found = clustered_mean([0.4])
    assert found.value == 0.4
    assert math.isnan(found.lower)


def test_variance_between_and_within_is_estimated_without_bias() -> None:
    rng = np.random.default_rng(2)
    between, within = [], []
    for _ in range(300):
        p = rng.choice([0.2, 0.8], 20)
        shares = variance_shares(list((rng.random((20, 4)) < p[:, None]).astype(float)))
        between.append(shares.between.value)
        within.append(shares.within.value)
    assert np.mean(between) == pytest.approx(0.09, abs=0.01)
    assert np.mean(within) == pytest.approx(0.16, abs=0.01)


def test_different_questions_call_for_more_questions() -> None:
    shares = variance_shares([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]] * 10)
    assert shares.more_helpful == "questions"
    assert shares.standard_error(20, 1) == pytest.approx(shares.standard_error(20, 100))


def test_too_few_tries_are_refused() -> None:
    with pytest.raises(ValueError, match="scores"):
        variance_shares([[1.0], [0.0, 1.0]])


def test_a_settled_difference_needs_nothing_more() -> None:
    found = rounds_to_settle(estimate=0.2, interval=(0.1, 0.3), variance=0.2, consumed=100)
    assert (found.likely, found.least, found.most) == (0.0, 0.0, 0.0)


def test_an_open_difference_may_stay_open_for_ever() -> None:
    found = rounds_to_settle(estimate=0.05, interval=(-0.02, 0.12), variance=0.2, consumed=100)
    assert 0 < found.least < found.likely < found.most == math.inf
    assert found.label.startswith("projection")


def test_no_difference_is_never_settled() -> None:
    assert rounds_to_settle(estimate=0.0, interval=(-0.1, 0.1), variance=0.2, consumed=0).likely == math.inf


def test_a_projection_is_about_what_a_run_takes() -> None:
    projected = rounds_to_settle(estimate=0.1, interval=(-1.0, 1.0), variance=0.49, consumed=0).likely
    taken = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        sequence = BettingSequence(domain=(-1.0, 1.0))
        count = 0
        while sequence.interval[0] <= 0.0 and count < 4000:
            count += 1
            sequence.update(float(rng.choice([1.0, 0.0, -1.0], p=[0.3, 0.5, 0.2])), -1.0, 1.0)
        taken.append(count)
    assert 0.4 < np.median(taken) / projected < 2.5


@pytest.mark.parametrize("arguments", [{"variance": -1.0}, {"consumed": -1}, {"alpha": 0.0}])
def test_bad_projections_are_refused(arguments: dict[str, float]) -> None:
    given = {"estimate": 0.1, "interval": (-0.1, 0.2), "variance": 0.2, "consumed": 5, **arguments}
    with pytest.raises(ValueError, match=next(iter(arguments))):
        rounds_to_settle(**given)  # type: ignore[arg-type]
