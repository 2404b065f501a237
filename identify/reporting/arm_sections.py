"""Sections of the joints of an arm: errors of the torque, friction, torque scale and logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from identify.arms import ArmLog, TorqueErrors, TorqueScale
from identify.arms.columns import ROTOR_INERTIA
from identify.arms.equations import of_run
from identify.reporting.arm_torques import JointTorques, friction_columns, torque_columns
from identify.reporting.content import (
    Cell,
    Head,
    Pictures,
    ReportTable,
    Section,
    Text,
    Tile,
    Tiles,
    make_table,
    number_heads,
    row,
)
from identify.reporting.rounding import decimals_for, fixed, plus_minus, significant
from identify.significance import HALF_WIDTH_SIGMA

if TYPE_CHECKING:
    from identify.logs import JointRecording

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


def error_tiles(errors: Mapping[str, TorqueErrors]) -> Tiles:
    """Return relative torque errors of all joints as headline numbers."""
    return Tiles(
        tuple(
            Tile(f"Torque error, {name}", f"{_per_cent(each.total)} %")
            for name, each in errors.items()
        )
    )


def pooled_errors(errors: Sequence[TorqueErrors]) -> TorqueErrors:
    """Return the root mean square of torque errors on several data."""
    joints = np.sqrt(np.mean([each.joints**2 for each in errors], axis=0))
    return TorqueErrors(joints, float(np.sqrt(np.mean([each.total**2 for each in errors]))))


def torque_figures(torques: JointTorques) -> Pictures:
    """Return the figures of the torques of each log."""
    return Pictures(torque_columns(torques), _TORQUE_CAPTION)


def error_table(joints: Sequence[str], errors: Mapping[str, TorqueErrors]) -> ReportTable:
    """Return the table of relative torque errors by joint, in per cent of the torque."""
    rows = [
        (name, *(_per_cent(each.joints[k]) for each in errors.values()))
        for k, name in enumerate(joints)
    ]
    rows.append(("all joints", *(_per_cent(each.total) for each in errors.values())))
    return make_table(
        ("Joint", *(f"{name} [%]" for name in errors)),
        rows,
        "Torque that the model leaves, relative to the measured torque, while the joint moves, up "
        "to the cut-off. Held out: on logs, or halves of logs, that a fit has not used, root mean "
        "square.",
    )


def _per_cent(share: float) -> str:
    return "–" if np.isnan(share) else significant(100.0 * float(share), 2)


def friction_table(torques: JointTorques) -> ReportTable:
    """Return the table of rotor inertia and friction of each joint, with 95 % intervals."""
    runs = dict.fromkeys(torques.equations.runs[: len(torques.logs)])
    titles = {run: torques.titles[torques.equations.runs.index(run)] for run in runs}
    kinds = {ROTOR_INERTIA: "Rotor inertia", "viscous": "Viscous", "coulomb": "Coulomb"}
    kinds["offset"] = "Offset"
    owners = [name.removesuffix(f" {ROTOR_INERTIA}") for name in torques.scalars]
    owners = [name for name in owners if f"{name} {ROTOR_INERTIA}" in torques.scalars]
    rows = [
        (
            owner if len(runs) == 1 else f"{owner}, {titles[run]}",
            *(
                _with_half_width(
                    torques.scalars.get(
                        f"{owner} {kind}" if kind == ROTOR_INERTIA else of_run(owner, kind, run)
                    )
                )
                for kind in kinds
            ),
        )
        for owner in owners
        for run in runs
    ]
    return make_table(
        ("Joint", *kinds.values()),
        rows,
        "Inertia of the rotor with its gear about the joint's axis [kg m²]; torque of friction = "
        "viscous · velocity [N m s/rad] + Coulomb · sign of the velocity [N m] + offset [N m]; of "
        "prismatic joints [kg], [N s/m] and [N]. ±: 95 %, with the error of the torque scale.",
    )


def _with_half_width(pair: tuple[float, float] | None) -> str:
    if pair is None:
        return "–"
    value, half = pair[0], HALF_WIDTH_SIGMA * pair[1]
    decimals = decimals_for(half, abs(value))
    return f"{fixed(value, decimals)} {plus_minus(half, decimals)}"


def friction_section(torques: JointTorques) -> Section:
    """Return the section of friction by joint: curves and table."""
    blocks = (Pictures(friction_columns(torques), _FRICTION_CAPTION), friction_table(torques))
    return Section("friction", "Friction and rotors of the joints", blocks)


def scale_section(scale: TorqueScale, joints: Sequence[str]) -> Section:
    """Return the section of the torque scale that the intervals count with."""
    errors = [HALF_WIDTH_SIGMA * float(variance) ** 0.5 for variance in scale.covariance.diagonal()]
    table = ReportTable(
        (Head("Joint"), *number_heads("Gain", "95 %")),
        tuple(
            row(name, fixed(float(gain), 4), f"± {significant(error, 2)}")
            for name, gain, error in zip(joints, scale.gains, errors, strict=True)
        ),
        "Torque scale: logged torque = gain × true torque. Logs of the arm alone do not show it: "
        "torques that are all 2 % too large are those of an arm that is 2 % heavier.",
    )
    return Section("scale", "Torque scale", (Text(f"Intervals count with: {scale.kind}."), table))


def log_section(
    recordings: Sequence[JointRecording], logs: Sequence[ArmLog], titles: Sequence[str]
) -> Section:
    """Return the section of the rows, rates, filters and digests of logs of joints."""
    heads = ("Rows", "Dropped", "Rate [Hz]", "Cut-off [Hz]", "Span [s]", "Used", "Moving [%]")
    rows = tuple(
        row(
            f"{number}: {title}",
            f"{recording.rows}",
            f"{recording.dropped.total}",
            f"{log.rate_hz:.4g}",
            f"{log.cutoff_hz:.3g}",
            f"{recording.time[-1]:.4g}",
            f"{log.samples}",
            ", ".join(f"{100.0 * share:.0f}" for share in log.moving),
            Cell(log.sha256[:12], tooltip=log.sha256),
        )
        for number, (recording, log, title) in enumerate(
            zip(recordings, logs, titles, strict=True), start=1
        )
    )
    table = ReportTable(
        (Head("Log"), *number_heads(*heads), Head("sha256")),
        rows,
        "Rows, filters and digests of the logs. Moving: share of the samples in which each joint "
        "moves, by joint; the others do not count in its equation.",
    )
    return Section("data", "Data", (table,))
