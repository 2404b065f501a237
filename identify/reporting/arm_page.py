"""Reports of an arm's links, rotors and friction, and of its load, as one HTML file each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from identify.arms import ArmFit, arm_text
from identify.arms.columns import ROTOR_INERTIA
from identify.arrays import Phi
from identify.estimation import Estimate
from identify.exchange.estimate_json import estimate_digest
from identify.findings import UNIDENTIFIED_SOURCES
from identify.inertia import PHI, UNITS
from identify.pipeline.arm_results import ArmResult
from identify.pipeline.payload import PayloadResult
from identify.reporting.arm_sections import (
    friction_section,
    log_section,
    scale_section,
    torque_section,
)
from identify.reporting.arm_torques import JointTorques, arm_errors, payload_errors
from identify.reporting.body import body_section_of, repeatability_in_words
from identify.reporting.content import (
    Cell,
    Head,
    ReportTable,
    Row,
    Section,
    make_row,
    make_table,
    number_heads,
    render_page,
)
from identify.reporting.logs import estimate_rows, provenance_section_of
from identify.reporting.page import toolkit_version
from identify.reporting.precision import precision_section
from identify.reporting.result import (
    export_section,
    finding_table,
    verdict_in_words,
    verdict_section_of,
)
from identify.reporting.rounding import (
    decimals_for,
    format_fixed,
    format_significant,
    with_half_width,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from identify.inertia import InertialParameters

_SHOWN_SHARE = 1e-6
"""Smallest displayed parameter of a link, relative to the largest of the same unit."""


def arm_report_html(result: ArmResult, *, written: datetime | None = None) -> str:
    """Return the report of a fit of an arm as HTML.

    Args:
        result: of the fit.
        written: date of the report; by default the present time.
    """
    fit, report = result.fit, result.saved_arm.report
    torques = JointTorques.of(fit.logs, fit.solution)
    sections = [
        torque_section(
            "How well the arm explains its torques",
            torques,
            arm_errors(fit),
            finding_table(result.findings),
        ),
        friction_section(torques),
        _base_section(fit),
        _link_section(fit),
        scale_section(fit.scale, torques.joints),
        log_section(result.recordings, fit.logs, torques.titles),
        provenance_section_of(report["provenance"], _provenance_rows(result)),
    ]
    return _render("arm.html", sections, torques.titles, report["provenance"], written)


def payload_report_html(
    result: PayloadResult,
    truth: InertialParameters | None = None,
    *,
    written: datetime | None = None,
) -> str:
    """Return the report of a load on an arm as HTML.

    Args:
        result: of the fit.
        truth: the reference body about the frame to compare with, if there is one.
        written: date of the report; by default the present time.
    """
    fit, estimate = result.fit, result.estimate
    torques = JointTorques.of(fit.logs, fit.solution, fit.loaded)
    points = repeatability_in_words(estimate, "the torque scale")
    sections = [
        verdict_section_of(result, verdict_in_words(result, torque_answer(result))),
        body_section_of(result, truth, points),
        export_section(result, truth),
        torque_section("How well it explains the torques", torques, payload_errors(fit)),
        friction_section(torques),
        scale_section(fit.scale, torques.joints),
        precision_section(result, truth),
        log_section(result.recordings, fit.logs, torques.titles),
        provenance_section_of(estimate.provenance, estimate_rows(estimate)),
    ]
    return _render(
        "report.html",
        [section for section in sections if section is not None],
        torques.titles,
        estimate.provenance,
        written,
        heading="Inertia of the load of an arm",
        digest=estimate_digest(estimate),
        carrier=None,
        frame=estimate.frame_description,
    )


def torque_answer(result: PayloadResult) -> str:
    """Return whether the model explains the torques, with its errors."""
    answer = "yes" if result.verdict.explains_data else "no, the residual is not noise"
    words = {"fitted": "of the torques remain", "held out": "held out"}
    errors = payload_errors(result.fit).items()
    parts = [
        f"{format_significant(100.0 * each.total, 2)} % {words[name]}" for name, each in errors
    ]
    return f"{answer} ({', '.join(parts)})"


def _render(
    template: str,
    sections: Iterable[Section],
    names: Sequence[str],
    provenance: Mapping[str, object],
    written: datetime | None,
    **variables: object,
) -> str:
    return render_page(
        template,
        sections,
        title=names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more",
        names=list(names),
        written=written or datetime.now().astimezone(),
        version=toolkit_version(provenance),
        **variables,
    )


def _base_section(fit: ArmFit) -> Section:
    weighted, ordinary = fit.weighted, fit.ordinary.values.tolist()
    halves = weighted.half_widths.tolist()
    rows = [
        make_row(
            name.replace(ROTOR_INERTIA, "rotor inertia"),
            with_half_width(value, half),
            format_fixed(other, decimals_for(half, abs(other))),
        )
        for name, value, half, other in zip(
            weighted.names, weighted.values.tolist(), halves, ordinary, strict=True
        )
    ]
    table = ReportTable(
        (Head("Base parameter", "prose"), *number_heads("WLS", "OLS")),
        tuple(rows),
        "Base parameters [SI units of the first term]: the combinations that torques can show. "
        "WLS: weighted by what the fit leaves of each joint's torque; OLS: all torques alike. "
        "±: 95 %, without the error of the torque scale. They need no prior, and are no bodies: "
        "simulators need the links below.",
    )
    return Section("base", "Base parameters", (table,))


def _link_section(fit: ArmFit) -> Section:
    bodies = list(zip(fit.robot.links, fit.estimate.bodies, fit.robot.phi, strict=True))
    units = (f"{name} [{unit}]" for name, unit in zip(PHI, UNITS, strict=True))
    largest = [np.abs(fit.links[:, part]).max() for part in (slice(1), slice(1, 4), slice(4, 10))]
    smallest = _SHOWN_SHARE * np.repeat(largest, (1, 3, 6))
    values = make_table(
        ("Link", *units),
        [make_row(name, *_link_cells(link, model, smallest)) for name, link, model in bodies],
        "Links about the origins of their frames in the URDF, in their axes, with all that is "
        "fixed to them. Shaded: identifiable by itself from the logs. Otherwise only "
        "combinations are, and the value is the one nearest to the URDF of all that fit; hover "
        "for that of the URDF. Every link is physically consistent.",
    )
    heads = number_heads("Mass [kg]", "URDF [kg]", "Centre of mass moved by [mm]")
    changes = ReportTable(
        (Head("Link"), *heads, Head("Identifiable by itself", "prose")),
        tuple(_change_row(name, link, model) for name, link, model in bodies),
        "Links: fitted, and those of the URDF.",
    )
    return Section("links", "Links, and what the logs tell of each", (changes, values))


def _link_cells(link: Estimate, model: Phi, smallest: Phi) -> Iterable[Cell]:
    for k, name in enumerate(PHI):
        value, unknown = (
            float(link.parameters.phi[k]),
            link.decided_by[name] in UNIDENTIFIED_SOURCES,
        )
        yield Cell(
            format_significant(value, 3) if abs(value) > smallest[k] else "0",
            tooltip=f"{value!r} {UNITS[k]}; in the URDF {float(model[k])!r}",
            tone="muted" if unknown else "",
            shade=0 if unknown else 2,
        )


def _change_row(name: str, link: Estimate, model: Phi) -> Row:
    phi, moved = link.parameters.phi, "–"
    if model[0] > 0.0:
        distance = float(np.linalg.norm(phi[1:4] / phi[0] - model[1:4] / model[0]))
        moved = format_fixed(1e3 * distance, 1)
    shown = [entry for entry, by in link.decided_by.items() if by not in UNIDENTIFIED_SOURCES]
    mass, before = (format_significant(float(each), 4) for each in (phi[0], model[0]))
    return make_row(name, mass, before, moved, ", ".join(shown) or "only combinations")


def _provenance_rows(result: ArmResult) -> list[Row]:
    fit = result.fit
    locked = ", ".join(f"{name} at {value:g}" for name, value in fit.robot.locked.items())
    digest = hashlib.sha256(arm_text(result.saved_arm).encode()).hexdigest()
    return [
        make_row(
            "Model", f"{fit.robot.path.name}, sha256 {result.saved_arm.report['model_sha256']}"
        ),
        make_row("Joints", ", ".join(fit.robot.joints) + (f"; locked: {locked}" if locked else "")),
        make_row("Intervals", fit.estimate.interval_kind),
        make_row("arm.json", f"sha256 {digest}"),
    ]
