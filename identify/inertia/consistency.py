"""Physical consistency: mass above zero and a positive semidefinite pseudo-inertia, at every scale.

One limit decides what is zero, here and in `check_consistency`: a second moment about the centre of
mass whose magnitude is within the limit of `central_spectrum` is zero, one below minus the limit is
impossible.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from identify.arrays import Array, Flags, Mat33, Phi, PhiLike, Vec3, as_array, as_real
from identify.inertia.matrices import (
    pseudo_inertia,
    rounding_error_about_com,
    second_moment_about_com,
)
from identify.significance import IMPOSSIBLE_SIGMA

ROUNDING_TOLERANCE = 1e-12
"""Negative second moment, relative to the trace of the second moments, that counts as rounding."""

_OVERFLOW_LENGTH = 1e140
"""Length whose squares, or sums of squares, would overflow [m]."""

_OVERFLOW_MOMENT = 1e300
"""Second moment whose sums would overflow [kg m²]."""

MAX_DENSITY = 2.5e4
"""Largest mean density of any body [kg/m³]; osmium has 22 600."""

MAX_PAYLOAD_MASS = 2300.0
"""Largest plausible mass of a payload of an arm [kg]."""

MAX_COM_DISTANCE = 2.0
"""Largest plausible distance of a payload's centre of mass from the sensor [m]."""

_TRACE_COEFFICIENTS = np.array([np.trace(pseudo_inertia(unit)[:3, :3]) for unit in np.eye(10)])
"""Coefficients of the ten parameters in the trace of the second moment, shape (10,)."""


class BodyKind(StrEnum):
    """Kind of a body by the rank of its second moment about the centre of mass.

    The rank is the number of directions whose second moment is above the limit of
    `central_spectrum`; one below minus the limit makes the body impossible.
    """

    SOLID = "solid"
    """Rank three: the pseudo-inertia is positive definite."""
    PLATE = "plate"
    """Rank two: all mass lies in a plane, the largest principal moment is the sum of the others."""
    ROD = "rod"
    """Rank one: all mass lies on a line, one principal moment is zero and the others are equal."""
    POINT = "point"
    """Rank zero: no inertia about the centre of mass."""
    MASSLESS = "massless"
    """All ten numbers are zero: a frame, not a body."""
    IMPOSSIBLE = "impossible"
    """No mass density has these parameters."""


KIND_BY_RANK = (BodyKind.POINT, BodyKind.ROD, BodyKind.PLATE, BodyKind.SOLID)
"""Kind of a consistent body for each rank of its second moment about the centre of mass."""


def central_spectrum(phi: PhiLike, tolerance: float = ROUNDING_TOLERANCE) -> tuple[Array, Array]:
    """Return eigenvalues of the second moment about the centre of mass, and their zero limit.

    The limit is the larger of `tolerance` times the sum of their magnitudes and the rounding error
    of S_c computed from parameters about Bo (`rounding_error_about_com`).

    `phi`: shape (..., 10); `tolerance`: relative to the sum of the magnitudes of the eigenvalues.
    Shapes (..., 3), −inf where m ≤ 0, and (...).
    Raises `ModelError`: a number is not finite.
    """
    phi = as_array(phi, "phi", (..., 10))
    with np.errstate(over="ignore", invalid="ignore"):
        safe = np.where(phi[..., :1] > 0.0, phi, np.eye(10)[0])
        Sc = second_moment_about_com(safe)
        floor = rounding_error_about_com(safe)
        com = safe[..., 1:4] / safe[..., :1]
    possible = (phi[..., 0] > 0.0) & has_finite_squares(com, Sc)
    values = np.linalg.eigvalsh(np.where(possible[..., None, None], Sc, 0.0))
    limit = np.maximum(tolerance * np.abs(values).sum(axis=-1), floor)
    return np.where(possible[..., None], values, -np.inf), np.where(possible, limit, 0.0)


def is_consistent(phi: PhiLike, tolerance: float = ROUNDING_TOLERANCE) -> Flags:
    """Test bodies for physical consistency: m > 0, and no negative second moment beyond rounding.

    Exact plates, rods and points are consistent, at any distance from Bo and however their numbers
    were rounded; ten zeros are not. `check_consistency` gives the reasons for a single body.

    Args:
        phi: shape (..., 10).
        tolerance: as in `central_spectrum`.

    Returns:
        Booleans, shape (...).

    Raises:
        ModelError: a number is not finite.
    """
    values, limit = central_spectrum(phi, tolerance)
    return values[..., 0] >= -limit


def smallest_pseudo_eigenvalue(phi: PhiLike) -> Array:
    """Return the smallest eigenvalue of the central pseudo-inertia, scaled to unit mass and size.

    It is that of Pi_n = T Pi Tᵀ / m, with T the shift to the centre of mass and a change of the
    unit of length to √(tr|S_c| / m): 1 and the second moments S_c as fractions of their sum. So a
    screw of a gram and a satellite of a hundred tonnes have the same scale. It measures the
    distance to the boundary of the consistent set, where rounding has either sign: use
    `is_consistent` for the decision.

    Args:
        phi: shape (..., 10).

    Returns:
        1/3 for a ball, zero for a plate, rod or point, −inf where m ≤ 0; shape (...).

    Raises:
        ModelError: a number is not finite.
    """
    values, _ = central_spectrum(phi)
    possible = values[..., 0] > -np.inf
    spread = np.where(possible, np.abs(values).sum(axis=-1), 1.0)
    smallest = values[..., 0] / np.where(spread > 0.0, spread, 1.0)
    return np.where(possible, smallest, -np.inf)


def body_kinds(phi: PhiLike) -> NDArray[np.str_]:
    """Return the `BodyKind` of each body of a batch; reasons are in `check_consistency`.

    Args:
        phi: shape (..., 10).

    Returns:
        Strings, equal to the members of `BodyKind`, shape (...).

    Raises:
        ModelError: a number is not finite.
    """
    phi = as_real(phi, "phi")
    values, limit = central_spectrum(phi)
    kinds = np.array(KIND_BY_RANK, dtype=np.str_)[np.sum(values > limit[..., None], axis=-1)]
    kinds = np.where(values[..., 0] < -limit, np.str_(BodyKind.IMPOSSIBLE), kinds)
    return np.where((phi == 0.0).all(axis=-1), np.str_(BodyKind.MASSLESS), kinds)


def has_finite_squares(com: Vec3, Sc: Mat33) -> Flags:
    """Return whether squares of a centre of mass and of its second moments do not overflow.

    They do for a mass of 1e-310 kg with an ordinary first moment, which is not a valid body.
    """
    near = np.all(np.abs(com) < _OVERFLOW_LENGTH, axis=-1)
    return np.asarray(near & np.all(np.abs(Sc) < _OVERFLOW_MOMENT, axis=(-1, -2)))


def format_body_index(index: Sequence[int] | Array) -> str:
    """Return a label for a body of a batch from its index, one number per dimension."""
    where = [int(i) for i in index]
    if len(where) == 1:
        return f"body {where[0]}"
    return f"body {tuple(where)}" if where else "the body"


def density_lower_bound(phi: Phi, covariance: Array, attenuation: float = 0.0) -> float:
    """Return a body's mean density with a second moment larger by 3 standard errors [kg/m³].

    The `attenuation` is the share by which noise of the motion may have made the inertia too small,
    below one.
    """
    error = float(np.sqrt(max(_TRACE_COEFFICIENTS @ covariance @ _TRACE_COEFFICIENTS, 0.0)))
    if attenuation > 0.0 and phi[0] > 0.0:  # the true trace is at least that of a point mass
        trace = max(float(_TRACE_COEFFICIENTS @ phi), float(phi[1:4] @ phi[1:4] / phi[0]))
        error += attenuation / (1.0 - attenuation) * trace / IMPOSSIBLE_SIGMA
    return mean_density(phi, IMPOSSIBLE_SIGMA * error)


def within_arm_capacity(phi: Phi, covariance: Array, sensor: Vec3) -> bool:
    """Return whether a payload's mass, and its distance from the force sensor, suit a robot arm.

    Both may exceed their limits by their standard errors times `IMPOSSIBLE_SIGMA`.
    """
    mass = phi[0] - IMPOSSIBLE_SIGMA * np.sqrt(max(covariance[0, 0], 0.0))
    return bool(
        mass <= MAX_PAYLOAD_MASS and distance_of_com(phi, covariance, sensor)[0] <= MAX_COM_DISTANCE
    )


def distance_of_com(phi: Phi, covariance: Array, sensor: Vec3) -> tuple[float, float]:
    """Return the minimum and maximum distance of a centre of mass from the sensor [m].

    They are `IMPOSSIBLE_SIGMA` standard errors below and above the estimate.
    """
    com = phi[1:4] / phi[0]
    J = np.hstack((-com[:, None], np.eye(3))) / phi[0]
    com_error = np.sqrt(max(np.trace(J @ covariance[:4, :4] @ J.T), 0.0))  # zero if it was given
    distance, error = np.linalg.norm(com - sensor), IMPOSSIBLE_SIGMA * com_error
    return float(distance - error), float(distance + error)


def mean_density(phi: Phi, added_trace: float = 0.0) -> float:
    """Return the density of a uniform ball with a body's mass and second moment [kg/m³].

    `added_trace`: added to the trace of its second moment about the centre of mass [kg m²].
    Returns NaN if the mass or the second moment is not positive.
    """
    if not phi[0] > 0.0:
        return np.nan
    central_trace = float(_TRACE_COEFFICIENTS @ phi - phi[1:4] @ phi[1:4] / phi[0]) + added_trace
    if not central_trace > 0.0:
        return np.nan
    return float(phi[0] / (4.0 / 3.0 * np.pi * (5.0 / 3.0 * central_trace / phi[0]) ** 1.5))
