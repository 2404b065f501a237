"""How well the body explains the measured wrench: on data held out, and over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from identify.reporting.content import Block, Head, Pictures, Section, Table, Text, numbers, row
from identify.reporting.figures.wrench import residual_columns, wrench_columns
from identify.reporting.rounding import prefixed, significant

if TYPE_CHECKING:
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult
    from identify.validation import HeldOutScores

_AXES = tuple(
    (f"{kind} {axis}", unit) for kind, unit in (("force", "N"), ("torque", "N m")) for axis in "xyz"
)


def scores(result: FitResult, truth: InertialParameters | None) -> Section | None:
    """Held-out scores for each axis."""
    found = result.validation.scores
    if found is None:
        return None
    return Section("scores", "Held-out scores", (_table(result, found),))


def wrench(result: FitResult, truth: InertialParameters | None) -> Section:
    """Measured against predicted wrench."""
    caption = (
        "Wrench on the body at the origin of the body frame, in its axes. Measured: low-passed, "
        "and less the sensor offset of its log. Predicted: from the measured motion, low-passed "
        "alike, and the ten parameters."
    )
    if all(log.recording.still for log in result.logs):
        caption = (
            "Wrench on the body at the origin of the body frame, in its axes, one mark a still "
            "pose. Measured: less the sensor offset of its log. Predicted: from the attitude and "
            "the ten parameters."
        )
    return Section(
        "wrench",
        "Measured and predicted wrench",
        (*_numbers(result), Pictures(wrench_columns(result), caption)),
    )


def residuals(result: FitResult, truth: InertialParameters | None) -> Section:
    """Residual wrench."""
    return Section(
        "residuals",
        "Residuals",
        (
            Pictures(
                residual_columns(result),
                "What the prediction leaves of the measured wrench. Noise alone looks alike all "
                "along and is distributed about normally; structure that repeats with the motion "
                "hints at contact, delay, a loose payload or a wrong frame.",
            ),
        ),
    )


def _numbers(result: FitResult) -> tuple[Block, ...]:
    if len(result.logs) == 1:
        return ()
    names = ", ".join(f"{i + 1} {log.name}" for i, log in enumerate(result.logs))
    return (Text(f"Logs: {names}.", "muted"),)


def _table(result: FitResult, found: HeldOutScores) -> Table:
    still = all(log.recording.still for log in result.logs)
    rows = []
    for axis, (name, unit) in enumerate(_AXES):
        rms, fitted = float(found.rms[axis]), float(result.estimate.residual_rms[axis])
        scale = prefixed(unit, max(rms, fitted))
        score = float(found.r_squared[axis])
        rows.append(
            row(
                name,
                f"{significant(scale.of(rms), 3)} {scale.name}",
                f"{significant(100.0 * float(found.normalised_rms[axis]), 2)} %",
                _r_squared(score),
                f"{significant(scale.of(fitted), 3)} {scale.name}",
            )
        )
    held = "pose left out in turn" if still else "segment of time left out in turn"
    return Table(
        (Head("Axis"), *numbers("RMS error", "of the signal", "R²", "RMS, fitted data")),
        tuple(rows),
        f"Each {held} ({found.folds} in all) and predicted by a body fitted to the rest. “Of the "
        f"signal”: RMS error over the standard deviation of the measured wrench. R² near "
        f"1: explained; near or below 0: not explained, as on an axis with little but noise.",
    )


def _r_squared(value: float) -> str:
    """R² to as many nines as it has, and two digits more."""
    lost = 1.0 - value
    if lost <= 0.0:
        return "1"
    digits = 3 if lost >= 0.1 else min(12, 2 + len(f"{1.0 / lost:.0f}"))
    return f"{value:.{digits}f}"
