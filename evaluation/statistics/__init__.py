"""Anytime-valid statistics in numpy: usable from a notebook, without Django. See docs/statistics.md."""

from evaluation.statistics.adaptive import AdaptiveEvaluation, AdaptiveMean, Draw
from evaluation.statistics.batch import BettingSequences
from evaluation.statistics.betting import BettingSequence
from evaluation.statistics.quantiles import quantile
from evaluation.statistics.reliability import pass_at_k, pass_hat_k
from evaluation.statistics.surrogates import DifficultySurrogate, Surrogate

__all__ = [
    "AdaptiveEvaluation",
    "AdaptiveMean",
    "BettingSequence",
    "BettingSequences",
    "DifficultySurrogate",
    "Draw",
    "Surrogate",
    "pass_at_k",
    "pass_hat_k",
    "quantile",
]
