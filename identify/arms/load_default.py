"""Parameters of a load that no motion of an arm shows, and the body that stands in for them.

A SCARA shows m, hx, hy and Izz of its load, a pendulum less: columns of the torque regressor of a
body on the frame depend on each other, whatever the motion.
"""

from __future__ import annotations

import numpy as np

from identify.arms.columns import ArmColumns
from identify.arms.equations import payload_columns
from identify.arrays import Array, Phi
from identify.estimation.estimate import Estimate
from identify.estimation.intervals import covariance_of
from identify.estimation.least_squares import LeastSquaresFit
from identify.inertia import PHI, InertialParameters, base_columns
from identify.inertia.parameters import default_radius
from identify.significance import HALF_WIDTH_SIGMA

_RELATIVE_RANK = 1e-9
"""Singular value of a load's columns, relative to the largest, that counts as zero."""

_MIN_MASS_RATIO = 1e-3
"""Smallest mass of a ball at the start, relative to the default before."""

_WEIGHT_OF_FRAME, _WEIGHT_OF_WATER = 0.01, 0.1
"""Weight of a ball's distance from the frame, in its radii, and of the logarithm of its radius
relative to that of water: small, beside what the axes show in standard errors."""


def unobservable_directions(columns: ArmColumns, frame: str) -> Array:
    """Return orthonormal directions of a load's parameters that no motion shows, shape (k, 10)."""
    return _split_directions(columns, frame)[1]


def shown_combinations(columns: ArmColumns, frame: str, load: Estimate) -> tuple[str, ...]:
    """Return what torques show of a load with 95 % intervals: "hz − 0.4 m = 0.72 ± 0.01"."""
    base = base_columns(payload_columns(columns.base, columns.robot.frame(frame)))
    D = base.dependence
    values, variances = D @ load.parameters.phi, ((D @ load.covariance) * D).sum(axis=1)
    half_widths = HALF_WIDTH_SIGMA * np.sqrt(np.maximum(variances, 0.0))
    lines = zip(base.describe(PHI), values.tolist(), half_widths.tolist(), strict=True)
    return tuple(f"{name} = {value:.4g} ± {half:.2g}" for name, value, half in lines)


def _split_directions(columns: ArmColumns, frame: str) -> tuple[Array, Array]:
    """Return orthonormal rows that span what torques show of a load, and what they do not."""
    _, singular, Vt = np.linalg.svd(payload_columns(columns.base, columns.robot.frame(frame)))
    rank = int((singular > _RELATIVE_RANK * singular[0]).sum())
    return Vt[:rank], Vt[rank:]


def first_load_default(columns: ArmColumns) -> Phi:
    """Return a ball as heavy as the arm, about the frame: the scale before a load is known."""
    mass = max(float(columns.robot.phi[:, 0].sum()), 1.0)
    return _ball(mass, np.zeros(3), default_radius(mass))


def ball_of_load(columns: ArmColumns, frame: str, fit: LeastSquaresFit) -> Phi:
    """Return the ball that is like a load to the torques, near the frame in what they leave open.

    Its mass, centre and radius minimise the squared distance from what least squares shows of the
    load, in standard errors, with small weights on its distance from the frame and its density.
    Where the logs do not show what the axes would, it is one of water about the frame.

    `fit`: of all unknowns of the arm, the load first.
    """
    space, shown = fit.data.space, _split_directions(columns, frame)[0]
    default = space.default_parameters(0)
    least = 0.0 if default is None else _MIN_MASS_RATIO * float(default[0])
    mass = max(float(fit.x[0]), least)
    radius = default_radius(mass)
    if not space.unobservable_unknowns()[:4].any():
        return _ball(mass, np.zeros(3), radius)
    values, covariance = shown @ fit.x[:10], shown @ covariance_of(fit)[:10, :10] @ shown.T
    roots, axes = np.linalg.eigh(0.5 * (covariance + covariance.T))
    whitening = axes.T / np.sqrt(np.maximum(roots, _RELATIVE_RANK * roots[-1]))[:, None]

    def ball(u: Array) -> Phi:
        return _ball(float(np.exp(u[0])), u[1:4], float(np.exp(u[4])))

    def residual(u: Array) -> Array:
        of_water = np.log(default_radius(float(np.exp(u[0]))))
        return np.concatenate(
            (
                whitening @ (shown @ ball(u) - values),
                _WEIGHT_OF_FRAME * u[1:4] / np.exp(u[4]),
                [_WEIGHT_OF_WATER * (u[4] - of_water)],
            )
        )

    from scipy.optimize import least_squares  # slow to import, and rarely needed

    start = np.array([np.log(mass), 0.0, 0.0, 0.0, np.log(radius)])
    return ball(least_squares(residual, start, x_scale="jac").x)


def _ball(mass: float, com: Array, radius: float) -> Phi:
    inertia = 0.4 * mass * radius**2 * np.eye(3)
    return InertialParameters.from_com(mass=mass, com=com, inertia_about_com=inertia).phi
