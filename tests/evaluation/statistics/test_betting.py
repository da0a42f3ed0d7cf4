"""BettingSequence: what an interval promises, exactness, bad input."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.statistics import BettingSequence
from evaluation.statistics import betting as module


def bernoulli(p: float, size: int, seed: int) -> list[float]:
    return (np.random.default_rng(seed).random(size) < p).astype(float).tolist()


def test_interval_starts_as_the_domain() -> None:
    assert BettingSequence(domain=(-2.0, 3.0)).interval == (-2.0, 3.0)


def test_interval_never_widens() -> None:
    sequence = BettingSequence()
    for z in bernoulli(0.7, 500, 1):
        lower, upper = sequence.interval
        sequence.update(z)
        assert lower <= sequence.interval[0] <= sequence.interval[1] <= upper


def test_arrays_give_the_same_bits_as_one_by_one() -> None:
    one, many = BettingSequence(), BettingSequence()
    data = bernoulli(0.4, 200, 2)
    for z in data:
        one.update(z)
    many.update(np.array(data), lower=np.zeros(200), upper=1.0)
    assert one.to_json() == many.to_json()


def test_json_restores_every_bit() -> None:
    sequence = BettingSequence(0.01, (-1.0, 2.0))
    for z in bernoulli(0.4, 77, 3):
        sequence.update(z, -0.25, 1.5)
    restored = BettingSequence.from_json(sequence.to_json())
    for each in (sequence, restored):
        for z in bernoulli(0.4, 50, 4):
            each.update(z)
    assert sequence.to_json() == restored.to_json()


@pytest.mark.parametrize("p", [0.02, 0.5, 0.78])
def test_bounds_are_no_wider_than_on_a_hundred_times_finer_grid_but_for_1e_4(
    p: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    coarse = BettingSequence()
    monkeypatch.setattr(module, "CELLS", 160 * 100)
    fine = BettingSequence()
    for z in bernoulli(p, 400, 5):
        monkeypatch.setattr(module, "CELLS", 160)
        coarse.update(z)
        monkeypatch.setattr(module, "CELLS", 160 * 100)
        fine.update(z)
        assert coarse.interval[0] >= fine.interval[0] - 1e-4
        assert coarse.interval[1] <= fine.interval[1] + 1e-4


def test_capital_of_a_node_is_what_exact_arithmetic_says() -> None:
    sequence = BettingSequence()
    data = [1.0, 0.0, 1.0, 1.0, 0.5, 1.0, 0.25, 1.0]
    node = 100
    m = Fraction(node, module.CELLS)
    step, share = Fraction(1, module.CELLS), Fraction(module.LARGEST_SHARE)
    total, weight, squares = Fraction(1, 2), Fraction(1), Fraction(0)
    prior = Fraction(module.PRIOR_VARIANCE_COUNT)
    capital = Fraction(1)
    for count, z in enumerate(map(Fraction, data)):
        variance = (squares + prior / 4) / (count + prior)
        d = total / weight - m
        bet = min(max(d / (variance + d * d), -share / (1 - m)), share / m)
        capital *= 1 + bet * (z - m) - step**2 / (4 * variance)
        squares += (z - total / weight) ** 2
        total, weight = total + z, weight + 1
        sequence.update(float(z))
    assert sequence._capital[node] == pytest.approx(math.log(capital), abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=2, max_size=60), st.floats(0.05, 0.95))
def test_interpolated_capital_never_exceeds_that_of_a_gambler_in_between(data: list[float], place: float) -> None:
    """The gambler at m between two nodes bets the mixture of their bets: his factors, multiplied out."""
    sequence = BettingSequence(alpha=1e-12)
    node = 40
    m = (node + place) / module.CELLS
    log_capital = 0.0
    for count, z in enumerate(data):
        estimate = sequence._weighted_sum / sequence._weight
        variance = sequence._squares + module.PRIOR_VARIANCE_COUNT / 4
        variance /= count + module.PRIOR_VARIANCE_COUNT
        bets = []
        for k in (node, node + 1):
            at = k / module.CELLS
            d = estimate - at
            bet = d / (variance + d * d)
            bets.append(min(max(bet, -module.LARGEST_SHARE / (1 - at)), module.LARGEST_SHARE / at))
        log_capital += math.log1p(((1 - place) * bets[0] + place * bets[1]) * (z - m))
        sequence.update(z)
    if sequence._step == 1 / module.CELLS:
        interpolated = (1 - place) * sequence._capital[node] + place * sequence._capital[node + 1]
        assert interpolated <= log_capital + 1e-9


def test_many_observations_stay_finite_and_small() -> None:
    sequence = BettingSequence()
    size = len(sequence.to_json())
    sequence.update(np.resize([1.0, 0.0], 60_000))
    lower, upper = sequence.interval
    assert lower <= 0.5 <= upper
    assert upper - lower < 0.02
    assert np.isfinite(sequence._capital).all()
    assert len(sequence.to_json()) < 3 * size


def test_a_void_lets_neither_bound_advance_on_account_of_it() -> None:
    known, void = BettingSequence(), BettingSequence()
    for z in bernoulli(0.6, 300, 6):
        known.update(z)
        void.update(z)
    void.update(0.0, z_upper=1.0)
    assert void.interval == known.interval


def test_voids_hold_the_interval_open_by_their_share() -> None:
    sequence = BettingSequence()
    sequence.update(np.resize([1.0, 0.0, 1.0, 0.0, 0.0], 4000), z_upper=np.resize([1.0, 0.0, 1.0, 0.0, 1.0], 4000))
    lower, upper = sequence.interval
    assert lower <= 0.4
    assert upper >= 0.6


def test_predictable_bounds_on_one_value_settle_the_mean() -> None:
    sequence = BettingSequence()
    sequence.update(0.25, 0.25, 0.25)
    assert sequence.interval == (0.25, 0.25)
    assert not sequence.violated


def test_contradictory_observations_are_reported_as_a_violation() -> None:
    sequence = BettingSequence()
    sequence.update(0.1, 0.0, 0.2)
    sequence.update(0.9, 0.8, 1.0)
    assert sequence.violated
    assert sequence.interval[0] <= sequence.interval[1]


def test_a_drift_of_the_mean_is_reported_as_a_violation() -> None:
    sequence = BettingSequence()
    sequence.update(np.ones(1000))
    sequence.update(np.zeros(3000))
    assert sequence.violated


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((math.nan,), "nan"),
        ((math.inf,), "inf"),
        ((1.5,), "1.5"),
        ((-0.5,), "-0.5"),
        ((0.5, 1.0, 0.0), "lower 1.0"),
        ((0.5, math.nan, 1.0), "lower"),
        ((0.5, 0.0, math.inf), "upper"),
        ((0.5, 0.0, 1.0, 0.2), "0.2"),
        ((np.array([0.5, math.nan]),), "nan"),
        ((np.array([0.5, 0.5]), np.zeros(3)), "lower"),
    ],
)
def test_bad_observations_are_refused_by_name_and_change_nothing(arguments: tuple[object, ...], named: str) -> None:
    sequence = BettingSequence()
    sequence.update(1.0)
    before = sequence.to_json()
    with pytest.raises(ValueError, match=named):
        sequence.update(*arguments)  # type: ignore[arg-type]
    assert sequence.to_json() == before


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, math.nan, "0.05", None])
def test_alpha_outside_zero_and_one_is_refused(alpha: object) -> None:
    with pytest.raises(ValueError, match="alpha"):
        BettingSequence(alpha)  # type: ignore[arg-type]


@pytest.mark.parametrize("domain", [(1.0, 0.0), (0.0, 0.0), (0.0, math.inf), (math.nan, 1.0)])
def test_a_domain_that_does_not_run_upwards_is_refused(domain: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="domain"):
        BettingSequence(domain=domain)


@pytest.mark.parametrize("scale", [0.0, -1.0, math.inf, math.nan])
def test_a_scale_that_is_no_unit_is_refused(scale: float) -> None:
    with pytest.raises(ValueError, match="scale"):
        BettingSequence().update(0.5, scale=scale)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0.0, 1.0), max_size=40), st.floats(-5.0, 5.0), st.floats(0.1, 10.0))
def test_shifted_and_scaled_observations_give_shifted_and_scaled_bounds(
    data: list[float], shift: float, factor: float
) -> None:
    plain, moved = BettingSequence(), BettingSequence(domain=(shift, shift + factor))
    for z in data:
        plain.update(z)
        moved.update(shift + factor * z, shift, shift + factor, scale=factor)
    expected = [shift + factor * bound for bound in plain.interval]
    # The prior mean weighs one observation at scale 1, so that only the scales of the bounds agree exactly.
    if factor == 1.0:
        assert moved.interval == pytest.approx(expected, abs=1e-9)
    assert shift <= moved.interval[0] <= moved.interval[1] <= shift + factor


def test_state_is_plain_json() -> None:
    assert json.loads(BettingSequence().to_json())["domain"] == [0.0, 1.0]
