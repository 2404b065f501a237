"""Torques that unknowns predict, and what they leave of the measured ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from identify.arms.equations import ArmEquations, equations_of
from identify.arms.rows import ArmLog
from identify.arrays import Array
from identify.regressors import LinearSystem


class TorqueErrors(NamedTuple):
    """Torque that a model leaves, relative to the measured torque, while joints move.

    Attributes:
        joints: of each joint, NaN if it does not move, shape (n,).
        total: root of the sum of squares over all joints, by that of the torques.
    """

    joints: Array
    total: float


class TorqueSeries(NamedTuple):
    """Measured and predicted torque at the times of a log's series, for figures.

    Attributes:
        name: of the log.
        moving: share of its samples in which each joint moves, shape (n,).
        time: [s], shape (t,).
        velocity: of each joint [rad/s or m/s], shape (t, n).
        measured, predicted: [N m or N], shape (t, n).
        friction: predicted friction and rotor inertia alone, shape (t, n).
    """

    name: str
    moving: Array
    time: Array
    velocity: Array
    measured: Array
    predicted: Array
    friction: Array


def torque_errors(system: LinearSystem, x: Array) -> TorqueErrors:
    """Compute the relative torque errors of unknowns over all logs of a system.

    Args:
        system: logs of an arm with their equations, a group for each joint.
        x: unknowns, shape (p,).
    """
    statistics, _ = system.data[0]
    gains, joint = equations_of(system).gains, system.group_index[:, 1]
    torque = (statistics.factors[..., -1] ** 2).sum(axis=1)
    measured = (np.bincount(statistics.group, torque, len(gains)) / gains**2)[joint]
    residual = system.residual_moments(x)[:, 0, 0]
    joints = np.full(len(gains), np.nan)
    joints[joint] = np.sqrt(residual / measured)
    return TorqueErrors(joints, float(np.sqrt(residual.sum() / measured.sum())))


def with_fitted_friction(system: LinearSystem, links: Array) -> Array:
    """Fit friction and rotor inertia alone, with given links.

    Each joint counts by the mean square of its torque.

    Args:
        system: logs of an arm without a payload.
        links: ten parameters of each link, shape (L, 10).

    Returns:
        Unknowns, shape (p,).
    """
    scalars = system.space.scalar_slice
    x = np.zeros(len(system.space))
    x[: scalars.start] = links.ravel()
    problem = system.problem(1.0 / system.measured_power()[..., None])
    A = problem.A[:, scalars]
    norms = np.linalg.norm(A, axis=0)
    norms = np.where(norms > 0.0, norms, 1.0)
    x[scalars] = np.linalg.lstsq(A / norms, problem.b - problem.A @ x, rcond=1e-9)[0] / norms
    return x


def torque_series(log: ArmLog, equations: ArmEquations, x: Array, number: int = 0) -> TorqueSeries:
    """Predict the torque of a log at the times of its series.

    Args:
        log: summary of the log.
        equations: equations of the fit.
        x: unknowns, shape (p,).
        number: number of the log in the fit.
    """
    links, friction = np.array(x), np.array(x)
    friction[: equations.space.scalar_slice.start] = 0.0
    links -= friction
    joints = range(len(log.columns.joints))
    C = np.stack(
        [equations.residual_coefficients(number, joint)[:, 0] for joint in joints]
    )  # (n, K, 1 + p)
    coefficients = C[..., 1:] @ np.stack([links, friction], axis=1)  # (n, K, 2)
    of_links, of_friction = (log.z.swapaxes(0, 1) @ coefficients).T  # (2, t, n)
    return TorqueSeries(
        name=log.name,
        moving=log.moving,
        time=log.time,
        velocity=log.z[:, :, log.columns.friction.start + 1],
        measured=np.einsum("tnk,nk->tn", log.z, C[..., 0]),
        predicted=of_links + of_friction,
        friction=of_friction,
    )
