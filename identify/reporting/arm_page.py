"""Sections of the reports of an arm's load, and of its links, rotors and friction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from identify.arms.columns import ROTOR_INERTIA
from identify.arrays import Phi
from identify.estimation import Estimate
from identify.findings import UNIDENTIFIED_SOURCES
from identify.inertia import PHI, UNITS
from identify.pipeline.saved_result import result_digest
from identify.reporting.arm_sections import (
    arm_verdict_section,
    friction_section,
    log_section,
    scale_section,
    torque_section,
)
from identify.reporting.arm_torques import fitted_arm
from identify.reporting.body import body_section
from identify.reporting.content import (
    Cell,
    Head,
    Row,
    Section,
    SectionBuilder,
    make_row,
    make_table,
)
from identify.reporting.logs import provenance_section, provenance_section_of
from identify.reporting.precision import precision_section
from identify.reporting.result import export_section, verdict_section
from identify.reporting.rounding import (
    decimals_for,
    format_fixed,
    format_significant,
    with_half_width,
)

if TYPE_CHECKING:
    from identify.inertia import InertialParameters
    from identify.pipeline import Result

_SHOWN_SHARE = 1e-6
"""Smallest displayed parameter of a link, relative to the largest of the same unit."""


def arm_sections(result: Result) -> Sequence[SectionBuilder]:
    """Return the functions that make the sections of a report, in their order."""
    return LOAD_SECTIONS if result.body_fitted else ARM_SECTIONS


def _base_section(result: Result, truth: InertialParameters | None) -> Section | None:
    weighted, by_ordinary = fitted_arm(result).weighted, fitted_arm(result).ordinary
    if weighted is None or by_ordinary is None:
        return None
    ordinary = by_ordinary.values.tolist()
    halves = weighted.half_widths.tolist()
    rows = (
        (
            name.replace(ROTOR_INERTIA, "rotor inertia"),
            with_half_width(value, half),
            format_fixed(other, decimals_for(half, abs(other))),
        )
        for name, value, half, other in zip(
            weighted.names, weighted.values.tolist(), halves, ordinary, strict=True
        )
    )
    table = make_table(
        (Head("Base parameter", "prose"), "WLS", "OLS"),
        rows,
        "Base parameters [SI units of the first term]: the combinations that torques can show. "
        "WLS: weighted by what the fit leaves of each joint's torque; OLS: all torques alike. "
        "±: 95 %, without the error of the torque scale. They need no prior, and are no bodies: "
        "simulators need the links below.",
    )
    return Section("base", "Base parameters", (table,))


def _link_section(result: Result, truth: InertialParameters | None) -> Section:
    robot, links = fitted_arm(result).robot, result.estimate.bodies
    bodies = list(zip(robot.links, links, robot.phi, strict=True))
    units = (f"{name} [{unit}]" for name, unit in zip(PHI, UNITS, strict=True))
    phi = np.array([link.parameters.phi for link in links])
    largest = [np.abs(phi[:, part]).max() for part in (slice(1), slice(1, 4), slice(4, 10))]
    smallest = _SHOWN_SHARE * np.repeat(largest, (1, 3, 6))
    values = make_table(
        ("Link", *units),
        ((name, *_link_cells(link, model, smallest)) for name, link, model in bodies),
        "Links about the origins of their frames in the URDF, in their axes, with all that is "
        "fixed to them. Shaded: identifiable by itself from the logs. Otherwise only "
        "combinations are, and the value is the one nearest to the URDF of all that fit; hover "
        "for that of the URDF. Every link is physically consistent.",
    )
    heads = ("Link", "Mass [kg]", "URDF [kg]", "Centre of mass moved by [mm]")
    changes = make_table(
        (*heads, Head("Identifiable by itself", "prose")),
        (_change_row(name, link, model) for name, link, model in bodies),
        "Links: fitted, and those of the URDF.",
    )
    return Section("links", "Links, and what the logs tell of each", (changes, values))


def _link_cells(link: Estimate, model: Phi, smallest: Phi) -> Iterable[Cell]:
    for k, name in enumerate(PHI):
        value = float(link.parameters.phi[k])
        unknown = link.decided_by[name] in UNIDENTIFIED_SOURCES
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


def _provenance_section(result: Result, truth: InertialParameters | None) -> Section:
    arm, provenance = fitted_arm(result), result.estimate.provenance
    locked = ", ".join(f"{name} at {value:g}" for name, value in arm.robot.locked.items())
    robot = provenance["robot"]
    assert isinstance(robot, dict)
    rows = [
        make_row("Model", f"{robot['model']}, sha256 {robot['sha256']}"),
        make_row("Joints", ", ".join(arm.joints) + (f"; locked: {locked}" if locked else "")),
        make_row("Intervals", str(result.estimate.interval_kind)),
        make_row("arm.json", f"sha256 {result_digest(result)}"),
    ]
    return provenance_section_of(provenance, rows)


ARM_SECTIONS: tuple[SectionBuilder, ...] = (
    arm_verdict_section,
    friction_section,
    _base_section,
    _link_section,
    scale_section,
    log_section,
    _provenance_section,
)
"""Sections of the report of a fit of an arm itself."""

LOAD_SECTIONS: tuple[SectionBuilder, ...] = (
    verdict_section,
    body_section,
    export_section,
    torque_section,
    friction_section,
    scale_section,
    precision_section,
    log_section,
    provenance_section,
)
"""Sections of the report of a fit of the load of an arm."""
