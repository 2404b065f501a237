"""The body: its parameters and principal axes, a picture, and the proof that it is possible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from identify.estimation.calibration import GIVEN
from identify.findings import NOT_IDENTIFIED
from identify.inertia import PHI
from identify.pipeline.needs import repeatability
from identify.reporting.body_picture import body_drawing, semi_axes
from identify.reporting.content import (
    Block,
    BulletList,
    Cell,
    Folded,
    Head,
    ReportTable,
    Row,
    Section,
    Text,
    Tile,
    Tiles,
    Tone,
    grouped,
    numbers,
    row,
    table_of,
)
from identify.reporting.parameter_table import (
    ABOUT_COM,
    PRINCIPAL,
    Group,
    ParameterRow,
    Shown,
    parameter_rows,
)
from identify.reporting.rounding import (
    decimals_for,
    fixed,
    significant,
    unit_of_length,
    unit_of_mass,
)

if TYPE_CHECKING:
    from identify.estimation import Certificate, Estimate
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult

_GROUP_NAMES: dict[Group, str] = {
    "mass": "Mass",
    "com": "Centre of mass",
    "inertia_about_com": "Inertia about the centre of mass",
    "principal": "Principal moments about the centre of mass",
    "first_moment": "First moment, h = m c",
    "inertia_about_origin": "Inertia about the origin of the body frame",
}
_WORDS = {
    "data": "data",
    "constraint": "constraint",
    "given": "given",
    "prior": "prior",
    "default": "not identifiable: default body",
    "nothing": "not identifiable",
}
_TONES: dict[str, Tone] = {"constraint": "warn", "default": "muted", "nothing": "muted"}

_DIFFER = 1.2
"""Ratio of two half-widths from which both are shown."""


def body_section(result: FitResult, truth: InertialParameters | None) -> Section:
    """Mass, centre of mass and inertia with intervals, what these include, and a picture.

    First moments and the inertia about the origin are folded, and so is what words mean.
    """
    estimate, usable = result.estimate, result.verdict.usable != "no"
    rows = parameter_rows(estimate, truth)
    blocks: list[Block] = []
    if usable:
        blocks.append(Tiles(_tiles(result)))
        if estimate.principal_axes:
            blocks.append(body_drawing(estimate))
    else:
        blocks.append(Text("Not to be used: the verdict above says why.", "warn"))
    blocks.append(_table(estimate, [one for one in rows if one.group in ABOUT_COM], truth))
    blocks += _principal(estimate, truth)
    if truth is not None:
        star = any(one.outside for one in rows)
        blocks.append(_errors(estimate.parameters, truth, outside=star))
    points = []
    if not estimate.complete:
        points.append(
            "not identifiable from these logs: the number shown was not measured. "
            f"It completes the body: {estimate.default_body}. Do not rely on it."
        )
    points += [*repeatability_in_words(estimate), *scale_in_words(estimate)]
    if points:
        blocks.append(BulletList(tuple(points)))
    rest = [one for one in rows if one.group not in ABOUT_COM]
    title = "First moments, and the inertia about the origin"
    blocks.append(Folded(title, (_table(estimate, rest, truth),)))
    return Section("body", f"The {estimate.body}", tuple(blocks))


def _table(
    estimate: Estimate, rows: Sequence[ParameterRow], truth: InertialParameters | None
) -> ReportTable:
    head = [Head("Parameter"), Head("Unit"), *numbers("Estimate", "95 % interval")]
    head += [Head("Decided by"), *(numbers("Truth", "Error") if truth is not None else ())]
    return ReportTable(
        tuple(head),
        grouped([_GROUP_NAMES[one.group] for one in rows], map(_row, rows)),
        f"Intervals: {estimate.interval_kind}. About the origin of the body frame, "
        f"{estimate.frame_description}, in its axes; products of inertia are the entries of the "
        "matrix (negative integrals).",
    )


def _tiles(result: FitResult) -> tuple[Tile, ...]:
    """Mass, centre of mass and principal moments at a glance."""
    estimate = result.estimate
    mass, *com = (one.shown for one in parameter_rows(estimate, None, ABOUT_COM)[:4])
    place = ", ".join(one.value for one in com)
    return (
        Tile("Mass", f"{mass.value} {mass.unit}", mass.interval),
        Tile(
            "Centre of mass",
            f"{place} {com[0].unit}",
            f"{_together(com)}; from the origin of {estimate.frame_description}",
        ),
        _inertia(result),
    )


def _together(shown: Sequence[Shown]) -> str:
    """Intervals in one line, behind one sign where all have it."""
    intervals = [one.interval for one in shown]
    if all(interval.startswith("± ") for interval in intervals):
        return f"± {', '.join(interval[2:] for interval in intervals)}"
    return "; ".join(intervals)


def _inertia(result: FitResult) -> Tile:
    decided = result.estimate.decided_by
    missing = [name for name in PHI if decided[name] in NOT_IDENTIFIED]
    if missing:
        logs = "this log" if len(result.logs) == 1 else "these logs"
        completed = "; a default body completes them" if "default" in decided.values() else ""
        return Tile(
            "Inertia",
            "not identifiable" if len(missing) >= _ENTRIES else "not all identifiable",
            f"{', '.join(missing)}: unidentifiable from {logs}{completed}",
            "warn",
        )
    moments = [one.shown for one in parameter_rows(result.estimate, None, PRINCIPAL)]
    return Tile(
        "Principal moments of inertia",
        f"{', '.join(one.value for one in moments)} · {moments[0].unit}",
        f"{_together(moments)}; about the centre of mass",
    )


_ENTRIES = 6
"""Of an inertia."""


def repeatability_in_words(estimate: Estimate) -> list[str]:
    """Both half-widths of mass and centre of mass where the sensor's scale makes them differ."""
    if estimate.calibration is None or NOT_IDENTIFIED & {estimate.decided_by[n] for n in PHI[:4]}:
        return []
    mass, com = repeatability(estimate)
    low, high = estimate.intervals["m"] or (0.0, 0.0)
    whole = 0.5 * (high - low)
    com_whole = max(
        0.5 * (ends[1] - ends[0])
        for ends in map(estimate.intervals.get, ("cx", "cy", "cz"))
        if ends is not None
    )
    if whole <= _DIFFER * mass and com_whole <= _DIFFER * com:
        return []
    return [
        f"repeatability: mass ± {significant(mass, 2)} kg, centre of mass ± "
        f"{significant(1e3 * com, 2)} mm; with the sensor's scale ± {significant(whole, 2)} kg and "
        f"± {significant(1e3 * com_whole, 2)} mm."
    ]


def scale_in_words(estimate: Estimate) -> list[str]:
    """The effect of 1 % of the sensor's scale, where no schema gives an accuracy; else nothing."""
    if GIVEN in estimate.interval_kind or estimate.parameters.mass <= 0.0:
        return []
    mass, interval = estimate.parameters.mass, estimate.intervals.get("m")
    what = "first moments and inertia 1 % too large"
    if estimate.decided_by["m"] != "given" and interval is not None:
        unit = unit_of_mass(0.01 * mass)
        share = significant(unit.of(0.01 * mass), 3)
        half = significant(50.0 * (interval[1] - interval[0]) / mass, 2)
        what = (
            f"mass, first moments and inertia 1 % too large: {share} {unit.name} of mass, where "
            f"the interval is ± {half} %"
        )
    said = f"calibration: readings of the sensor that are 1 % too large make {what}. "
    return [f"{said}No log can tell; gain_accuracy in [wrench] of the schema gives what is known."]


def _row(one: ParameterRow) -> Row:
    shown = one.shown
    index = f"c,{one.name[2:]}" if one.name.startswith("Ic") else one.name[1:]
    cells = [
        Cell(one.name[:1], sub=index),
        Cell(shown.unit),
        Cell(shown.value, title=f"{one.value!r} {one.unit}"),
        Cell("" if one.decided_by in (*NOT_IDENTIFIED, "given") else shown.interval),
        Cell(_WORDS.get(one.decided_by, one.decided_by), tone=_TONES.get(one.decided_by, "")),
    ]
    if one.truth is not None:
        cells.append(Cell(shown.truth, title=f"{one.truth!r} {one.unit}"))
        text = f"{shown.error} *" if one.outside else shown.error
        cells.append(Cell(text, tone="warn" if one.outside else ""))
    return row(*cells, muted=not one.measured)


def _errors(found: InertialParameters, true: InertialParameters, *, outside: bool) -> Text:
    pairs = {
        "|Δm|/m": (found.phi[:1], true.phi[:1]),
        "‖Δh‖/‖h‖": (found.first_moment, true.first_moment),
        "‖ΔI‖/‖I‖": (found.inertia_about_origin, true.inertia_about_origin),
        "‖ΔI_c‖/‖I_c‖": (found.inertia_about_com, true.inertia_about_com),
    }
    said = []
    for name, (one, other) in pairs.items():
        size = float(np.linalg.norm(other))
        share = float(np.linalg.norm(one - other)) / size if size > 0.0 else float("nan")
        said.append(f"{name} = {significant(100.0 * share, 2)} %")
    distance = float(np.linalg.norm(found.com - true.com))
    star = " * marks a truth outside its interval." if outside else ""
    return Text(
        f"Error against the truth: {', '.join(said)}; centre of mass off by "
        f"{significant(1e3 * distance, 2)} mm.{star}"
    )


def _principal(estimate: Estimate, truth: InertialParameters | None) -> tuple[ReportTable, ...]:
    """Principal moments, axes and the ellipsoid of the same inertia; none of a default body."""
    found = estimate.principal_axes
    if not found:
        return ()
    lengths = 2.0 * semi_axes(estimate)
    shown = [one.shown for one in parameter_rows(estimate, truth, PRINCIPAL)]
    length = unit_of_length(float(lengths.max()))
    decimals = max(0, decimals_for(None, length.of(float(lengths.max()))) - 4)
    rows = [
        row(
            f"{place}",
            moment.value,
            moment.interval,
            ", ".join(fixed(float(x), 3) for x in axis.direction),
            _cone(axis.half_angle),
            fixed(length.of(float(size)), decimals),
        )
        for place, moment, axis, size in zip((1, 2, 3), shown, found, lengths, strict=True)
    ]
    heads = (f"Principal moment [{shown[0].unit}]", "95 % interval", "Axis in B [–]", "95 % cone")
    table = table_of(
        ("", *heads, f"Ellipsoid [{length.name}]"),
        rows,
        "About the centre of mass. Cone: half the angle at the tip of the cone about the axis that "
        "holds the true one; “any” where the moment cannot be distinguished from another one, so "
        "that the axis may point anywhere in the plane of both. The last column is the diameter, "
        "along that axis, of the solid ellipsoid with this mass and inertia.",
    )
    return (table,)


def _cone(half_angle: float | None) -> str:
    return "any" if half_angle is None else f"± {significant(float(np.rad2deg(half_angle)))}°"


_CHECK_HEADS = (Head("Check", "prose"), Head("Value", "number"), Head("What it says", "prose"))


def certificate_blocks(estimate: Estimate) -> tuple[Block, ...]:
    """What was checked of the estimate, apart from the solver's own word, and what it means."""
    proof = estimate.certificate
    intro = Text(
        "A body is possible if some density of mass, nowhere negative, has these ten parameters. "
        "That is so exactly when its 4 × 4 pseudo-inertia has no negative eigenvalue. The numbers "
        "below were worked out afterwards from the data, whatever the solver said; an estimate "
        "that fails them is not reported at all."
    )
    if proof.solver == "none":
        solver = (
            "No solver was needed: the weighted least-squares estimate meets all terms, and is "
            "therefore the optimum."
        )
    else:
        versions = ", ".join(f"{name} {version}" for name, version in proof.versions.items())
        solver = (
            f"Solver: {proof.solver} ({versions}), status {proof.status!r} after "
            f"{proof.iterations} iterations; {1e3 * proof.build_time:.1f} ms to build the problem, "
            f"{1e3 * proof.solve_time:.1f} ms to solve it. The body is at the edge of "
            f"{' and '.join(proof.active) or 'no term'}."
        )
    return intro, ReportTable(_CHECK_HEADS, _checks(proof, estimate.bodies)), Text(solver, "muted")


def _eigenvalues(estimate: Estimate) -> Row:
    values = estimate.certificate.eigenvalues
    possible = "None negative: the body is possible, and flat or thin in at least one direction."
    if values[0] > 1e-6:
        possible = "All positive: the body is possible, with room to spare."
    return row(
        f"Eigenvalues of the scaled pseudo-inertia{estimate.of_body}",
        ", ".join(significant(value, 3) for value in values),
        f"{possible} In units of the body's own mass and size; at least "
        f"{estimate.certificate.margin:.0e} is required.",
    )


def _checks(proof: Certificate, bodies: Sequence[Estimate]) -> tuple[Row, ...]:
    parameters = 10 * len(bodies)
    others = (
        "." if proof.rank == parameters else "; the others are given or come from the default body."
    )
    return (
        *map(_eigenvalues, bodies),
        row(
            "Violated terms",
            _tiny(proof.primal_residual),
            "How far the body is outside any term, in the same units: zero but for rounding.",
        ),
        row(
            "Distance to the optimum",
            f"{_tiny(proof.distance_to_optimum)} σ",
            f"No body that meets all terms and is better for {proof.optimal_for} is further away "
            "than this, in standard errors of the parameters.",
        ),
        row(
            "Duality gap",
            _tiny(proof.gap),
            "How much the objective could still improve at the most, relative to the power of the "
            "data.",
        ),
        row(
            "Dual residual",
            _tiny(proof.dual_residual),
            "How far the solver's dual variables were from being feasible; this part was removed "
            "before the bound above was computed.",
        ),
        row(
            "Identifiable directions",
            f"{proof.rank} of {parameters}",
            f"Combinations of the {parameters} parameters that the data identify, with the noise "
            f"of the motion counted{others}",
        ),
        row(
            "Condition number",
            significant(proof.condition, 2),
            "Ratio of the best to the worst determined of these directions. Values up to some "
            "thousands are harmless.",
        ),
    )


def _tiny(value: float) -> str:
    return "0" if value == 0.0 else f"{value:.1e}"
