"""`Validation`: everything an estimate is held against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from identify.arrays import Phi, Vec6
from identify.estimation import Estimate, EstimatorSettings, estimate_body
from identify.estimation.estimate import MovedBody
from identify.inertia import InertialParameters, is_consistent
from identify.regressors import LogSummary
from identify.validation.noise_growth import wrench_noise
from identify.validation.replaying import DoneReplays, Replays, posterior_bodies
from identify.validation.scores import HeldOutScores, held_out_scores
from identify.validation.single_shot import SingleShot
from identify.validation.windowed import Replay

ESTIMATE = "estimate"
LEAST_SQUARES = "least squares"
TRUTH = "truth"
"""Names of the replayed bodies."""

_SEED = 0
"""Of the bodies drawn for a band: a fit gives the same report each time."""


@dataclass(frozen=True, slots=True)
class Validation:
    """How an estimate fares on data it was not fitted to, and in simulation.

    Replays are simulated when they are first looked at.

    Attributes:
        scores: errors of predicting the wrench held out; None where the data are too few.
        replays: of the logs; of a payload on its carrier, of those with the payload, payload and
            carrier simulated as one body.
        unloaded: of logs of the carrier alone, where some are.
    """

    scores: HeldOutScores | None
    replays: Replays | DoneReplays = field(default_factory=Replays)
    unloaded: Replays | DoneReplays | None = None

    @property
    def replay(self) -> Replay | None:
        """Errors of the motion regenerated in windows, or None."""
        return self.replays.windows

    @property
    def single_shot(self) -> SingleShot | None:
        """The longest segment of the logs regenerated from its first state, or None."""
        return self.replays.single_shot

    @property
    def missing(self) -> tuple[str, ...]:
        """Why a replay is missing, a sentence each."""
        return self.replays.missing


def validate(
    summaries: Sequence[LogSummary],
    estimate: Estimate,
    settings: EstimatorSettings,
    truth: InertialParameters | None = None,
) -> Validation:
    """Score an estimate out of sample, and replay the logs from it.

    Args:
        summaries: the logs.
        estimate: fitted to them.
        settings: it was fitted with; the folds use the same, but for how intervals come about.
        truth: another body to replay beside the estimate; a payload's goes on the estimated
            carrier.
    """
    folds = [log.folds.fit_columns_only() for log in summaries]
    of_folds = replace(settings, interval="formula")  # nobody sees their intervals
    scores = held_out_scores(folds, lambda training: estimate_body(training, of_folds))
    logs = list(zip(summaries, estimate.biases, strict=True))
    loaded = len(logs) - estimate.unloaded
    true = None if truth is None else truth.phi
    if true is not None and estimate.unloaded:
        true = true + estimate.moved_in(loaded).phi
    done = _replays(logs[:loaded], estimate.moved_in(0), true)
    alone = None
    if estimate.unloaded:
        alone = _replays(logs[loaded:], estimate.moved_in(loaded), None)
    return Validation(scores, done, alone)


def _replays(
    logs: Sequence[tuple[LogSummary, Vec6]], moved: MovedBody, truth: Phi | None
) -> Replays:
    """Replays of logs that one body moved in, each with the sensor offset to take off."""
    if moved.unidentifiable:
        return _none(
            f"No replay: {', '.join(moved.unidentifiable)} cannot be identified from the data, and "
            f"a motion simulated with a body that stands in for them would prove nothing."
        )
    segments = [
        (segment, bias) for log, bias in logs for segment in log.corrected_segments(moved.phi)
    ]
    if not segments:
        return _none("No replay: it needs time stamps, attitude and position in the log.")
    bodies, reason = {ESTIMATE: moved.phi}, ""
    least_squares = moved.least_squares
    if np.array_equal(least_squares, moved.phi):
        pass
    elif is_consistent(least_squares):
        bodies[LEAST_SQUARES] = least_squares
    else:
        reason = (
            "No replay with the least-squares estimate: it is not a possible body (its "
            "pseudo-inertia has a negative eigenvalue), so it cannot be simulated."
        )
    if truth is not None:
        bodies[TRUTH] = truth
    return Replays(
        segments=tuple(segments),
        bodies=bodies,
        noise=wrench_noise([log for log, _ in logs]),
        samples=posterior_bodies(moved.phi, moved.covariance, np.random.default_rng(_SEED)),
        too_short="No replay: no uninterrupted segment of the log is long enough.",
        reasons=(reason,) if reason else (),
    )


def _none(why: str) -> Replays:
    return Replays(reasons=(why,))
