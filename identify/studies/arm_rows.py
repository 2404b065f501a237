"""Rows of the load on an arm, A φ = b, from its joint torques."""

from __future__ import annotations

import numpy as np

from identify.arms.arm_fit import scan_logs
from identify.arms.equations import ArmEquations
from identify.arms.model import arm_space, runs_of
from identify.robots import RobotModel
from identify.studies.study_log import NotForTask, RegressorRows, StudyLog


def load_rows(log: StudyLog, robot: RobotModel, cutoff_hz: float | None) -> RegressorRows:
    """Return rows of the load on an arm, by Pinocchio's regressor at the moving samples.

    Links, rotor inertias and friction, W x, are fitted and taken off, with weights by joint:
    A = M Y and b = M τ with M = 1 − W W⁺, whose least squares is that of all unknowns together
    (Frisch and Waugh 1933).

    `cutoff_hz`: as of `fit_payload`.
    Raises `NotForTask`: there is no log with a load, or none without it.
    """
    if not (log.loaded and log.unloaded):
        raise NotForTask("logs of an arm without a load have no rows of ten parameters")
    columns, scans = scan_logs([*log.loaded, *log.unloaded], robot, cutoff_hz)
    joint_count = len(columns.joints)
    equations = ArmEquations(
        columns,
        arm_space(columns, len(scans), payload=True),
        runs_of(len(scans), "own"),
        tuple(k < len(log.loaded) for k in range(len(scans))),
        np.ones(joint_count),
        log.frame,
    )
    still_below = np.broadcast_to(log.loaded[0].joint_axes.still_below, joint_count)
    parts, joints = [], []
    for number, scan in enumerate(scans):
        for joint, slowest in enumerate(still_below):
            z = scan.z[:, joint]
            z = z[np.abs(z[:, columns.friction.start + 1]) > slowest]
            parts.append(z @ equations.residual_coefficients(number, joint)[:, 0])
            joints += [joint] * len(z)
    rows, channels = np.vstack(parts), np.array(joints)
    A, b = RegressorRows(rows[:, 1:], rows[:, 0], channels).whitened()
    load, others = np.column_stack((A[:, :10], b)), A[:, 10:]
    load -= others @ np.linalg.lstsq(others, load, rcond=None)[0]
    return RegressorRows(load[:, :10], load[:, 10], channels)
