"""What the motion excited, and how well that tells each parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from identify.reporting.content import Pictures, Section
from identify.reporting.figures.excitation import excitation_columns
from identify.reporting.figures.parameters import parameter_columns

if TYPE_CHECKING:
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult


def excitation(result: FitResult, truth: InertialParameters | None) -> Section:
    """Features of the motion beside their noise; intervals relative to the body's own scale."""
    caption = (
        "Motion: the quantities that the equations of motion are linear in, after the low-pass; "
        "only their change within a log counts where a bias is fitted, and beside it stands how "
        "far it is above the noise. Mass and centre of mass need turns against gravity (a′), the "
        "inertia needs angular acceleration (α) and speed (ω ω). Parameters: how narrow each "
        "interval is; L is the body's radius of gyration, L² = tr(I_c) / (2 m)."
    )
    if all(log.recording.still for log in result.logs):
        caption = (
            "Still poses: nothing turns, so only the direction of gravity changes (a′), which "
            "tells mass and centre of mass but no inertia. Parameters: how narrow each interval "
            "is, relative to the body's own scale; L² = tr(I_c) / (2 m)."
        )
    return Section(
        "excitation",
        "Excitation",
        (Pictures((*excitation_columns(result), *parameter_columns(result, truth)), caption),),
    )
