"""Anytime-valid intervals for quantiles of independent draws."""

import math
from collections.abc import Sequence

import numpy as np

from evaluation.statistics import checks
from evaluation.statistics.checks import Floats


def quantile(values: Sequence[float] | Floats, p: float, alpha: float = 0.05) -> tuple[float, float, float]:
    """The p-quantile of what independent draws come from: (value, lower, upper).

    The bounds hold at every sample size at once with probability at least 1 - alpha. They are order statistics at p -+

        f_t = 1.5 sqrt(p (1 - p) l_t) + 0.8 l_t,    l_t = (1.4 log log(2.1 t) + log(10 / alpha)) / t

    (S. R. Howard and A. Ramdas, "Sequential estimation of quantiles with applications to A/B testing and best-arm
    identification", Bernoulli 2022, theorem 1). A bound that the sample is too small for is infinite. NaN and infinite
    bounds for no values; raises ValueError for p or alpha outside (0, 1) and for NaN among the values.
    """
    checks.probability("p", p)
    checks.probability("alpha", alpha)
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    if np.isnan(ordered).any():
        raise ValueError("values must be numbers, not nan")
    count = len(ordered)
    if count == 0:
        return math.nan, -math.inf, math.inf
    value = float(ordered[min(math.ceil(p * count), count) - 1])
    term = (1.4 * math.log(max(math.log(2.1 * count), 1.0)) + math.log(10.0 / alpha)) / count
    reach = 1.5 * math.sqrt(p * (1.0 - p) * term) + 0.8 * term
    below, above = math.floor((p - reach) * count), math.ceil((p + reach) * count)
    lower = float(ordered[below - 1]) if below >= 1 else -math.inf
    upper = float(ordered[above - 1]) if above <= count else math.inf
    return value, lower, upper
