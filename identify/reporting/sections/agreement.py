"""How well the body explains the measured wrench: on data held out, and over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from identify.reporting.content import (
    Block,
    Head,
    Pictures,
    Row,
    Section,
    Table,
    Text,
    numbers,
    row,
)
from identify.reporting.figures.wrench import residual_columns, wrench_columns
from identify.reporting.rounding import nines, prefixed, significant

if TYPE_CHECKING:
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult
    from identify.validation import HeldOutScores


def scores(result: FitResult, truth: InertialParameters | None) -> Section | None:
    """Held-out scores for each axis."""
    found = result.validation.scores
    if found is None:
        return None
    still = all(log.recording.still for log in result.logs)
    held = "pose left out in turn" if still else "segment of time left out in turn"
    fitted = ["RMS, fitted data"]
    if result.carrier is not None:
        fitted = ["RMS, fitted, loaded", "RMS, fitted, unloaded"]
    counted = "" if still else " All are of the frequencies up to the cut-off, as the fit counts."
    table = Table(
        (Head("Axis"), *numbers("RMS error", "of the signal", "R²", *fitted)),
        tuple(_row(result, found, axis) for axis in range(6)),
        f"Each {held} ({found.folds} in all) and predicted by a body fitted to the rest. “Of the "
        f"signal”: RMS error over the standard deviation of the measured wrench. R² near "
        "1: explained; near or below 0: not explained, as on an axis with little but noise."
        + counted,
    )
    return Section("scores", "Held-out scores", (table,))


def _row(result: FitResult, found: HeldOutScores, axis: int) -> Row:
    kind, unit = ("force", "N") if axis < 3 else ("torque", "N m")
    rms = float(found.rms[axis])
    fitted = [float(one.residual_rms[axis]) for one in result.estimate.bodies]
    scale = prefixed(unit, max(rms, *fitted))
    return row(
        f"{kind} {'xyz'[axis % 3]}",
        f"{significant(scale.of(rms), 3)} {scale.name}",
        f"{significant(100.0 * float(found.normalised_rms[axis]), 2)} %",
        nines(float(found.r_squared[axis])),
        *(f"{significant(scale.of(one), 3)} {scale.name}" for one in fitted),
    )


def wrench(result: FitResult, truth: InertialParameters | None) -> Section:
    """Measured against predicted wrench."""
    at = f"Wrench on the body at the origin of {result.estimate.frame_in_words}, in its axes"
    caption = (
        f"{at}. Measured: low-passed, "
        "and less the sensor offset of its log. Predicted: from the measured motion, low-passed "
        "alike, and the ten parameters of what moved."
    )
    if all(log.recording.still for log in result.logs):
        caption = (
            f"{at}, one mark a still pose. Measured: less the sensor offset of its log. Predicted: "
            "from the attitude and the ten parameters."
        )
    blocks: list[Block] = [Pictures(wrench_columns(result), caption)]
    if len(result.logs) > 1:
        names = ", ".join(f"{i + 1} {log.name}" for i, log in enumerate(result.logs))
        blocks.insert(0, Text(f"Logs: {names}.", "muted"))
    return Section("wrench", "Measured and predicted wrench", tuple(blocks))


def residuals(result: FitResult, truth: InertialParameters | None) -> Section:
    """Residual wrench."""
    caption = (
        "What the prediction leaves of the measured wrench. Noise alone looks alike all along and "
        "is distributed about normally; structure that repeats with the motion hints at contact, "
        "delay, a loose payload or a wrong frame."
    )
    if not all(log.recording.still for log in result.logs):
        caption += (
            " Drawn and in its RMS is also what the low-pass leaves above the cut-off, which the "
            "held-out scores do not count."
        )
    return Section("residuals", "Residuals", (Pictures(residual_columns(result), caption),))
