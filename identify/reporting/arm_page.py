"""The report of a fit of an arm: torques, friction, base parameters and links, as one HTML file."""

from __future__ import annotations

import hashlib
from datetime import datetime

import numpy as np

from identify.arms import ArmFit, arm_text
from identify.arrays import Phi
from identify.estimation import Estimate
from identify.findings import NOT_IDENTIFIED
from identify.inertia import PHI, UNITS
from identify.pipeline.arm_results import ArmResult
from identify.reporting.arm_sections import (
    error_table,
    error_tiles,
    friction_section,
    log_section,
    pooled_errors,
    scale_section,
    torque_figures,
)
from identify.reporting.arm_torques import JointTorques
from identify.reporting.content import (
    Cell,
    Head,
    Listing,
    ReportTable,
    Row,
    Section,
    make_table,
    number_heads,
    render_page,
    row,
)
from identify.reporting.page import version_of
from identify.reporting.result import finding_table
from identify.reporting.rounding import decimals_for, fixed, plus_minus, significant
from identify.texts import json_text

_SHOWN_SHARE = 1e-6
"""Smallest entry of a link that is shown, as a share of the largest of its kind."""


def arm_report_html(result: ArmResult, *, written: datetime | None = None) -> str:
    """Return the report of a fit of an arm as HTML.

    Args:
        result: of the fit.
        written: date of the report; by default the present time.
    """
    fit, torques = result.fit, joint_torques(result.fit)
    sections = [
        _torque_section(result, torques),
        friction_section(torques),
        _base_section(fit),
        _link_section(fit),
        scale_section(fit.scale, torques.joints),
        log_section(result.recordings, fit.logs, torques.titles),
        _provenance_section(result),
    ]
    names = list(torques.titles)
    provenance = result.saved_arm.report["provenance"]
    return render_page(
        "arm.html",
        sections,
        title=names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more",
        names=names,
        written=written or datetime.now().astimezone(),
        version=version_of(provenance),
    )


def joint_torques(fit: ArmFit) -> JointTorques:
    """Predict the torques of the logs of a fit of an arm."""
    return JointTorques.of(fit.logs, fit.solution, [log.name for log in fit.logs])


def torque_error_table(fit: ArmFit) -> ReportTable:
    """Return the table of relative torque errors by joint: fitted, held out, and of the URDF."""
    held = fit.held_out
    errors = {"fitted": fit.errors, "URDF": fit.model_errors}
    if held:
        errors["held out"] = pooled_errors([each.consistent for each in held])
        errors["held out, base parameters"] = pooled_errors([each.base for each in held])
        errors["held out, URDF"] = pooled_errors([each.model for each in held])
    return error_table(fit.robot.joints, errors)


def _torque_section(result: ArmResult, torques: JointTorques) -> Section:
    fit, held = result.fit, result.fit.held_out
    shown = {"fitted": fit.errors, "links of the URDF": fit.model_errors}
    if held:
        shown = {
            "held out": pooled_errors([each.consistent for each in held]),
            "held out, links of the URDF": pooled_errors([each.model for each in held]),
        }
    table = torque_error_table(fit)
    blocks = (*finding_table(result.findings), error_tiles(shown), table, torque_figures(torques))
    return Section("fit", "How well the arm explains its torques", blocks)


def _base_section(fit: ArmFit) -> Section:
    weighted, ordinary = fit.weighted, fit.ordinary
    rows = [
        row(name.replace("_", " "), *_estimate_cells(value, half), _format(other, half))
        for name, value, half, other in zip(
            weighted.names,
            weighted.values.tolist(),
            weighted.half_widths.tolist(),
            ordinary.values.tolist(),
            strict=True,
        )
    ]
    table = ReportTable(
        (Head("Base parameter", "prose"), *number_heads("WLS", "95 %", "OLS")),
        tuple(rows),
        "Base parameters [SI units of the first term]: the combinations that torques can show. "
        "WLS: weighted by what the fit leaves of each joint's torque; OLS: all torques alike. ±: "
        "without the error of the torque scale. They need no prior, and are no bodies: "
        "simulators need the links below.",
    )
    return Section("base", "Base parameters", (table,))


def _estimate_cells(value: float, half: float) -> tuple[str, str]:
    return _format(value, half), plus_minus(half, decimals_for(half, abs(value)))


def _format(value: float, half: float) -> str:
    return fixed(value, decimals_for(half, abs(value)))


def _link_section(fit: ArmFit) -> Section:
    bodies = list(zip(fit.robot.links, fit.estimate.bodies, fit.robot.phi, strict=True))
    rows, groups = [], (slice(0, 1), slice(1, 4), slice(4, 10))
    scales = [float(np.abs(fit.links[:, g]).max()) for g in groups for _ in range(g.start, g.stop)]
    for name, body, model in bodies:
        cells = [
            Cell(
                significant(value, 3) if abs(value) > _SHOWN_SHARE * largest else "0",
                tooltip=f"{value!r} {unit}; in the URDF {before!r}",
                tone="muted" if body.decided_by[entry] in NOT_IDENTIFIED else "",
                shade=0 if body.decided_by[entry] in NOT_IDENTIFIED else 2,
            )
            for entry, value, before, unit, largest in zip(
                PHI, body.parameters.phi.tolist(), model.tolist(), UNITS, scales, strict=True
            )
        ]
        rows.append(row(name, *cells))
    units = (f"{name} [{unit}]" for name, unit in zip(PHI, UNITS, strict=True))
    values = make_table(
        ("Link", *units),
        rows,
        "Links about the origins of their frames in the URDF, in their axes, with all that is "
        "fixed to them. Shaded: identifiable by itself from the logs. Otherwise only "
        "combinations are, and the value is the one nearest to the URDF of all that fit; hover "
        "for that of the URDF. Every link is physically consistent.",
    )
    heads = number_heads("Mass [kg]", "URDF [kg]", "Centre of mass moved by [mm]")
    changes = ReportTable(
        (Head("Link"), *heads, Head("Identifiable by itself", "prose")),
        tuple(_change_row(name, body, model) for name, body, model in bodies),
        "Links: fitted, and those of the URDF.",
    )
    return Section("links", "Links, and what the logs tell of each", (changes, values))


def _change_row(name: str, link: Estimate, model: Phi) -> Row:
    phi, moved = link.parameters.phi, "–"
    if model[0] > 0.0:
        distance = float(np.linalg.norm(phi[1:4] / phi[0] - model[1:4] / model[0]))
        moved = fixed(1e3 * distance, 1)
    shown = [entry for entry, by in link.decided_by.items() if by not in NOT_IDENTIFIED]
    mass, before = (significant(float(each), 4) for each in (phi[0], model[0]))
    return row(name, mass, before, moved, ", ".join(shown) or "only combinations")


def _provenance_section(result: ArmResult) -> Section:
    fit, report = result.fit, result.saved_arm.report
    provenance = report["provenance"]
    locked = ", ".join(f"{name} at {value:g}" for name, value in fit.robot.locked.items())
    versions = ", ".join(f"{name} {version}" for name, version in provenance["versions"].items())
    digest = hashlib.sha256(arm_text(result.saved_arm).encode()).hexdigest()
    rows = [
        ("Command", f"`{provenance['command']}`") if provenance["command"] else None,
        ("Model", f"{fit.robot.path.name}, sha256 {report['model_sha256']}"),
        ("Joints", ", ".join(fit.robot.joints) + (f"; locked: {locked}" if locked else "")),
        ("Intervals", fit.estimate.interval_kind),
        ("arm.json", f"sha256 {digest}"),
        ("Versions", versions),
    ]
    table = ReportTable(
        (Head("Item"), Head("Value", "prose")), tuple(row(*each) for each in rows if each)
    )
    schemas = dict.fromkeys(json_text(dict(log.schema)) for log in result.recordings)
    return Section("provenance", "Provenance", (table, *(Listing("Schema", s) for s in schemas)))
