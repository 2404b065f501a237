"""The body: its parameters, principal moments and axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from identify.reporting.content import (
    Block,
    Cell,
    Head,
    Points,
    Row,
    Section,
    Table,
    Text,
    Tone,
    numbers,
    row,
)
from identify.reporting.parameter_table import Group, ParameterRow, parameter_rows
from identify.reporting.rounding import (
    decimals_for,
    fixed,
    scaled,
    significant,
    unit_of_length,
)

if TYPE_CHECKING:
    from identify.estimation import Estimate
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult

_GROUP_NAMES: dict[Group, str] = {
    "mass": "Mass",
    "com": "Centre of mass",
    "inertia_about_com": "Inertia about the centre of mass",
    "first_moment": "First moment, h = m c",
    "inertia_about_origin": "Inertia about the origin of the body frame",
}
_WORDS = {
    "data": "data",
    "constraint": "constraint",
    "given": "given",
    "default": "not identifiable: default body",
}
_MEANINGS = {
    "data": "data: identifiable from the logs.",
    "constraint": (
        "constraint: the logs alone put it where no body can be; being a possible body moved it by "
        "more than a standard error."
    ),
    "given": "given: the user fixed it.",
}


def parameters(result: FitResult, truth: InertialParameters | None) -> Section:
    """All parameters with unit, interval, what decided them and, where known, the truth."""
    estimate = result.estimate
    rows = parameter_rows(estimate, truth)
    blocks: list[Block] = [_table(rows, truth is not None, estimate.interval_kind)]
    if truth is not None:
        blocks.append(_errors(estimate, truth))
    blocks.append(Points(tuple(_legend(rows, estimate))))
    return Section("parameters", "Parameters", tuple(blocks))


def _table(rows: Sequence[ParameterRow], compared: bool, interval_kind: str) -> Table:
    head = (
        Head("Parameter"),
        Head("Unit"),
        *numbers("Estimate", "95 % interval"),
        Head("Decided by"),
    )
    if compared:
        head += numbers("Truth", "Error")
    lines = []
    for index, one in enumerate(rows):
        begins = index == 0 or rows[index - 1].group != one.group
        lines.append(_row(one, _GROUP_NAMES[one.group] if begins else "", compared))
    return Table(
        head,
        tuple(lines),
        f"Intervals: {interval_kind}. About the origin of the body frame B, in its axes; products "
        "of inertia are the entries of the matrix (negative integrals).",
    )


def _row(one: ParameterRow, heading: str, compared: bool) -> Row:
    shown = one.shown
    cells = [
        Cell(one.name[:1], sub=_index(one.name)),
        Cell(shown.unit),
        Cell(shown.value, title=f"{one.value!r} {one.unit}"),
        Cell("" if one.decided_by in ("default", "given") else shown.interval),
        Cell(_WORDS.get(one.decided_by, one.decided_by), tone=_tone(one.decided_by)),
    ]
    if compared:
        cells.append(Cell(shown.truth, title=f"{one.truth!r} {one.unit}"))
        text = f"{shown.error} *" if one.outside else shown.error
        cells.append(Cell(text, tone="warn" if one.outside else ""))
    return row(*cells, heading=heading, muted=not one.measured)


def _index(name: str) -> str:
    return f"c,{name[2:]}" if name.startswith("Ic") else name[1:]


def _tone(decided_by: str) -> Tone:
    tones: dict[str, Tone] = {"constraint": "warn", "default": "muted"}
    return tones.get(decided_by, "")


def _errors(estimate: Estimate, truth: InertialParameters) -> Text:
    found, body = estimate.parameters, truth
    parts = (
        ("|Δm|/m", found.phi[:1] - body.phi[:1], body.phi[:1]),
        ("‖Δh‖/‖h‖", found.first_moment - body.first_moment, body.first_moment),
        ("‖ΔI‖/‖I‖", *_change(found.inertia_about_origin, body.inertia_about_origin)),
        ("‖ΔI_c‖/‖I_c‖", *_change(found.inertia_about_com, body.inertia_about_com)),
    )
    said = [
        f"{name} = {significant(100.0 * _ratio(change, size), 2)} %" for name, change, size in parts
    ]
    distance = float(np.linalg.norm(found.com - body.com))
    star = " * marks a truth outside its interval." if _any_outside(estimate, truth) else ""
    return Text(
        f"Error against the truth: {', '.join(said)}; centre of mass off by "
        f"{significant(1e3 * distance, 2)} mm.{star}"
    )


def _any_outside(estimate: Estimate, truth: InertialParameters) -> bool:
    return any(one.outside for one in parameter_rows(estimate, truth))


def _change(found: np.ndarray, true: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return found - true, true


def _ratio(change: np.ndarray, size: np.ndarray) -> float:
    whole = float(np.linalg.norm(size))
    return float(np.linalg.norm(change)) / whole if whole > 0.0 else float("nan")


def _legend(rows: Sequence[ParameterRow], estimate: Estimate) -> list[str]:
    present = {one.decided_by for one in rows}
    points = [meaning for by, meaning in _MEANINGS.items() if by in present]
    if "default" in present:
        points.append(
            "not identifiable from these logs: the number shown was not measured. "
            f"It completes the body: {estimate.default_body}. Do not rely on it."
        )
    return points


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
