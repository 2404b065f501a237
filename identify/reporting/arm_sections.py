"""Sections of the joints of an arm: errors of the torque, friction, torque scale and logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from identify.arms import ArmLog, FittedArm, TorqueErrors
from identify.arms.columns import FURTHER_FRICTION, FURTHER_OF_RUN, ROTOR_INERTIA
from identify.arms.equations import of_run
from identify.reporting.arm_torques import (
    fitted_arm,
    friction_changes,
    friction_columns,
    torque_columns,
)
from identify.reporting.content import (
    Block,
    Cell,
    Head,
    Pictures,
    ReportTable,
    Section,
    Text,
    Tile,
    Tiles,
    make_table,
)
from identify.reporting.result import finding_table
from identify.reporting.rounding import format_fixed, format_significant, with_half_width
from identify.significance import HALF_WIDTH_SIGMA

if TYPE_CHECKING:
    from identify.inertia import InertialParameters
    from identify.pipeline import Result

_TORQUE_CAPTION = (
    "Torques of the joints: measured, and predicted from the motion with load, links, rotors and "
    "friction. At rest, friction may have any value within the Coulomb friction, so that there is "
    "no prediction; the fit leaves such samples out."
)
_FRICTION_CAPTION = (
    "Friction: measured torque less that of links and rotors, of samples in motion, and the fitted "
    "friction. Points that follow a curve of another shape, or a loop, hint at friction that "
    "depends on load or temperature, and at a wrong sign or delay."
)
_CHANGE_CAPTION = "Mean friction in spans of time: that of gears falls while they warm up."
_SCALARS = {
    ROTOR_INERTIA: "Rotor inertia",
    "viscous": "Viscous",
    "coulomb": "Coulomb",
    "offset": "Offset",
}
"""Heads of the table of friction, by the scalars of a joint."""

_FURTHER_HEADS = dict(
    zip(
        FURTHER_FRICTION,
        ("By load", "Stribeck, slow", "Stribeck, fast", "Coulomb, change", "Viscous, change"),
        strict=True,
    )
)
"""Heads of the columns of friction that only some joints have."""


def torque_section(result: Result, truth: InertialParameters | None) -> Section:
    """Return the section of the torques: relative errors, and figures of each log."""
    title = "How well it explains the torques"
    return Section("fit", title, _torque_blocks(fitted_arm(result)))


def arm_verdict_section(result: Result, truth: InertialParameters | None) -> Section:
    """Return the section of the torques of an arm without a load, with the findings."""
    blocks = (*finding_table(result.findings), *_torque_blocks(fitted_arm(result)))
    return Section("fit", "How well the arm explains its torques", blocks)


def _torque_blocks(arm: FittedArm) -> tuple[Block, ...]:
    errors = arm.all_errors
    tiles = [
        Tile(f"Torque error, {name}", f"{_per_cent(each.total)} %")
        for name, each in errors.items()
        if not name.endswith("parameters")
    ]
    figures = Pictures(torque_columns(arm), _TORQUE_CAPTION)
    return Tiles(tuple(tiles)), error_table(arm.joints, errors), figures


def error_table(joints: Sequence[str], errors: Mapping[str, TorqueErrors]) -> ReportTable:
    """Return the table of relative torque errors by joint, in per cent of the torque."""
    shares = np.array([[*each.joints, each.total] for each in errors.values()])
    return make_table(
        ("Joint", *(f"{name} [%]" for name in errors)),
        [
            (name, *map(_per_cent, of_joint))
            for name, of_joint in zip((*joints, "all joints"), shares.T, strict=True)
        ],
        "Torque that the model leaves, relative to the measured torque, while the joint moves, up "
        "to the cut-off. URDF: with its links and friction fitted. Held out: on logs, or halves of "
        "logs, that a fit has not used, root mean square.",
    )


def _per_cent(share: float) -> str:
    return "–" if np.isnan(share) else format_significant(100.0 * float(share), 2)


def friction_section(result: Result, truth: InertialParameters | None) -> Section:
    """Return the section of friction by joint: curves and table."""
    arm = fitted_arm(result)
    blocks = (Pictures(friction_columns(arm), _FRICTION_CAPTION), friction_table(arm))
    if changes := friction_changes(arm):
        blocks = (*blocks, Pictures(changes, _CHANGE_CAPTION))
    return Section("friction", "Friction and rotors of the joints", blocks)


def friction_table(arm: FittedArm) -> ReportTable:
    """Return the table of rotor inertia and friction of each joint, with 95 % intervals."""
    titles = {run: f", {arm.series[arm.runs.index(run)].name}" for run in dict.fromkeys(arm.runs)}
    ending = f" {ROTOR_INERTIA}"
    owners = [n.removesuffix(ending) for n in arm.scalars if n.endswith(ending)]
    further = {
        kind: head
        for kind, head in _FURTHER_HEADS.items()
        if any(f" {kind}" in name for name in arm.scalars)
    }
    kinds = [*[*_SCALARS][1:], *further]
    rows = []
    for owner in owners:
        for run, title in titles.items():
            names = [f"{owner}{ending}"]
            names += [
                of_run(
                    owner, each, 0 if each in _FURTHER_HEADS and each not in FURTHER_OF_RUN else run
                )
                for each in kinds
            ]
            pairs = (arm.scalars.get(name) for name in names)
            cells = (
                "–" if p is None else with_half_width(p[0], HALF_WIDTH_SIGMA * p[1]) for p in pairs
            )
            rows.append((f"{owner}{title if len(titles) > 1 else ''}", *cells))
    return make_table(
        ("Joint", *_SCALARS.values(), *further.values()),
        rows,
        "Inertia of the rotor with its gear about the joint's axis [kg m²]; torque of friction = "
        "viscous · velocity [N m s/rad] + Coulomb · sign of the velocity [N m] + offset [N m]; of "
        "prismatic joints [kg], [N s/m] and [N]. By load: friction by the torque that a gear "
        "carries. Stribeck: its rise below 0.1 (slow) and 0.3 rad/s (fast), a tenth in m/s. "
        "Change: from start to end of the log. ±: 95 %, with the error of the torque scale.",
    )


def scale_section(result: Result, truth: InertialParameters | None) -> Section:
    """Return the section of the torque scale that the intervals count with."""
    arm = fitted_arm(result)
    scale = arm.scale
    table = make_table(
        ("Joint", "Gain", "95 %"),
        [
            (name, format_fixed(gain, 4), f"± {format_significant(half, 2)}")
            if half < 1.0
            else (name, "not determined", "–")
            for name, gain, half in zip(
                arm.joints, scale.gains.tolist(), arm.gains.half_widths.tolist(), strict=True
            )
        ],
        "Torque scale: logged torque = gain × true torque. Logs of the arm alone do not show it: "
        "torques that are all 2 % too large are those of an arm that is 2 % heavier.",
    )
    return Section(
        "scale", "Torque scale", (Text(f"Intervals count with: {scale.interval_kind}."), table)
    )


def log_section(result: Result, truth: InertialParameters | None) -> Section:
    """Return the section of the rows, rates, filters and digests of logs of joints."""
    heads = ("Rows", "Dropped", "Rate [Hz]", "Cut-off [Hz]", "Span [s]", "Used", "Moving [%]")
    rows = (
        (
            f"{number}: {log.name}",
            f"{log.recording.rows}",
            f"{log.recording.dropped.total}",
            f"{log.rate_hz:.4g}",
            f"{log.cutoff_hz:.3g}",
            f"{log.duration:.4g}",
            f"{log.samples}",
            ", ".join(f"{100.0 * share:.0f}" for share in log.moving),
            Cell(log.sha256[:12], tooltip=log.sha256),
        )
        for number, log in enumerate(result.logs, start=1)
        if isinstance(log, ArmLog)
    )
    table = make_table(
        ("Log", *heads, Head("sha256")),
        rows,
        "Rows, filters and digests of the logs. Moving: share of the samples in which each joint "
        "moves, by joint; the others do not count in its equation.",
    )
    return Section("data", "Data", (table,))
