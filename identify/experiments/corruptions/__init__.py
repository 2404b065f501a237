"""Ways to make a log worse: noise, delay, bias, dropped rows, decimation."""

from identify.experiments.corruptions.corruption import Corruption, CorruptionSequence
from identify.experiments.corruptions.registry import CORRUPTIONS

__all__ = ["CORRUPTIONS", "Corruption", "CorruptionSequence"]
