"""`Validation`: held-out scores and replays of an estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from identify.arrays import Phi, Vec6
from identify.estimation import Estimate, EstimatorSettings, estimate_body
from identify.estimation.estimate import MovingAssembly
from identify.inertia import InertialParameters, is_consistent
from identify.regressors import LogSummary
from identify.validation.noise_growth import wrench_noise
from identify.validation.replaying import CompletedReplays, Replays, posterior_bodies
from identify.validation.scores import HeldOutScores, held_out_scores
from identify.validation.single_shot import SingleShot
from identify.validation.windowed_replay import Replay

ESTIMATE = "estimate"
LEAST_SQUARES = "least squares"
TRUTH = "truth"
"""Names of the replayed bodies."""

_BAND_SEED = 0
"""Seed of the bodies sampled for an error band, so that reports are reproducible."""


@dataclass(frozen=True, slots=True)
class Validation:
    """Held-out scores and replays of an estimate; replays are simulated on first access.

    Attributes:
        scores: errors of the predicted wrench on held-out data; None if there are too few data.
        replays: replays of the logs; for a payload on a tool, of the logs with the payload, where
            payload and tool are simulated as one body.
        unloaded: replays of the logs of the tool alone, if there are any.
    """

    scores: HeldOutScores | None
    replays: Replays | CompletedReplays = field(default_factory=Replays)
    unloaded: Replays | CompletedReplays | None = None

    @property
    def replay(self) -> Replay | None:
        """Replay of many short windows, or None."""
        return self.replays.windows

    @property
    def single_shot(self) -> SingleShot | None:
        """Replay of the longest segment of the logs from its first state, or None."""
        return self.replays.single_shot

    @property
    def missing(self) -> tuple[str, ...]:
        """Messages why replays are missing."""
        return self.replays.missing


def validate(
    summaries: Sequence[LogSummary],
    estimate: Estimate,
    settings: EstimatorSettings,
    truth: InertialParameters | None = None,
) -> Validation:
    """Compute held-out scores of an estimate, and prepare replays of the logs.

    Args:
        summaries: the logs.
        estimate: the estimate that was fitted to them.
        settings: settings of the fit; folds use the same, except for the method of intervals.
        truth: reference body to replay as well; that of a payload is mounted on the estimated
            tool.
    """
    folds = [log.folds.fit_columns_only() for log in summaries]
    of_folds = replace(settings, interval="formula")  # their intervals are not used
    scores = held_out_scores(folds, lambda training: estimate_body(training, of_folds))
    logs = list(zip(summaries, estimate.biases, strict=True))
    loaded = len(logs) - estimate.unloaded
    true = None if truth is None else truth.phi
    if true is not None and estimate.unloaded:
        true = true + estimate.moving_assembly(loaded).phi
    replays = _replays(logs[:loaded], estimate.moving_assembly(0), true)
    unloaded = None
    if estimate.unloaded:
        unloaded = _replays(logs[loaded:], estimate.moving_assembly(loaded), None)
    return Validation(scores, replays, unloaded)


def _replays(
    logs: Sequence[tuple[LogSummary, Vec6]], moved: MovingAssembly, truth: Phi | None
) -> Replays:
    """Prepare replays of logs in which one body moved, each with its sensor offset."""
    if moved.unidentifiable:
        reason = (
            f"No replay: {', '.join(moved.unidentifiable)} cannot be identified from the data, and "
            "a simulation with default values in their place would prove nothing."
        )
        return Replays(reasons=(reason,))
    segments = [
        (segment, bias) for log, bias in logs for segment in log.corrected_segments(moved.phi)
    ]
    if not segments:
        reason = "No replay: it needs time stamps, attitude and position in the log."
        return Replays(reasons=(reason,))
    bodies, reason = {ESTIMATE: moved.phi}, ""
    least_squares = moved.least_squares
    if np.array_equal(least_squares, moved.phi):
        pass
    elif is_consistent(least_squares):
        bodies[LEAST_SQUARES] = least_squares
    else:
        reason = (
            "No replay with the least-squares estimate: it is not physically consistent (its "
            "pseudo-inertia has a negative eigenvalue), so it cannot be simulated."
        )
    if truth is not None:
        bodies[TRUTH] = truth
    return Replays(
        segments=tuple(segments),
        bodies=bodies,
        noise=wrench_noise([log for log, _ in logs]),
        samples=posterior_bodies(moved.phi, moved.covariance, np.random.default_rng(_BAND_SEED)),
        too_short="No replay: no uninterrupted segment of the log is long enough.",
        reasons=(reason,) if reason else (),
    )
