"""Anytime-valid statistics in numpy: usable from a notebook, without Django. See docs/statistics.md."""

from evaluation.statistics.adaptive import AdaptiveEvaluation, AdaptiveMean, Draw, Surrogate
from evaluation.statistics.betting import BettingSequence
from evaluation.statistics.quantiles import quantile
from evaluation.statistics.reliability import pass_at_k, pass_hat_k

__all__ = [
    "AdaptiveEvaluation",
    "AdaptiveMean",
    "BettingSequence",
    "Draw",
    "Surrogate",
    "pass_at_k",
    "pass_hat_k",
    "quantile",
]
