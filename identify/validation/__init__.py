"""Held-out scores and replay of an estimate."""

from identify.validation.posterior import posterior_bodies
from identify.validation.replay import HORIZON, ErrorBand, Replay, ReplayErrors, replay
from identify.validation.replays import Replays, replays
from identify.validation.scores import HeldOutScores, held_out_scores
from identify.validation.single_shot import SingleShot, replay_in_one_shot
from identify.validation.validate import ESTIMATE, LEAST_SQUARES, TRUTH, Validation, validate

__all__ = [
    "ESTIMATE",
    "HORIZON",
    "LEAST_SQUARES",
    "TRUTH",
    "ErrorBand",
    "HeldOutScores",
    "Replay",
    "ReplayErrors",
    "Replays",
    "SingleShot",
    "Validation",
    "held_out_scores",
    "posterior_bodies",
    "replay",
    "replay_in_one_shot",
    "replays",
    "validate",
]
