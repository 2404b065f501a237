"""Base parameters of an arm: least squares in what its torques can show, with intervals.

Links, rotor inertias and friction are taken together: the inertia of the first link about its axis
and that of the rotor that turns it, for example, are one base parameter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from identify.arms.columns import JointMotion, joint_columns
from identify.arms.equations import ArmEquations, equations_of
from identify.arrays import Array
from identify.errors import ProblemError
from identify.estimation.fit_data import MIN_RELATIVE_RESIDUAL
from identify.inertia import BaseColumns, base_columns
from identify.regressors import LinearSystem
from identify.robots import parameter_names, random_motion, torque_regressor
from identify.significance import CONFIDENCE_QUANTILE

_SCALAR_COLUMN_FACTOR = 1e-2
"""Factor of the columns of rotor inertia and friction in the choice of independent columns, so that
those of links are chosen first."""

_MAX_CONDITION = 1e10
"""Largest condition number of the scaled base columns; beyond it, a log does not excite them."""

_MAX_ITERATIONS = 20
"""Largest number of re-weighted iterations; the weights of joints converge in four."""

_WEIGHT_TOLERANCE = 1e-6
"""Largest relative change of a joint's weight in the last iteration."""

_PRECISE_SHARE = 0.1
"""Half-width of the interval of a base parameter, as a share of it, that counts as precise."""


@dataclass(frozen=True, slots=True, eq=False)
class BaseParameters:
    """Base parameters of an arm by least squares.

    Attributes:
        names: combination of parameters that each stands for, such as "Izz of link1 + Iyy of
            link2"; friction by its own name.
        columns: the independent unknowns, and β = D x.
        values: [SI], shape (p,).
        covariance: shape (p, p).
        degrees: degrees of freedom of Student's t.
        noise: standard deviation of each joint's torque beyond the model [N m], shape (n,).
    """

    names: tuple[str, ...]
    columns: BaseColumns
    values: Array
    covariance: Array
    degrees: float
    noise: Array

    @property
    def errors(self) -> Array:
        """Standard error of each, shape (p,)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def half_widths(self) -> Array:
        """Half-width of the 95 % interval of each, shape (p,)."""
        return float(stdtrit(self.degrees, CONFIDENCE_QUANTILE)) * self.errors

    @property
    def precise(self) -> int:
        """Number of those with an interval below 10 % of the value."""
        return int((self.half_widths < _PRECISE_SHARE * abs(self.values)).sum())

    @property
    def x(self) -> Array:
        """Unknowns with these base parameters, those of dependent columns zero, shape (q,)."""
        x = np.zeros(self.columns.dependence.shape[1])
        x[self.columns.independent] = self.values
        return x


def arm_base_columns(equations: ArmEquations) -> BaseColumns:
    """Find the independent unknowns of an arm without a payload, from random motion."""
    columns = equations.columns
    q, v, a = random_motion(columns.robot)
    phase = np.linspace(-0.5, 0.5, len(q))
    motion = JointMotion(np.zeros(len(q)), q, v, a, np.cos(np.cumsum(q, axis=0)), phase)
    Y = np.moveaxis(torque_regressor(columns.robot, q, v, a), 0, -1)
    links = equations.space.scalar_slice.start
    logs = {run: log for log, run in enumerate(equations.runs)}.values()
    rows = []
    for joint in range(len(columns.joints)):
        nonzero, z = joint_columns(columns, Y, motion, joint)
        rows += [z.T @ equations.residual_coefficients(log, joint)[nonzero, 0, 1:] for log in logs]
    W = np.concatenate(rows)
    unit = np.where(np.arange(W.shape[1]) < links, 1.0, _SCALAR_COLUMN_FACTOR)
    base = base_columns(W * unit)
    dependence = base.dependence * unit[base.independent, None] / unit
    return replace(base, dependence=dependence)


def fit_base_parameters(
    system: LinearSystem, base: BaseColumns, *, weighted: bool = True
) -> BaseParameters:
    """Fit the base parameters of an arm by weighted or ordinary least squares.

    Raises `ProblemError`: the motion does not excite some of the base parameters.
    If `weighted`, joints are weighted by what the fit leaves of their torques; else all count
    alike.
    """
    scalars = (scalar.name for scalar in system.space.scalars)
    names = base.describe((*parameter_names(equations_of(system).columns.robot), *scalars))
    weights = np.ones(len(system.padded.samples))
    fit = _at_weights(system, base, names, weights)
    for _ in range(_MAX_ITERATIONS if weighted else 0):
        last, weights = weights, 1.0 / fit.variance
        fit = _at_weights(system, base, names, weights)
        if np.abs(weights / last - 1.0).max() < _WEIGHT_TOLERANCE:
            break
    scores = np.tensordot(weights**2 * fit.variance, fit.moments, 1)
    degrees = float(system.padded.effective_samples.sum()) - len(base.independent)
    return BaseParameters(
        names=names,
        columns=base,
        values=fit.values,
        covariance=fit.inverse @ scores @ fit.inverse,
        degrees=max(degrees, 1.0),
        noise=np.sqrt(fit.variance),
    )


class _WeightedFit(NamedTuple):
    """Least squares at given weights of the joints.

    Attributes:
        values: base parameters, shape (p,).
        inverse: inverse information, shape (p, p).
        moments: moments of the unweighted columns of each joint, shape (n, p, p).
        variance: of the residuals of each joint, shape (n,).
    """

    values: Array
    inverse: Array
    moments: Array
    variance: Array


def _at_weights(
    system: LinearSystem, base: BaseColumns, names: tuple[str, ...], weights: Array
) -> _WeightedFit:
    numbers = [*base.independent, len(system.space)]  # the torque is last
    every = system.normal_matrices(np.ones((len(weights), 1, 1)))[:, numbers][:, :, numbers]
    moments, total = every[:, :-1, :-1], np.tensordot(weights, every, 1)
    norms = np.sqrt(np.diag(total)[:-1])
    silent = [name for name, norm in zip(names, norms.tolist(), strict=True) if not norm > 0.0]
    norms = np.where(norms > 0.0, norms, 1.0)
    values, vectors = np.linalg.eigh(total[:-1, :-1] / np.outer(norms, norms))
    if not silent and values[0] * _MAX_CONDITION < values[-1]:
        silent = [names[k] for k in np.argsort(-np.abs(vectors[:, 0]))[:3].tolist()]
    if silent:
        raise ProblemError(
            f"the motion does not excite {', '.join(silent)}: move all joints at once, at "
            "different speeds and with accelerations"
        )
    root = vectors / np.sqrt(values) / norms[:, None]
    inverse = root @ root.T
    x = np.zeros(len(system.space))
    x[base.independent] = inverse @ total[:-1, -1]
    leverage = weights * (moments * inverse).sum(axis=(1, 2))
    residual = system.residual_moments(x)[:, 0, 0]
    variance = residual / np.maximum(system.padded.effective_samples - leverage, 1.0)
    variance = np.maximum(variance, MIN_RELATIVE_RESIDUAL**2 * system.measured_power()[:, 0])
    return _WeightedFit(x[base.independent], inverse, moments, variance)
