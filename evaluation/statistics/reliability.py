"""How often k tries of one question succeed, from n tries of which c did: unbiased where n was fixed before looking."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from evaluation.statistics import checks
from evaluation.statistics.checks import Floats


def pass_at_k(n: int, c: int, k: int) -> float:
    """The probability that at least one of k tries succeeds, 1 - C(n - c, k) / C(n, k).

    (M. Chen et al., "Evaluating large language models trained on code", 2021, equation 1.) Raises ValueError unless
    0 <= c <= n and 1 <= k <= n.
    """
    _check(n, c, k)
    return 1.0 - comb(n - c, k) / comb(n, k)


def pass_hat_k(n: int, c: int, k: int) -> float:
    """The probability that all of k tries succeed, C(c, k) / C(n, k).

    (S. Yao et al., "tau-bench: a benchmark for tool-agent-user interaction in real-world domains", 2024.) Raises
    ValueError unless 0 <= c <= n and 1 <= k <= n.
    """
    _check(n, c, k)
    return comb(c, k) / comb(n, k)


@dataclass(frozen=True)
class FixedInterval:
    """A value with bounds that hold at one sample size fixed beforehand, not at every look."""

    value: float
    lower: float
    upper: float


def clustered_mean(values: ArrayLike, weights: ArrayLike | None = None, alpha: float = 0.05) -> FixedInterval:
    """The weighted mean of one value for each question, questions being the clusters, in [0, 1].

    ``values`` are, say, pass^k of each question; Student's t with 1 / sum w^2 - 1 degrees of freedom, NaN bounds
    for fewer than two questions. For bounds that hold at every look, feed each drawn question's value to a
    BettingSequence. Raises ValueError for values outside [0, 1].
    """
    checks.probability("alpha", alpha)
    size = len(np.asarray(values))
    y = checks.unit_array("values", values, checks.whole("number of values", size, 1))
    w = checks.pool_weights(weights, size)
    value = float(w @ y)
    effective = 1.0 / float(w @ w)
    if effective < 2.0 - 1e-9:
        return FixedInterval(value, float("nan"), float("nan"))
    variance = float((w * w) @ (y - value) ** 2) * effective / (effective - 1.0)
    reach = float(stats.t.ppf(1.0 - alpha / 2, effective - 1.0)) * sqrt(variance)
    return FixedInterval(value, max(0.0, value - reach), min(1.0, value + reach))


@dataclass(frozen=True)
class VarianceShares:
    """Variance of scores between questions and within them, with jackknife intervals over questions."""

    between: FixedInterval
    within: FixedInterval

    def standard_error(self, questions: int, tries: int) -> float:
        """Of the mean over so many questions, each tried so often."""
        return sqrt((max(self.between.value, 0.0) + self.within.value / tries) / questions)

    @property
    def more_helpful(self) -> str:
        """What the next try is better spent on: "questions", "tries", or "undecided".

        Another try on a question can at best remove the variance within, another question lowers both; a try is
        therefore wasted on a known question unless hardly any variance lies between them.
        """
        if self.between.lower > 0.0:
            return "questions"
        return "tries" if self.between.upper <= 0.0 else "undecided"


def variance_shares(scores: Sequence[ArrayLike], alpha: float = 0.05) -> VarianceShares:
    """Analysis of variance of the tries of each question: at least two questions, at least two tries of each.

    Unbiased for questions drawn alike: within, the mean of the questions' variances; between, the variance of the
    questions' means less what the tries put into it. The bounds are Student's t on jackknife pseudo-values, for a
    number of questions fixed beforehand. Raises ValueError for less.
    """
    checks.probability("alpha", alpha)
    arrays = [np.asarray(each, dtype=np.float64) for each in scores]
    if len(arrays) < 2 or min(a.size for a in arrays) < 2:
        raise ValueError("scores must hold at least two questions with at least two tries each")
    means = np.array([a.mean() for a in arrays])
    variances = np.array([a.var(ddof=1) for a in arrays])
    noise = variances / np.array([a.size for a in arrays])

    def between(kept: Floats) -> float:
        chosen = kept.astype(bool)
        return float(means[chosen].var(ddof=1) - noise[chosen].mean()) if chosen.sum() > 1 else float("nan")

    def within(kept: Floats) -> float:
        return float(variances[kept.astype(bool)].mean())

    return VarianceShares(*(_jackknife(statistic, len(arrays), alpha) for statistic in (between, within)))


def _jackknife(statistic: Callable[[Floats], float], size: int, alpha: float) -> FixedInterval:
    full = np.ones(size)
    value = statistic(full)
    left_out = np.array([statistic(full - np.eye(size)[i]) for i in range(size)])
    pseudo = size * value - (size - 1) * left_out
    reach = float(stats.t.ppf(1.0 - alpha / 2, size - 1)) * float(pseudo.std(ddof=1)) / sqrt(size)
    return FixedInterval(value, value - reach, value + reach)


def _check(n: int, c: int, k: int) -> None:
    if not 0 <= c <= n:
        raise ValueError(f"c must lie between 0 and n = {n!r}, not be {c!r}")
    if not 1 <= k <= n:
        raise ValueError(f"k must lie between 1 and n = {n!r}, not be {k!r}")
