"""`Validation`: everything an estimate is held against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from identify.estimation import Estimate, EstimatorSettings, estimate_body
from identify.inertia import InertialParameters, is_consistent
from identify.regressors import Statistics
from identify.signals import PreparedLog
from identify.validation.replaying import posterior_bodies, replays
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

    Attributes:
        scores: errors of predicting the wrench held out; None where the data are too few.
        replay: errors of the regenerated motion, or None.
        missing: why a replay is missing, a sentence each.
        single_shot: the longest segment of the logs regenerated from its first state, or None.
    """

    scores: HeldOutScores | None
    replay: Replay | None
    missing: tuple[str, ...]
    single_shot: SingleShot | None = None


def validate(
    prepared: Sequence[PreparedLog],
    blocks: Sequence[Statistics],
    estimate: Estimate,
    settings: EstimatorSettings,
    truth: InertialParameters | None = None,
) -> Validation:
    """Score an estimate out of sample, and replay the logs from it.

    Args:
        prepared: the logs.
        blocks: their block statistics, in the same order.
        estimate: fitted to them.
        settings: it was fitted with; the folds use the same.
        truth: another body to replay beside the estimate.
    """
    missing: list[str] = []
    scores = held_out_scores(blocks, lambda training: estimate_body(training, settings))
    windows, single_shot = _replay(prepared, estimate, truth, missing)
    return Validation(scores, windows, tuple(missing), single_shot)


def _replay(
    prepared: Sequence[PreparedLog],
    estimate: Estimate,
    truth: InertialParameters | None,
    missing: list[str],
) -> tuple[Replay | None, SingleShot | None]:
    if not estimate.complete:
        defaults = [name for name, by in estimate.decided_by.items() if by == "default"]
        missing.append(
            f"No replay: {', '.join(defaults)} cannot be identified from the data, and a motion "
            f"simulated with the default body would prove nothing."
        )
        return None, None
    segments = [
        (segment, bias)
        for log, bias in zip(prepared, estimate.biases, strict=True)
        for segment in log.segments
    ]
    if not segments:
        missing.append("No replay: it needs time stamps, attitude and position in the log.")
        return None, None
    bodies, reason = {ESTIMATE: estimate.parameters.phi}, ""
    least_squares = estimate.least_squares.phi
    if np.array_equal(least_squares, estimate.parameters.phi):
        pass
    elif is_consistent(least_squares):
        bodies[LEAST_SQUARES] = least_squares
    else:
        reason = (
            "No replay with the least-squares estimate: it is not a possible body (its "
            "pseudo-inertia has a negative eigenvalue), so it cannot be simulated."
        )
    if truth is not None:
        bodies[TRUTH] = truth.phi
    samples = posterior_bodies(
        estimate.parameters.phi, estimate.covariance, np.random.default_rng(_SEED)
    )
    done = replays(segments, bodies, samples=samples)
    missing += done.missing
    if done.windows is None and not done.missing:
        missing.append("No replay: no uninterrupted segment of the log is long enough.")
    if reason:
        missing.append(reason)
    return done.windows, done.single_shot
