"""Principal moments and ω along principal axes, in doubles or, if needed, to 40 digits.

The time that ω stays near the middle axis depends on the difference of two almost equal products,
which is lost in double precision near the separatrix. The same is true of the smallest moment of a
rod and of the difference of two nearly equal moments. Only for such bodies these numbers are
computed in `Decimal`, in arrays of objects, and rounded to doubles once.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Mat33, Vec3
from identify.spatial import quaternion_from_rotation

_MAX_RELATIVE_CANCELLATION = 0.01
"""Relative size of a difference or moment below which it is computed with more digits."""

_DECIMAL_DIGITS = 50
"""Number of digits of computations in decimal numbers."""

_NEGLIGIBLE_SPIN = 1e-40
"""Relative size below which components of ω and differences of moments count as zero."""

_JACOBI_SWEEPS = 3
"""Number of Jacobi sweeps: each squares the products of inertia, which start at 1e-16."""


class PrincipalSpin(NamedTuple):
    """Moments of inertia and angular velocities in principal axes, one body per column.

    Attributes:
        moments: ascending, shape (3, n).
        gaps: I_mid − I_min and I_max − I_mid, shape (2, n).
        spin: ω along the axes, shape (3, n).
        terms: the two terms of 2 K I_mid − L², of the smallest and the largest moment, (2, n).
        excess: 2 K I_mid − L², shape (n,).
    """

    moments: Array
    gaps: Array
    spin: Array
    terms: Array
    excess: Array


def principal_spin(inertia: Mat33, angular_velocity: Vec3) -> tuple[PrincipalSpin, Mat33]:
    """Compute principal moments, components of ω, and principal axes R_BP (n, 3, 3).

    Inertias have shape (n, 3, 3), angular velocities (n, 3). The axes may be left-handed.
    """
    mean = np.trace(inertia, axis1=1, axis2=2) / 3.0
    # The motion of ω depends on the differences of the moments, also for a near sphere.
    deviations, axes = np.linalg.eigh(inertia - mean[:, None, None] * np.eye(3))
    result = _along_axes(
        (deviations + mean[:, None]).T,
        np.diff(deviations.T, axis=0),
        np.einsum("nij,ni->jn", axes, angular_velocity),
    )
    I = result.moments
    smallest = np.minimum(I[0], result.gaps.min(axis=0)) / I[2]
    nearest = np.abs(result.excess) / np.sum((I * result.spin) ** 2, axis=0).clip(1e-300)
    delicate = np.minimum(smallest, nearest) < _MAX_RELATIVE_CANCELLATION
    if delicate.any():
        with localcontext(prec=_DECIMAL_DIGITS):
            A, R = _diagonalised(_decimals(inertia[delicate]), axes[delicate])
            moments = np.diagonal(A, axis1=1, axis2=2).T
            spin = (R.swapaxes(1, 2) @ _decimals(angular_velocity[delicate])[..., None])[..., 0].T
            order = np.argsort(moments, axis=0, kind="stable")
            moments, spin = (np.take_along_axis(rows, order, 0) for rows in (moments, spin))
            exact = _along_axes(moments, np.diff(moments, axis=0), spin)
        for values, refined in zip(result, exact, strict=True):
            values[..., delicate] = refined
        axes[delicate] = np.take_along_axis(R, order.T[:, None], 2)
    return result, axes


def _along_axes(moments: np.ndarray, gaps: np.ndarray, spin: np.ndarray) -> PrincipalSpin:
    """Create a `PrincipalSpin` from doubles or decimal numbers; negligible values become zero."""
    small = type(moments.flat[0])(_NEGLIGIBLE_SPIN) if moments.size else _NEGLIGIBLE_SPIN
    gaps = np.where(gaps > small * moments[2], gaps, 0)
    spin = np.where(abs(spin) > small * abs(spin).max(axis=0), spin, 0)
    terms = moments[::2] * gaps * spin[::2] * spin[::2]
    return PrincipalSpin(moments, gaps, spin, terms, terms[0] - terms[1])


def _diagonalised(inertia: np.ndarray, axes: Mat33) -> tuple[np.ndarray, np.ndarray]:
    """Diagonalise inertias in decimal numbers, starting at axes in doubles; return RᵀIR and R.

    Jacobi's method, which needs no special case for repeated moments. The tangent of half of each
    angle is a double; its cosine and sine form an exact rotation.
    """
    axes = axes * np.sign(np.linalg.det(axes))[:, None, None]
    R = _rotations_from_decimals(_decimals(quaternion_from_rotation(axes).T))
    for _ in range(_JACOBI_SWEEPS):
        for p, q in ((1, 2), (0, 2), (0, 1)):
            A = R.swapaxes(1, 2) @ inertia @ R
            gap, twice = A[:, q, q] - A[:, p, p], 2 * A[:, p, q]
            half = _decimals(_half_tangent(gap.astype(float), twice.astype(float)))[:, None]
            scale = 1 / (1 + half * half)
            cosine, sine = 2 * scale - 1, 2 * half * scale
            first, second = R[:, :, p].copy(), R[:, :, q].copy()
            R[:, :, p], R[:, :, q] = cosine * first - sine * second, sine * first + cosine * second
    return R.swapaxes(1, 2) @ inertia @ R, R


def _half_tangent(difference: Array, twice_product: Array) -> Array:
    """Return tan(½ angle) of the smaller Jacobi rotation, from I_qq − I_pp and 2 I_pq."""
    below = difference + np.copysign(np.hypot(difference, twice_product), difference)
    tangent = twice_product / np.where(below == 0.0, 1.0, below)
    return tangent / (1.0 + np.hypot(1.0, tangent))


def _rotations_from_decimals(q: np.ndarray) -> np.ndarray:
    """Compute rotation matrices (n, 3, 3) of decimal quaternions (4, n) of any norm."""
    x, y, z, w = q
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), w * w - x * x + y * y - z * z, 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), w * w - x * x - y * y + z * z],
    ]
    return np.moveaxis(np.array(rows) / (q * q).sum(axis=0), -1, 0)


def _decimals(values: Array) -> np.ndarray:
    """Convert doubles to decimal numbers, exactly."""
    exact = [Decimal(value) for value in values.ravel().tolist()]
    return np.array(exact, dtype=object).reshape(values.shape)
