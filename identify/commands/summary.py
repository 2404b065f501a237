"""What `identify fit` prints when it is done: parameters, what to know about them, files."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from identify.commands.terminal import metres, print_table, printable
from identify.reporting import parameter_rich_table
from identify.reporting.parameter_table import GROUPS

if TYPE_CHECKING:
    from identify.estimation import Estimate
    from identify.exchange import SavedEstimate
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult
    from identify.signals import PreparedLog
    from identify.validation import Replay

_NARROWEST = 80
"""Columns the table needs to show every digit."""


def print_summary(
    result: FitResult, truth: InertialParameters | None, files: tuple[Path, ...]
) -> None:
    """Print the table of the parameters, the notes, the certificate and the paths.

    Args:
        result: of the fit.
        truth: the true body, to show beside.
        files: what was written.
    """
    print_parameters(result.estimate, truth)
    for line in (*lines_of(result), *map(str, files)):
        print(printable(line))


def print_parameters(
    estimate: Estimate | SavedEstimate, truth: InertialParameters | None = None
) -> None:
    """Print the table of the parameters.

    Args:
        estimate: the estimate, or one read from its file.
        truth: the true body, to show beside.
    """
    print_table(parameter_rich_table(estimate, truth, GROUPS), _NARROWEST)


def lines_of(result: FitResult) -> Iterator[str]:
    """What the table does not say, a line each."""
    yield from (_read(log) for log in result.logs)
    for note in (*result.notes, *result.validation.notes):
        yield f"Note: {note}"
    yield _consistency(result.estimate)
    yield _certificate(result.estimate)
    yield from _cutoffs(result)
    if result.validation.replay is not None:
        yield _replay(result.validation.replay)


def _read(log: PreparedLog) -> str:
    """How a log was understood, so that a unit gone wrong shows."""
    rows = f"Read: {log.name}, {log.recording.rows} rows"
    if log.recording.still:
        return f"{rows}, each a still pose."
    force = float(np.linalg.norm(np.mean(log.wrench[:, :3], axis=0)))
    spin = float(np.sqrt(np.mean(np.sum(log.features[:, 6:9], axis=1))))
    return (
        f"{rows}, {log.duration:.3g} s at {log.rate_hz:.4g} Hz; turning at {spin:.2g} rad/s RMS, "
        f"mean force {force:.3g} N with the sensor offset."
    )


def _consistency(estimate: Estimate) -> str:
    least = estimate.certificate.eigenvalues[0]
    return (
        f"Consistent: some distribution of mass has these parameters (least eigenvalue of the "
        f"scaled pseudo-inertia {least:.2g} > 0)."
    )


def _certificate(estimate: Estimate) -> str:
    proof = estimate.certificate
    within = f"at most {proof.distance_to_optimum:.1g} standard errors from the optimum"
    if proof.solver == "none":
        return f"Certified: {within}; least squares is consistent by itself, no solver was needed."
    return f"Certified: {within}; solved by {proof.solver} with the consistency constraint active."


def _cutoffs(result: FitResult) -> Iterator[str]:
    origin = "default" if result.settings.cutoff_hz is None else "given"
    for log in result.logs:
        name = f" of {log.name}" if len(result.logs) > 1 else ""
        if log.cutoff_hz is None:
            yield f"Low-pass{name}: none, still poses are not filtered."
        else:
            yield f"Low-pass{name}: all signals alike at {log.cutoff_hz:.4g} Hz ({origin})."


def _replay(replay: Replay) -> str:
    name, errors = next(iter(replay.errors.items()))
    return (
        f"Replay: {replay.windows} windows of {errors.horizon[-1]:.3g} s simulated from the {name} "
        f"and the measured wrench end {metres(errors.position[-1])} and "
        f"{math.degrees(errors.attitude[-1]):.3g}° from the measured pose (RMS)."
    )
