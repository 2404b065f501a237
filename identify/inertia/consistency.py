"""Full physical consistency: m > 0 and Pi ⪰ 0, judged about the centre of mass at every scale.

One limit decides what is zero, here and in `check`: a second moment about the centre of mass within
the limit of `central_spectrum` of zero is zero, below minus that it is impossible.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from identify.arrays import Array, Flags, Mat33, Phi, PhiLike, Vec3, as_array, as_real
from identify.inertia.matrices import pseudo_inertia, rounding_about_com, second_moment_about_com
from identify.significance import IMPOSSIBLE_SIGMA

ROUNDING = 1e-12
"""Violations below this, relative to the body's own spread, are rounding of the numbers."""

_OVERFLOWING_LENGTH, _OVERFLOWING_INERTIA = 1e140, 1e300
"""Sizes [m, kg m²] whose squares and sums would overflow."""

DENSEST = 2.5e4
"""Mean density that no body has [kg/m³]; of osmium it is 22 600."""

HEAVIEST_BODY, FARTHEST_COM = 2300.0, 2.0
"""Mass [kg], and distance of a centre of mass from the sensor [m], that no arm holds more of."""

_OF_TRACE = np.array([np.trace(pseudo_inertia(unit)[:3, :3]) for unit in np.eye(10)])
"""Trace of the second moment by the ten parameters."""


class BodyKind(StrEnum):
    """By the rank of the second moment about the centre of mass, in how many directions mass lies.

    A direction counts where its second moment is above the limit of `central_spectrum`, and is
    impossible where it is below minus that.
    """

    SOLID = "solid"
    """Three: Pi is positive definite."""
    PLATE = "plate"
    """Two: all mass lies in a plane, the largest principal moment is the sum of the others."""
    ROD = "rod"
    """One: all mass lies on a line, one principal moment is zero and the others are equal."""
    POINT = "point"
    """None: no inertia about the centre of mass."""
    MASSLESS = "massless"
    """All ten numbers are zero: a frame, not a body."""
    IMPOSSIBLE = "impossible"
    """No mass density makes these numbers."""


KIND_BY_RANK = (BodyKind.POINT, BodyKind.ROD, BodyKind.PLATE, BodyKind.SOLID)
"""By the number of directions that mass lies in."""


def central_spectrum(phi: PhiLike, tolerance: float = ROUNDING) -> tuple[Array, Array]:
    """Eigenvalues of S_c, ascending, and the limit within which of zero they are zero [kg m²].

    The limit is the larger of `tolerance` times the sum of their magnitudes and what double
    precision leaves of S_c in numbers given about Bo (`rounding_about_com`).

    Args:
        phi: shape (..., 10).
        tolerance: relative to the body's own spread.

    Returns:
        Shapes (..., 3), −inf where m ≤ 0, and (...).

    Raises:
        ModelError: a number is not finite.
    """
    phi = as_array(phi, "phi", (..., 10))
    with np.errstate(over="ignore", invalid="ignore"):
        safe = np.where(phi[..., :1] > 0.0, phi, np.eye(10)[0])
        Sc = second_moment_about_com(safe)
        floor = rounding_about_com(safe)
        com = safe[..., 1:4] / safe[..., :1]
    possible = (phi[..., 0] > 0.0) & within_reach(com, Sc)
    values = np.linalg.eigvalsh(np.where(possible[..., None, None], Sc, 0.0))
    limit = np.maximum(tolerance * np.abs(values).sum(axis=-1), floor)
    return np.where(possible[..., None], values, -np.inf), np.where(possible, limit, 0.0)


def is_consistent(phi: PhiLike, tolerance: float = ROUNDING) -> Flags:
    """Whether a density realises the body: m > 0 and no second moment below zero but by rounding.

    Exact plates, rods and points are consistent, at any distance from Bo and however their numbers
    were rounded; ten zeros are not, they are no body. `check` says of one body why not.

    Args:
        phi: shape (..., 10).
        tolerance: relative to the body's own spread, as in `central_spectrum`.

    Returns:
        Booleans, shape (...).

    Raises:
        ModelError: a number is not finite.
    """
    values, limit = central_spectrum(phi, tolerance)
    return values[..., 0] >= -limit


def smallest_pseudo_eigenvalue(phi: PhiLike) -> Array:
    """Smallest eigenvalue of Pi about the centre of mass, scaled to unit mass and spread.

    It is that of Pi_n = T Pi Tᵀ / m, with T the shift to the centre of mass and a change of the
    unit of length to √(tr|S_c| / m): 1 and the second moments S_c as shares of their sum. So a gram
    of screw and a hundred tonnes of satellite have the same scale. It measures how far a body is
    from the edge, and there rounding has either sign: `is_consistent` says whether it is a body.

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


def body_kinds(phi: PhiLike, tolerance: float = ROUNDING) -> NDArray[np.str_]:
    """The `BodyKind` of each of many bodies; `check` says of one body why.

    Args:
        phi: shape (..., 10).
        tolerance: relative to the body's own spread, as in `central_spectrum`.

    Returns:
        Strings, equal to the members of `BodyKind`, shape (...).

    Raises:
        ModelError: a number is not finite.
    """
    phi = as_real(phi, "phi")
    values, limit = central_spectrum(phi, tolerance)
    kinds = np.array(KIND_BY_RANK, dtype=np.str_)[np.sum(values > limit[..., None], axis=-1)]
    kinds = np.where(values[..., 0] < -limit, np.str_(BodyKind.IMPOSSIBLE), kinds)
    return np.where((phi == 0.0).all(axis=-1), np.str_(BodyKind.MASSLESS), kinds)


def within_reach(com: Vec3, Sc: Mat33) -> Flags:
    """Whether a centre of mass and the second moments about it are of a size to reckon with.

    A mass of 1e-310 kg with an ordinary first moment has neither, and is no body.
    """
    near = np.all(np.abs(com) < _OVERFLOWING_LENGTH, axis=-1)
    return np.asarray(near & np.all(np.abs(Sc) < _OVERFLOWING_INERTIA, axis=(-1, -2)))


def which_body(index: Sequence[int] | Array) -> str:
    """A body of a batch in words, by its index, one number a dimension."""
    where = [int(i) for i in index]
    if len(where) == 1:
        return f"body {where[0]}"
    return f"body {tuple(where)}" if where else "the body"


def least_density(phi: Phi, covariance: Array) -> float:
    """Mean density of a body whose second moment is three standard errors larger [kg/m³]."""
    error = float(np.sqrt(max(_OF_TRACE @ covariance @ _OF_TRACE, 0.0)))
    return mean_density(phi, IMPOSSIBLE_SIGMA * error)


def held_by_arm(phi: Phi, covariance: Array, sensor: Vec3) -> bool:
    """Whether an arm may hold a body of positive mass with its sensor there [m], errors allowed."""
    mass = phi[0] - IMPOSSIBLE_SIGMA * np.sqrt(max(covariance[0, 0], 0.0))
    return bool(
        mass <= HEAVIEST_BODY and distance_of_com(phi, covariance, sensor)[0] <= FARTHEST_COM
    )


def distance_of_com(phi: Phi, covariance: Array, sensor: Vec3) -> tuple[float, float]:
    """Least and largest distance of a centre of mass from the sensor, errors allowed [m]."""
    com = phi[1:4] / phi[0]
    J = np.hstack((-com[:, None], np.eye(3))) / phi[0]
    place_error = np.sqrt(max(np.trace(J @ covariance[:4, :4] @ J.T), 0.0))  # given: zero
    away, error = np.linalg.norm(com - sensor), IMPOSSIBLE_SIGMA * place_error
    return float(away - error), float(away + error)


def mean_density(phi: Phi, larger: float = 0.0) -> float:
    """Of an even ball with a body's mass and second moment about its centre of mass [kg/m³].

    Args:
        phi: the body.
        larger: what is added to the trace of that second moment [kg m²].

    Returns:
        NaN where mass or second moment is not positive.
    """
    if not phi[0] > 0.0:
        return np.nan
    central = float(_OF_TRACE @ phi - phi[1:4] @ phi[1:4] / phi[0]) + larger
    if not central > 0.0:
        return np.nan
    return float(phi[0] / (4.0 / 3.0 * np.pi * (5.0 / 3.0 * central / phi[0]) ** 1.5))
