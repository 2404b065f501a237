"""Quantities of an iteration of IRLS (iteratively re-weighted least squares).

Leverages of the groups, default bodies, and the characteristic lengths that unknowns are scaled by;
the iteration itself is `weighted_least_squares`.
"""

from __future__ import annotations

from math import hypot, sqrt

import numpy as np

from identify.arrays import Array
from identify.estimation.fit_data import FitData
from identify.estimation.identifiability import free_directions
from identify.estimation.scaling import BodyScaling, Scaling
from identify.inertia import inertia_about_com
from identify.inertia.parameters import default_radius
from identify.regressors import ParameterSpace
from identify.significance import BODY_SIZE_SIGMA

NOISE_RAMP_ITERATIONS = 4
"""Number of iterations over which the correction for noise in the motion is phased in; applied at
once, it may diverge."""

CONVERGENCE_TOLERANCE = 1e-5
"""Largest distance of the result from the fixed point, in standard errors."""

RELATIVE_CONVERGENCE_TOLERANCE = 1e-12
"""Largest distance of the result from the fixed point, relative to the norm of the data; the larger
of both tolerances applies."""

_MAX_COM_DISTANCE = 10.0
"""Largest distance of the centre of mass from Bo, in body sizes, that counts in the typical size of
the first moment."""

_MOMENT_OF_INERTIA_INDICES = np.array([4, 7, 9])
"""Indices of Ixx, Iyy and Izz among the ten parameters."""


def initial_leverages(data: FitData) -> Array:
    """Return the initial leverage of each group of rows, equal for all samples, shape (G,)."""
    share = len(data.space) / data.system.equations
    return data.offset_leverage + share * data.system.padded.effective_samples


def leverages(data: FitData, inverse: Array, moments: Array) -> Array:
    """Compute the leverage of each group of rows: effective samples that the fit uses, (G,).

    `inverse`: inverse information B⁻¹, shape (p, p); `moments`: moments of the rows [A | b] of each
    group, shape (G, p + 1, p + 1).
    """
    p = len(inverse)
    by_unknowns = (moments[:, :p, :p] * inverse).sum(axis=(1, 2))
    return data.offset_leverage + by_unknowns / data.system.padded.channels.sum(axis=1)


def change_of_variables(columns: Array, reference: Array) -> Array:
    """Return the matrix that changes rows [A | b] from x to y, with x = reference + columns · y."""
    change = np.zeros((len(columns) + 1, columns.shape[1] + 1))
    change[:-1, :-1], change[:-1, -1], change[-1, -1] = columns, -reference, 1.0
    return change


def free_basis(data: FitData, scaling: Scaling) -> Array:
    """Return a basis of the scaled unknowns' directions that no equality fixes, (p, p − k)."""
    if not len(data.equality_values):
        return np.eye(len(data.space))
    return free_directions(data.equalities @ scaling.to_x * parameter_scales(scaling))


def default_bodies(data: FitData, x: Array, scaling: Scaling) -> Array:
    """Return scaled unknowns in which every body is its default, or a ball without one.

    They are those of the space, for other bodies balls with the masses and centres of mass of x.
    Scalars are those of x. If equalities are given, the nearest point that meets them is returned.
    """
    prior = np.zeros(len(x))
    prior[data.space.scalar_slice] = x[data.space.scalar_slice] / scaling.units
    for number, body in enumerate(scaling.bodies):
        block, default = data.space.body_slice(number), data.space.default_parameters(number)
        if default is not None:
            prior[block] = body.to_theta @ default
            continue
        # The default ball: its moment of inertia is two thirds of its mean square radius.
        radius = default_length(body.mass) / body.length
        prior[block.start] = 1.0
        prior[block.start + _MOMENT_OF_INERTIA_INDICES] = 2.0 / 3.0 * radius**2
    if len(data.equality_values):  # x meets the equalities; its default bodies need not
        scaled = data.equalities @ scaling.to_x
        missing = data.equality_values - scaled @ prior
        if np.abs(missing).max() > 1e-12 * np.abs(data.equality_values).max():
            return prior + np.linalg.lstsq(scaled, missing, rcond=None)[0]
    return prior


def has_positive_masses(space: ParameterSpace, x: Array) -> bool:
    """Return whether the masses of all bodies without a default are positive."""
    masses = x[: 10 * len(space.bodies) : 10].tolist()
    return all(mass > 0.0 for k, mass in enumerate(masses) if space.bodies[k] not in space.defaults)


def default_lengths(space: ParameterSpace, x: Array) -> list[float]:
    """Return the length scale of each body's default [m]; without one, of a ball of its mass."""
    lengths = []
    for number in range(len(space.bodies)):
        default = space.default_parameters(number)
        lengths.append(
            default_length(float(x[10 * number]))
            if default is None
            else BodyScaling.of_body(default).length
        )
    return lengths


def initial_lengths(space: ParameterSpace, x: Array, errors: Array) -> list[float]:
    """Return the length scale of each body without default by its inertia, as far as it is known.

    `x`: initial unknowns, shape (p,); `errors`: their standard errors, shape (p,).
    """
    lengths = default_lengths(space, x)
    for number, name in enumerate(space.bodies):
        phi, trace_errors = (
            x[space.body_slice(number)],
            errors[10 * number + _MOMENT_OF_INERTIA_INDICES],
        )
        if name not in space.defaults and phi[0] > 0.0:
            trace = float(np.trace(inertia_about_com(phi))) / phi[0]
            error = float(np.linalg.norm(trace_errors)) / phi[0]
            lengths[number] = characteristic_length(trace, error, 1.0, lengths[number])
    return lengths


def default_length(mass: float) -> float:
    """Return the root mean square radius of the default ball of a mass [m]."""
    return sqrt(0.6) * default_radius(mass)


def characteristic_length(trace: float, error: float, length: float, default: float) -> float:
    """Return a body's length scale [m], weighted between its inertia and the default's size.

    The blend is geometric; its weight is the significance of the trace of the inertia.

    `trace`: trace of the scaled inertia about the centre of mass; `error`: standard error of the
    trace; `length`: unit of length of the scaled inertia [m]; `default`: size of the default ball
    [m].
    """
    least, most = (times * error for times in BODY_SIZE_SIGMA)
    if trace <= least:
        return default
    weight = 1.0 if trace >= most else (trace - least) / (most - least)
    return (length * sqrt(0.5 * trace)) ** weight * default ** (1.0 - weight)


def parameter_scales(scaling: Scaling) -> Array:
    """Return the typical size of each scaled unknown: one, except for the first moment.

    The first moment is about Bo; its scale includes the distance of the body from Bo.
    """
    units = np.ones(len(scaling.space))
    for number, body in enumerate(scaling.bodies):
        distance = min(hypot(*body.com.tolist()) / body.length, _MAX_COM_DISTANCE)
        units[10 * number + 1 : 10 * number + 4] = hypot(1.0, distance)
    return units
