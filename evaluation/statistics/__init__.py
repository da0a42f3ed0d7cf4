"""Anytime-valid statistics in numpy: usable from a notebook, without Django. See docs/statistics.md."""

from evaluation.statistics.adaptive import AdaptiveEvaluation, AdaptiveMean, Draw
from evaluation.statistics.baselines import ConfidenceSequence, EmpiricalBernsteinSequence, HoeffdingSequence
from evaluation.statistics.batch import BettingSequences
from evaluation.statistics.betting import BettingSequence
from evaluation.statistics.costs import CappedMean, CategoryMeans, CostPerCorrect, QuantileSequence, ratio_interval
from evaluation.statistics.planning import Projection, rounds_to_settle
from evaluation.statistics.quantiles import quantile
from evaluation.statistics.reliability import clustered_mean, pass_at_k, pass_hat_k, variance_shares
from evaluation.statistics.surrogates import DifficultySurrogate, Surrogate

__all__ = [
    "AdaptiveEvaluation",
    "AdaptiveMean",
    "BettingSequence",
    "BettingSequences",
    "CappedMean",
    "CategoryMeans",
    "ConfidenceSequence",
    "CostPerCorrect",
    "DifficultySurrogate",
    "Draw",
    "EmpiricalBernsteinSequence",
    "HoeffdingSequence",
    "Projection",
    "QuantileSequence",
    "Surrogate",
    "clustered_mean",
    "pass_at_k",
    "pass_hat_k",
    "quantile",
    "ratio_interval",
    "rounds_to_settle",
    "variance_shares",
]
