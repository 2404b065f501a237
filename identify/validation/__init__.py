"""Held-out scores and replay of an estimate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from identify.lazy import attach

if TYPE_CHECKING:
    from identify.validation.replaying import Replays as Replays
    from identify.validation.replaying import posterior_bodies as posterior_bodies
    from identify.validation.replaying import replays as replays
    from identify.validation.scores import HeldOutScores as HeldOutScores
    from identify.validation.scores import held_out_scores as held_out_scores
    from identify.validation.single_shot import SingleShot as SingleShot
    from identify.validation.single_shot import replay_in_one_shot as replay_in_one_shot
    from identify.validation.validation import ESTIMATE as ESTIMATE
    from identify.validation.validation import LEAST_SQUARES as LEAST_SQUARES
    from identify.validation.validation import TRUTH as TRUTH
    from identify.validation.validation import Validation as Validation
    from identify.validation.validation import validate as validate
    from identify.validation.windowed import HORIZON as HORIZON
    from identify.validation.windowed import ErrorBand as ErrorBand
    from identify.validation.windowed import Replay as Replay
    from identify.validation.windowed import ReplayErrors as ReplayErrors
    from identify.validation.windowed import replay as replay
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "replaying": ("Replays", "posterior_bodies", "replays"),
            "scores": ("HeldOutScores", "held_out_scores"),
            "single_shot": ("SingleShot", "replay_in_one_shot"),
            "validation": ("ESTIMATE", "LEAST_SQUARES", "TRUTH", "Validation", "validate"),
            "windowed": ("HORIZON", "ErrorBand", "Replay", "ReplayErrors", "replay"),
        },
    )
