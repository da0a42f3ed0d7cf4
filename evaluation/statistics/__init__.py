"""Anytime-valid statistics in numpy: usable from a notebook, without Django. See docs/statistics.md."""

from evaluation.statistics.adaptive import AdaptiveEvaluation, AdaptiveMean, Draw, Surrogate
from evaluation.statistics.betting import BettingSequence

__all__ = ["AdaptiveEvaluation", "AdaptiveMean", "BettingSequence", "Draw", "Surrogate"]
