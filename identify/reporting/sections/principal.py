"""Principal moments and axes, and the size they speak of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from identify.reporting.content import Head, Section, Table, numbers, row
from identify.reporting.rounding import decimals_for, fixed, scaled, unit_of_length

if TYPE_CHECKING:
    from identify.estimation import Estimate
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult


def principal(result: FitResult, truth: InertialParameters | None) -> Section | None:
    """Principal moments, axes and the ellipsoid of the same inertia; none of a default body."""
    estimate = result.estimate
    if any(estimate.decided_by[name] == "default" for name in ("Ixx", "Iyy", "Izz")):
        return None
    body = estimate.parameters
    moments, axes = np.linalg.eigh(body.inertia_about_com)
    # About a principal axis i: I_i = Σ_j s_j − s_i, with s_j = m a_j² / 5 of a solid ellipsoid.
    second = 0.5 * moments.sum() - moments
    lengths = 2.0 * np.sqrt(5.0 * np.maximum(second, 0.0) / body.mass)
    shown, unit = moment_texts(estimate)
    length = unit_of_length(float(lengths.max()))
    decimals = max(0, decimals_for(None, length.of(float(lengths.max()))) - 4)
    rows = [
        row(
            f"{place}",
            moment,
            ", ".join(fixed(float(part), 3) for part in _upward(axis)),
            fixed(length.of(float(size)), decimals),
        )
        for place, moment, axis, size in zip((1, 2, 3), shown, axes.T, lengths, strict=True)
    ]
    table = Table(
        (
            Head(""),
            *numbers(
                f"Moment [{unit}]", "Axis in the body frame [–]", f"Ellipsoid [{length.name}]"
            ),
        ),
        tuple(rows),
        "About the centre of mass. The last column is the diameter, along that axis, of the solid "
        "ellipsoid with this mass and inertia: compare it with the size of the real body.",
    )
    return Section("principal", "Principal axes of inertia", (table,))


def moment_texts(estimate: Estimate) -> tuple[list[str], str]:
    """Principal moments, ascending, rounded to what the intervals support; and their unit."""
    moments = estimate.parameters.principal_moments
    unit = scaled("kg m²", float(moments[-1]))
    bounds = [estimate.intervals.get(f"Ic{axis}{axis}") for axis in "xyz"]
    half = max((0.5 * (high - low) for low, high in filter(None, bounds)), default=0.0)
    decimals = decimals_for(unit.of(half), unit.of(float(moments[-1])))
    return [fixed(unit.of(float(moment)), decimals) for moment in moments], unit.name


def _upward(axis: np.ndarray) -> np.ndarray:
    """The axis with its largest component positive: ± is the same axis."""
    return axis * np.sign(axis[np.argmax(np.abs(axis))])
