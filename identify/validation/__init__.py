"""Held-out scores and replay of an estimate."""

from identify.validation.replay import Replay, ReplayErrors, replay
from identify.validation.scores import HeldOutScores, held_out_scores
from identify.validation.validate import ESTIMATE, LEAST_SQUARES, Validation, validate

__all__ = [
    "ESTIMATE",
    "LEAST_SQUARES",
    "HeldOutScores",
    "Replay",
    "ReplayErrors",
    "Validation",
    "held_out_scores",
    "replay",
    "validate",
]
