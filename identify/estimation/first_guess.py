"""Where least squares starts from: mass and first moment, or a reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Phi
from identify.errors import ProblemError
from identify.estimation.errors import NegativeMass, TooLittleMotion
from identify.inertia import PHI
from identify.regressors import Bias, WrenchStatistics
from identify.regressors.newton_euler import regressor_from_features

_SURELY = 3.0
"""Standard errors by which a mass has to be negative for a sign to be wrong."""

_NOTHING = 1e-9
"""Excitation below this share of the whole signal is rounding."""


@dataclass(frozen=True, slots=True)
class FitData:
    """What stays the same from round to round of re-weighting.

    Attributes:
        statistics: of the logs.
        feature_noise: number of rows times noise variance, for each of the 12 features, shape
            (12,).
        bias: whose sensor bias is fitted.
        mass: known mass [kg], if any.
        wrench_scale: root mean square of the wrench, shape (6,).
    """

    statistics: WrenchStatistics
    feature_noise: Array
    bias: Bias
    mass: float | None
    wrench_scale: Array


def wrench_scale_of(statistics: WrenchStatistics) -> Array:
    """Root mean square of the measured force and torque, bias included, on six axes.

    Raises:
        ProblemError: force or torque is zero throughout.
    """
    power = (statistics.first_rows[:, 13:] ** 2).sum(axis=0)
    power = (power + (statistics.centred[:, 12:] ** 2).sum(axis=0)) / statistics.samples.sum()
    scale = np.sqrt(np.repeat([power[:3].mean(), power[3:].mean()], 3))
    if not (scale > 0.0).all():
        dead = "torque" if scale[0] > 0.0 else "force"
        raise ProblemError(
            f"the measured {dead} is zero throughout: check its columns in the schema"
        )
    return scale


def first_guess(data: FitData) -> Phi:
    """Mass and first moment by least squares of least norm, for the scaling to start from."""
    weight = np.diag(data.wrench_scale**-2)
    problem = data.statistics.problem(weight, data.bias)
    norms = np.linalg.norm(problem.A, axis=0)
    means = regressor_from_features(data.statistics.first_rows[:, 1:13])
    whole = np.linalg.norm(means / data.wrench_scale[:, None], axis=(0, 1))
    told = norms > _NOTHING * whole
    untold = [name for name, found in zip(PHI[:4], told, strict=False) if not found]
    if untold and data.mass is None:
        raise too_little(untold, data.bias)
    norms = np.where(told, norms, np.inf)
    columns = problem.A / norms
    inverse = np.linalg.pinv(columns, rcond=1e-9)
    phi = (inverse @ problem.b) / norms
    scatter = problem.residual_norm(phi) / np.sqrt(problem.degrees_of_freedom)
    error = scatter * float(np.linalg.norm(inverse[0])) / norms[0]
    if data.mass is None:
        return require_positive_mass(phi, error, data.bias)
    if phi[0] < -_SURELY * error:
        raise NegativeMass(float(phi[0]))
    columns[:, 0] = 0.0
    target = problem.b - problem.A[:, 0] * data.mass
    phi = np.linalg.lstsq(columns, target, rcond=1e-9)[0] / norms
    phi[0] = data.mass
    return phi


def require_positive_mass(phi: Phi, error: float, bias: Bias) -> Phi:
    """The same phi, if its mass is positive.

    Raises:
        NegativeMass: it is negative by several standard errors.
        TooLittleMotion: it is negative by chance.
    """
    if phi[0] > 0.0:
        return phi
    if phi[0] < -_SURELY * error:
        raise NegativeMass(float(phi[0]))
    raise too_little(["m"], bias)


def too_little(untold: list[str], bias: Bias) -> TooLittleMotion:
    """The error that says which of m, hx, hy, hz the data do not tell, and what would help."""
    advice = "it needs more motion: poses that differ by turns about two axes or more at the least"
    if bias != "none":
        advice += "; or, where the sensor's bias is known to be zero, fit without bias (--no-bias)"
    return TooLittleMotion(tuple(untold), advice)
