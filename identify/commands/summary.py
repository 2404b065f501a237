"""What `identify fit` prints when it is done: parameters, what to know about them, files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from identify.commands.terminal import pose_error, print_table, say
from identify.reporting import parameter_rich_table
from identify.reporting.parameter_table import GROUPS

if TYPE_CHECKING:
    from identify.estimation import Estimate
    from identify.exchange import SavedEstimate
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult
    from identify.signals import PreparedLog

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
    say(*lines_of(result), *files)


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
    estimate, validation = result.estimate, result.validation
    yield from map(_read, result.logs)
    for note in (*result.notes, *validation.notes):
        yield f"Note: {note}"
    proof = estimate.certificate
    yield (
        f"Consistent: some distribution of mass has these parameters (least eigenvalue of the "
        f"scaled pseudo-inertia {proof.eigenvalues[0]:.2g} > 0)."
    )
    how = f"solved by {proof.solver}, at the edge of {' and '.join(proof.active) or 'no term'}"
    if proof.solver == "none":
        how = "least squares meets all terms by itself, no solver was needed"
    distance = f"at most {proof.distance_to_optimum:.1g} standard errors from the optimum"
    given = result.settings.terms or result.settings.mass is not None
    what = f"{proof.optimal_for}{' and what was given' if given else ''}"
    yield f"Optimal for {what}: {distance}; {how}."
    origin = "default" if result.settings.cutoff_hz is None else "given"
    for log in result.logs:
        name = f" of {log.name}" if len(result.logs) > 1 else ""
        if log.cutoff_hz is None:
            yield f"Low-pass{name}: none, still poses are not filtered."
        else:
            yield f"Low-pass{name}: all signals alike at {log.cutoff_hz:.4g} Hz ({origin})."
    if (replay := validation.replay) is not None:
        name, errors = next(iter(replay.errors.items()))
        yield (
            f"Replay: {replay.windows} windows of {errors.horizon[-1]:.3g} s simulated from the "
            f"{name} and the measured wrench end {pose_error(errors)} from the measured pose (RMS)."
        )


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
