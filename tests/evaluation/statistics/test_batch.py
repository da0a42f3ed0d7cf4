"""BettingSequences: the numbers of BettingSequence, side by side."""

import math

import numpy as np
import pytest

from evaluation.statistics import BettingSequence, BettingSequences

SIZE, ROUNDS = 70, 250


def observations(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Streams of different means, some voids, bounds that move."""
    rng = np.random.default_rng(seed)
    z = (rng.random((ROUNDS, SIZE)) < rng.random(SIZE)).astype(float)
    void = rng.random((ROUNDS, SIZE)) < 0.03
    lower, upper = -0.2 * rng.random((ROUNDS, 1)), 1 + 0.2 * rng.random((ROUNDS, 1))
    shape = (ROUNDS, SIZE)
    return np.where(void, 0.0, z), np.broadcast_to(lower, shape), np.broadcast_to(upper, shape), np.where(void, 1.0, z)


def test_a_batch_gives_the_numbers_of_single_sequences() -> None:
    batch = BettingSequences(SIZE, 0.02)
    singles = [BettingSequence(0.02) for _ in range(SIZE)]
    for z, lower, upper, z_upper in zip(*observations(1), strict=True):
        batch.update(z, lower, upper, z_upper)
        for row, single in enumerate(singles):
            single.update(float(z[row]), float(lower[row]), float(upper[row]), float(z_upper[row]))
    assert batch.intervals() == pytest.approx(np.array([single.interval for single in singles]), abs=1e-12)


def test_a_further_level_is_wider_and_close_to_a_batch_of_its_own() -> None:
    both, strict = BettingSequences(SIZE, [0.05, 0.001]), BettingSequences(SIZE, 0.001)
    for z, lower, upper, z_upper in zip(*observations(2), strict=True):
        both.update(z, lower, upper, z_upper)
        strict.update(z, lower, upper, z_upper)
    assert (both.intervals(1) == strict.intervals()).all()
    assert (both.intervals(0)[:, 0] >= both.intervals(1)[:, 0]).all()
    assert (both.intervals(0)[:, 1] <= both.intervals(1)[:, 1]).all()


def test_json_restores_every_bit() -> None:
    batch = BettingSequences(SIZE, [0.05, 0.001], (-1.0, 2.0))
    data = list(zip(*observations(3), strict=True))
    for row in data[:100]:
        batch.update(*row)
    restored = BettingSequences.from_json(batch.to_json())
    for each in (batch, restored):
        for row in data[100:130]:
            each.update(*row)
    assert batch.to_json() == restored.to_json()


def test_a_stream_whose_bounds_meet_is_settled_and_the_others_go_on() -> None:
    batch = BettingSequences(2)
    batch.update([0.5, 1.0], [0.5, 0.0], [0.5, 1.0])
    assert batch.interval(0) == (0.5, 0.5)
    assert batch.interval(1) == (0.0, 1.0)


def test_certain_knowledge_narrows_every_level() -> None:
    batch = BettingSequences(2, [0.05, 0.01])
    batch.know([0.2, 0.3], [0.4, 0.3])
    assert batch.intervals(0).tolist() == batch.intervals(1).tolist() == [[0.2, 0.4], [0.3, 0.3]]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (([0.5, math.nan],), "nan"),
        (([0.5, 1.5],), "1.5"),
        (([0.5],), "z must be 2 numbers"),
        (([0.5, 0.5], 1.0, 0.0), "cross"),
        (([0.5, 0.5], 0.0, 1.0, [0.5, 0.4]), "0.5"),
    ],
)
def test_bad_observations_are_refused_and_change_nothing(arguments: tuple[object, ...], named: str) -> None:
    batch = BettingSequences(2)
    batch.update([1.0, 0.0])
    before = batch.to_json()
    with pytest.raises(ValueError, match=named):
        batch.update(*arguments)  # type: ignore[arg-type]
    assert batch.to_json() == before


@pytest.mark.parametrize(("count", "alphas"), [(0, 0.05), (2, 0.0), (2, [0.05, 1.0]), (1.5, 0.05)])
def test_bad_sizes_and_levels_are_refused(count: int, alphas: float) -> None:
    with pytest.raises(ValueError, match=r"count|alphas"):
        BettingSequences(count, alphas)
