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
        scores: errors of predicting the wrench held out, or None with a note.
        replay: errors of the regenerated motion, or None with a note.
        notes: why something is missing, in words for the report.
        single_shot: the longest segment of the logs regenerated from its first state, or None.
    """

    scores: HeldOutScores | None
    replay: Replay | None
    notes: tuple[str, ...]
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
    notes: list[str] = []
    scores = held_out_scores(blocks, lambda training: estimate_body(training, settings))
    if scores is None:
        notes.append("No held-out scores: the data are too few to fit on a part of them.")
    elif scores.refused:
        notes.append(
            f"{scores.refused} of {scores.folds + scores.refused} folds could not be fitted "
            "without the part held out, and are not scored."
        )
    windows, single_shot = _replay(prepared, estimate, truth, notes)
    return Validation(scores, windows, tuple(notes), single_shot)


def _replay(
    prepared: Sequence[PreparedLog],
    estimate: Estimate,
    truth: InertialParameters | None,
    notes: list[str],
) -> tuple[Replay | None, SingleShot | None]:
    if not estimate.complete:
        defaults = [name for name, by in estimate.decided_by.items() if by == "default"]
        notes.append(
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
        notes.append("No replay: it needs time stamps, attitude and position in the log.")
        return None, None
    bodies, note = {ESTIMATE: estimate.parameters.phi}, ""
    least_squares = estimate.least_squares.phi
    if np.array_equal(least_squares, estimate.parameters.phi):
        pass
    elif is_consistent(least_squares):
        bodies[LEAST_SQUARES] = least_squares
    else:
        note = (
            "No replay with the least-squares estimate: it is not a possible body (its "
            "pseudo-inertia has a negative eigenvalue), so it cannot be simulated."
        )
    if truth is not None:
        bodies[TRUTH] = truth.phi
    samples = posterior_bodies(
        estimate.parameters.phi, estimate.covariance, np.random.default_rng(_SEED)
    )
    done = replays(segments, bodies, samples=samples)
    notes += done.notes
    if done.windows is None and not done.notes:
        notes.append("No replay: no uninterrupted segment of the log is long enough.")
    if note:
        notes.append(note)
    return done.windows, done.single_shot
