"""No more misses at any look than promised, in small simulations; the large ones are in benchmarks/statistics."""

import numpy as np
import pytest

from benchmarks.statistics import peeking, validity
from evaluation.statistics import BettingSequences, CostPerCorrect, HoeffdingSequence, QuantileSequence

REPLICATIONS = 60


@pytest.mark.parametrize("p", [0.001, 0.02, 0.5, 0.99])
def test_independent_observations_are_covered_at_every_look(p: float) -> None:
    misses = validity._independent(p, 400, 400)
    assert validity.Coverage("", misses, 400).is_within


@pytest.mark.parametrize(
    "setting",
    [
        "repeated, weights over a factor of 100",
        "repeated, guided, floor 0.3",
        "repeated, voids where it is hard",
        "once, inverted surrogate",
        "once, perfect surrogate",
        "once, pool of 5, weights, surrogate",
        "corrected verdicts of a judge",
        "two speeds, echo, slow, once",
        "two speeds, echo, difference, repeated",
    ],
)
def test_hard_settings_are_covered_at_every_look(setting: str) -> None:
    misses = sum(validity.SETTINGS[setting](10 * seed) for seed in range(REPLICATIONS))
    assert validity.Coverage(setting, misses, REPLICATIONS).is_within


def test_a_pool_of_five_is_never_missed_by_more_than_alpha_over_all_its_orders() -> None:
    misses = sum(validity.SETTINGS["once, pool of 5"](10 * seed) for seed in range(500))
    assert validity.Coverage("", misses, 500).is_within


def test_all_levels_of_a_batch_are_covered() -> None:
    rng = np.random.default_rng(3)
    sequences = BettingSequences(500, [0.2, 0.05], (-1.0, 1.0))
    missed = np.zeros((2, 500), dtype=bool)
    for _ in range(300):
        sequences.update((rng.random(500) < 0.6).astype(float) - (rng.random(500) < 0.5), -1.0, 1.0)
        for level in (0, 1):
            bounds = sequences.intervals(level)
            missed[level] |= (bounds[:, 0] > 0.1) | (bounds[:, 1] < 0.1)
    assert missed.mean(axis=1)[0] < 0.2 + 2 * np.sqrt(0.16 / 500)
    assert missed.mean(axis=1)[1] < 0.05 + 2 * np.sqrt(0.0475 / 500)


def test_quantiles_are_covered_at_every_look() -> None:
    misses = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        sequence = QuantileSequence(np.linspace(0.02, 1.0, 50).tolist(), 0.5)
        missed = False
        for value in rng.random(120):
            sequence.update(float(value))
            lower, upper = sequence.interval
            missed |= not lower <= 0.5 <= upper
        misses += missed
    assert validity.Coverage("", misses, 60).is_within


def test_cost_per_correct_answer_is_covered_at_every_look() -> None:
    misses = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        sequence = CostPerCorrect(1.0)
        missed = False
        for _ in range(150):
            right = rng.random() < 0.5
            sequence.update(float(rng.random() * (0.4 if right else 0.8)), float(right))
            lower, upper = sequence.interval
            missed |= not lower <= 0.6 <= upper
        misses += missed
    assert validity.Coverage("", misses, 60).is_within


def test_a_fixed_size_interval_looked_at_often_misses_far_more_than_it_says() -> None:
    rates = peeking.miss_rates(replications=300)
    assert min(rates.values()) > 0.15


def test_the_hoeffding_baseline_is_wider_than_betting_on_the_same_data() -> None:
    rng = np.random.default_rng(1)
    hoeffding, betting = HoeffdingSequence(), BettingSequences(1)
    for z in (rng.random(500) < 0.9).astype(float):
        hoeffding.update(float(z))
        betting.update([z])
    lower, upper = betting.interval(0)
    assert upper - lower < hoeffding.interval[1] - hoeffding.interval[0]
