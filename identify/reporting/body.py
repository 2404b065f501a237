"""Report section of the body: parameters, principal axes, picture and optimality certificate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from identify.estimation.scale_accuracy import GIVEN_SCALE_ALONE, WITH_GIVEN_SCALE
from identify.findings import UNIDENTIFIED_SOURCES
from identify.inertia import PHI
from identify.reporting.body_picture import body_drawing, ellipsoid_semi_axes
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
    make_row,
    make_table,
    with_headings,
)
from identify.reporting.parameter_table import (
    GROUPS_ABOUT_COM,
    PRINCIPAL_MOMENTS,
    FormattedRow,
    ParameterGroup,
    ParameterRow,
    parameter_rows,
)
from identify.reporting.rounding import (
    decimals_for,
    format_fixed,
    format_significant,
    unit_of_length,
    unit_of_mass,
)

if TYPE_CHECKING:
    from identify.estimation import Certificate, Estimate
    from identify.inertia import InertialParameters
    from identify.pipeline import Result

_GROUP_NAMES: dict[ParameterGroup, str] = {
    "mass": "Mass",
    "com": "Centre of mass",
    "inertia_about_com": "Inertia about the centre of mass",
    "principal": "Principal moments about the centre of mass",
    "first_moment": "First moment, h = m c",
    "inertia_about_origin": "Inertia about the origin of the body frame",
}
"""Heading of each group of parameters in the parameter table."""
_DECIDED_BY_TONES: dict[str, Tone] = {
    "constraint": "warn",
    **dict.fromkeys(UNIDENTIFIED_SOURCES, "muted"),
}
"""Colour of the text for each value of `decided_by` in the parameter table."""


def body_section(result: Result, truth: InertialParameters | None) -> Section:
    """Return the report section of mass, centre of mass and inertia: intervals and a picture.

    First moments and the inertia about the origin are folded.
    """
    estimate, usable = result.estimate, result.verdict.usable != "no"
    rows = parameter_rows(estimate, truth)
    blocks: list[Block] = []
    if usable:
        blocks.append(Tiles(_headline_tiles(result)))
        if estimate.principal_axes:
            blocks.append(body_drawing(estimate))
    else:
        blocks.append(Text("Do not use this estimate; see the verdict for the reasons.", "warn"))
    about_com = [line for line in rows if line.group in GROUPS_ABOUT_COM]
    caption = (
        f"Parameters about the origin of {estimate.frame_description}, in its axes, with intervals "
        f"({estimate.interval_kind}). Products of inertia are the entries of the matrix (negative "
        "integrals)."
    )
    blocks.append(_parameter_table(about_com, truth, caption))
    blocks += _principal_table(estimate, truth)
    if truth is not None:
        marked = any(line.truth_outside_interval for line in rows)
        blocks.append(_error_text(estimate, truth, outside=marked))
    points = []
    if not estimate.complete:
        points.append(
            "unidentifiable: the logs do not determine the number shown, which is that of the "
            f"default body ({estimate.default_body}). Do not rely on it."
        )
    points += scale_error_in_words(estimate) if result.wrench_logs else []
    points += [_MASS_AT_SENSOR] if result.wrench_logs and not result.settings.unloaded else []
    if points:
        blocks.append(BulletList(tuple(points)))
    about_origin = [line for line in rows if line.group not in GROUPS_ABOUT_COM]
    title = "First moments, and the inertia about the origin"
    blocks.append(Folded(title, (_parameter_table(about_origin, truth),)))
    return Section("body", f"The {estimate.body}", tuple(blocks))


def _parameter_table(
    rows: Sequence[ParameterRow], truth: InertialParameters | None, caption: str = ""
) -> ReportTable:
    """Return the table of parameters; who decided them is said unless it is the data for all."""
    by_data = all(line.decided_by == "data" for line in rows)
    heads = ["Parameter", "Estimate", "95 % interval", Head("Unit")]
    heads += [] if by_data else [Head("Decided by")]
    heads += [] if truth is None else ["Truth", "Error"]
    cells = [_parameter_cells(line, with_source=not by_data) for line in rows]
    groups = [_GROUP_NAMES[line.group] for line in rows]
    return make_table(heads, with_headings(groups, cells), caption, look="lines")


def _headline_tiles(result: Result) -> tuple[Tile, ...]:
    estimate = result.estimate
    mass, *com = (line.formatted for line in parameter_rows(estimate, None, GROUPS_ABOUT_COM)[:4])
    position = ", ".join(coordinate.value for coordinate in com)
    return (
        Tile("Mass", mass.value, mass.interval, unit=mass.unit),
        Tile(
            "Centre of mass",
            position,
            f"{_join_intervals(com)}; from the origin of {estimate.frame_description}",
            unit=com[0].unit,
        ),
        _inertia_tile(result),
    )


def _join_intervals(cells: Sequence[FormattedRow]) -> str:
    """Join intervals in a line, with a common ± sign if all are symmetric."""
    intervals = [cell.interval for cell in cells]
    if all(interval.startswith("± ") for interval in intervals):
        return f"± {', '.join(interval[2:] for interval in intervals)}"
    return "; ".join(intervals)


def _inertia_tile(result: Result) -> Tile:
    decided = result.estimate.decided_by
    missing = [name for name in PHI if decided[name] in UNIDENTIFIED_SOURCES]
    if missing:
        completed = "" if "nothing" in decided.values() else "; values of a default body"
        return Tile(
            "Inertia",
            "not identifiable" if len(missing) >= _INERTIA_ENTRIES else "not all identifiable",
            f"{', '.join(missing)}{completed}",
            "warn",
        )
    moments = [line.formatted for line in parameter_rows(result.estimate, None, PRINCIPAL_MOMENTS)]
    return Tile(
        "Principal moments of inertia",
        ", ".join(moment.value for moment in moments),
        f"{_join_intervals(moments)}; about the centre of mass",
        unit=f"· {moments[0].unit}",
    )


_MASS_AT_SENSOR = (
    "what counts: all that hangs on the measuring element of the sensor, also its own tool side, "
    "adapters and screws, zeroed or not; subtract what the controller knows already."
)
"""Remark on a mass that no log shows: that of the sensor beyond its measuring element."""

_INERTIA_ENTRIES = 6
"""Rows and columns of the independent entries of an inertia matrix."""


def scale_error_in_words(estimate: Estimate) -> list[str]:
    """Describe the effect of a 1 % sensor scale error, if the intervals do not include one."""
    given = any(kind in estimate.interval_kind for kind in (WITH_GIVEN_SCALE, GIVEN_SCALE_ALONE))
    if given or estimate.parameters.mass <= 0.0:
        return []
    mass, interval = estimate.parameters.mass, estimate.intervals.get("m")
    effect = "first moments and inertia 1 % too large"
    if estimate.decided_by["m"] != "given" and interval is not None:
        unit = unit_of_mass(0.01 * mass)
        share = format_significant(unit.of(0.01 * mass), 3)
        half = format_significant(50.0 * (interval[1] - interval[0]) / mass, 2)
        effect = (
            f"mass, first moments and inertia 1 % too large: {share} {unit.name} of mass, where "
            f"the interval is ± {half} %"
        )
    return [
        f"calibration: a scale error of the sensor of +1 % makes {effect}. No log can reveal it; "
        "give the accuracy of the sensor as gain_accuracy in [wrench] of the schema."
    ]


def _parameter_cells(line: ParameterRow, *, with_source: bool) -> Row:
    texts, decided_by = line.formatted, line.decided_by
    index = f"c,{line.name[2:]}" if line.name.startswith("Ic") else line.name[1:]
    cells = [
        Cell(line.name[:1], subscript=index),
        Cell(texts.value, tooltip=f"{line.value!r} {line.unit}"),
        Cell(texts.interval),
        Cell(texts.unit),
    ]
    if with_source:
        cells.append(Cell(decided_by, tone=_DECIDED_BY_TONES.get(decided_by, "")))
    if line.truth is not None:
        cells.append(Cell(texts.truth, tooltip=f"{line.truth!r} {line.unit}"))
        outside = line.truth_outside_interval
        error = f"{texts.error} *" if outside else texts.error
        cells.append(Cell(error, tone="warn" if outside else ""))
    return make_row(*cells, muted=not line.from_data)


def _error_text(estimate: Estimate, true: InertialParameters, *, outside: bool) -> Text:
    body = estimate.parameters
    pairs = {
        "|Δm|/m": (body.phi[:1], true.phi[:1]),
        "‖Δh‖/‖h‖": (body.first_moment, true.first_moment),
        "‖ΔI‖/‖I‖": (body.inertia_about_origin, true.inertia_about_origin),
        "‖ΔI_c‖/‖I_c‖": (body.inertia_about_com, true.inertia_about_com),
    }
    if estimate.decided_by["m"] == "given":
        del pairs["|Δm|/m"]
    errors = []
    for name, (estimated, reference) in pairs.items():
        size = float(np.linalg.norm(reference))
        difference = float(np.linalg.norm(estimated - reference))
        share = difference / size if size > 0.0 else float("nan")
        errors.append(f"{name} = {format_significant(100.0 * share, 2)} %")
    distance = float(np.linalg.norm(body.com - true.com))
    footnote = " * marks a reference value outside the interval." if outside else ""
    return Text(
        f"Error against the reference body: {', '.join(errors)}; centre of mass off by "
        f"{format_significant(1e3 * distance, 2)} mm.{footnote}"
    )


def _principal_table(
    estimate: Estimate, truth: InertialParameters | None
) -> tuple[ReportTable, ...]:
    axes = estimate.principal_axes
    if not axes:
        return ()
    lengths = 2.0 * ellipsoid_semi_axes(estimate)
    moments = [line.formatted for line in parameter_rows(estimate, truth, PRINCIPAL_MOMENTS)]
    length = unit_of_length(float(lengths.max()))
    decimals = max(0, decimals_for(None, length.of(float(lengths.max()))) - 4)
    rows = [
        make_row(
            f"{number}",
            moment.value,
            moment.interval,
            ", ".join(format_fixed(float(x), 3) for x in axis.direction),
            _cone_text(axis.half_angle),
            format_fixed(length.of(float(size)), decimals),
        )
        for number, moment, axis, size in zip((1, 2, 3), moments, axes, lengths, strict=True)
    ]
    heads = (f"Principal moment [{moments[0].unit}]", "95 % interval", "Axis in B [–]", "95 % cone")
    table = make_table(
        ("", *heads, f"Ellipsoid [{length.name}]"),
        rows,
        "Principal moments and axes about the centre of mass. Cone: half-angle of the cone about "
        "the axis that contains the true axis; “any” if the moment cannot be distinguished from "
        "another one, so that the axis may have any direction in the plane of both. Ellipsoid: "
        "diameter, along the axis, of the solid ellipsoid of uniform density with this mass and "
        "inertia.",
    )
    return (table,)


def _cone_text(half_angle: float | None) -> str:
    if half_angle is None:
        return "any"
    return f"± {format_significant(float(np.rad2deg(half_angle)))}°"


def certificate_blocks(estimate: Estimate) -> tuple[Block, ...]:
    """Return the report blocks of the optimality certificate: each check, and the solver."""
    proof = estimate.certificate
    intro = Text(
        "A body is physically consistent if some non-negative mass density has its ten "
        "parameters, which holds exactly if its 4 × 4 pseudo-inertia has no negative eigenvalue. "
        "The numbers below were computed from the data, independently of the solver; an estimate "
        "that fails them is an error and is not reported."
    )
    if proof.solver == "none":
        solver = (
            "No solver was needed: the weighted least-squares estimate satisfies all constraints "
            "and is therefore the optimum."
        )
    else:
        versions = ", ".join(f"{name} {version}" for name, version in proof.versions.items())
        solver = (
            f"Solver: {proof.solver} ({versions}), status {proof.status!r} after "
            f"{proof.iterations} iterations; {1e3 * proof.build_time:.1f} ms to build the problem, "
            f"{1e3 * proof.solve_time:.1f} ms to solve it. Active constraints: "
            f"{' and '.join(proof.active) or 'none'}."
        )
    heads = (Head("Check", "prose"), "Value", Head("Meaning", "prose"))
    checks = make_table(heads, _check_rows(proof, estimate.bodies))
    return intro, checks, Text(solver, "muted")


def _eigenvalue_row(estimate: Estimate) -> Row:
    values = estimate.certificate.eigenvalues
    meaning = "None negative: physically consistent, and flat or thin in at least one direction."
    if values[0] > 1e-6:
        meaning = "All positive: physically consistent with a margin."
    return make_row(
        f"Eigenvalues of the scaled pseudo-inertia{estimate.body_suffix}",
        ", ".join(format_significant(value, 3) for value in values),
        f"{meaning} In units of the body's own mass and size; the required minimum is "
        f"{estimate.certificate.margin:.0e}.",
    )


def _check_rows(proof: Certificate, bodies: Sequence[Estimate]) -> tuple[Row, ...]:
    parameters = 10 * len(bodies)
    others = (
        "." if proof.rank == parameters else "; the others are given or come from the default body."
    )
    return (
        *map(_eigenvalue_row, bodies),
        make_row(
            "Constraint violation",
            _format_near_zero(proof.primal_residual),
            "Largest violation of any constraint, in the same units: zero up to rounding.",
        ),
        make_row(
            "Distance to the optimum",
            f"{_format_near_zero(proof.distance_to_optimum)} σ",
            "Upper bound, in standard errors of the parameters, of the distance to the body that "
            f"satisfies all constraints and fits {proof.optimal_for} best.",
        ),
        make_row(
            "Duality gap",
            _format_near_zero(proof.gap),
            "Upper bound of a further improvement of the objective, relative to the power of the "
            "data.",
        ),
        make_row(
            "Dual residual",
            _format_near_zero(proof.dual_residual),
            "Infeasibility of the solver's dual variables, removed before the bound above was "
            "computed.",
        ),
        make_row(
            "Identifiable directions",
            f"{proof.rank} of {parameters}",
            f"Combinations of the {parameters} parameters that the data identify, including the "
            f"noise of the motion{others}",
        ),
        make_row(
            "Condition number",
            format_significant(proof.condition, 2),
            "Ratio of the best to the worst determined of these directions; values up to some "
            "thousands are harmless.",
        ),
    )


def _format_near_zero(value: float) -> str:
    """Format a value near zero: 0, or two significant digits."""
    return "0" if value == 0.0 else f"{value:.1e}"
