"""The motion: regenerated from the body and the measured wrench, and what it excited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from identify.reporting.content import Pictures, Section, Text
from identify.reporting.figures.excitation import excitation_columns
from identify.reporting.figures.parameters import parameter_columns
from identify.reporting.figures.replay import replay_columns

if TYPE_CHECKING:
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult


def replay(result: FitResult, truth: InertialParameters | None) -> Section:
    """Replay errors and path, or why there are none."""
    validation = result.validation
    columns = replay_columns(result)
    alone = validation.unloaded
    missing = (
        *validation.missing,
        *(f"Unloaded: {one}" for one in (alone.missing if alone else ())),
    )
    said = [Text(reason, "muted") for reason in missing]
    if not columns:
        said = said or [Text("There is no replay.", "muted")]
        return Section("replay", "Replay", tuple(said))
    windows = validation.replay.windows if validation.replay else 0
    caption = (
        f"{windows} windows of the log, each simulated from its measured first pose and velocity "
        "with nothing but the body and the measured wrench, less the sensor offset. Replay error: "
        "how far the simulated pose is from the measured one, over all of them; force noise and "
        "small errors add up with time. Replayed path: the simulated positions over the measured "
        "ones."
    )
    if validation.replay and validation.replay.band:
        caption += (
            f" The band holds 95 % of the errors of {validation.replay.band.samples} bodies drawn "
            f"from the estimate's uncertainty."
        )
    if validation.single_shot:
        caption += (
            " In one shot: the longest segment simulated from its first state to its end without "
            "looking at the measured motion again, so that every error adds up."
        )
    if alone:
        caption += (
            " Payload and carrier are simulated as one body, and in the unloaded logs the carrier "
            "alone."
        )
    if result.estimate.certificate.solver == "none":
        caption += " The least-squares estimate is a possible body, and so it is the estimate."
    return Section("replay", "Replay", (Pictures(columns, caption), *said))


def excitation(result: FitResult, truth: InertialParameters | None) -> Section:
    """Features of the motion beside their noise; intervals relative to the body's own scale."""
    caption = (
        "Motion: the quantities that the equations of motion are linear in, after the low-pass; "
        "only their change within a log counts where a sensor offset is fitted, and beside it "
        "stands how far it is above the noise. Mass and centre of mass need turns against gravity "
        "(a′), the inertia needs angular acceleration (α) and speed (ω ω). Parameters: how narrow "
        "each interval is; L is the body's radius of gyration, L² = tr(I_c) / (2 m)."
    )
    if all(log.recording.still for log in result.logs):
        caption = (
            "Still poses: nothing turns, so only the direction of gravity changes (a′): mass and "
            "centre of mass are identifiable, the inertia is not. Parameters: how narrow each "
            "interval is, relative to the body's own scale; L² = tr(I_c) / (2 m)."
        )
    columns = (*excitation_columns(result), *parameter_columns(result, truth))
    return Section("excitation", "Excitation", (Pictures(columns, caption),))
