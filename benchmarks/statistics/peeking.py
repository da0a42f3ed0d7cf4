"""How wrong intervals for a fixed sample size are when looked at after every trial."""

import math

import numpy as np

from evaluation.statistics.checks import Floats

Z = 1.959964


def _wald(mean: Floats, count: int) -> tuple[Floats, Floats]:
    reach = Z * np.sqrt(mean * (1 - mean) / count)
    return mean - reach, mean + reach


def _wilson(mean: Floats, count: int) -> tuple[Floats, Floats]:
    centre = (mean + Z**2 / (2 * count)) / (1 + Z**2 / count)
    reach = Z * np.sqrt(mean * (1 - mean) / count + Z**2 / (4 * count**2)) / (1 + Z**2 / count)
    return centre - reach, centre + reach


def miss_rates(p: float = 0.8, rounds: int = 1000, replications: int = 2000, first_look: int = 30) -> dict[str, float]:
    """Share of replications in which the truth lies outside at any look from ``first_look`` on."""
    rng = np.random.default_rng(7)
    counts = np.cumsum(rng.random((replications, rounds)) < p, axis=1)
    missed = {"Wald": np.zeros(replications, dtype=bool), "Wilson": np.zeros(replications, dtype=bool)}
    for count in range(first_look, rounds + 1):
        mean = counts[:, count - 1] / count
        for name, method in (("Wald", _wald), ("Wilson", _wilson)):
            lower, upper = method(mean, count)
            missed[name] |= (lower > p) | (upper < p)
    return {name: float(np.mean(values)) for name, values in missed.items()}


def wald_trials(p: float, half_width: float) -> int:
    """Trials that an interval for a fixed size, looked at once, takes: the limit that no honest peeking reaches."""
    return math.ceil(Z**2 * p * (1 - p) / half_width**2)
