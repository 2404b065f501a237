"""Principal moments and axes to twice the precision of the tensor's entries.

Near the separatrix, and after many turns, the rounding of an ordinary eigenvalue decomposition
would be the largest error of all. How fast ω moves in the body depends on the differences of the
moments alone. Of a body that is nearly a sphere these have few digits of the moments left, whatever
the precision, so a multiple of the identity is taken off before anything is computed.
Components come first here: shapes (3, n) and (3, 3, n).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from identify.arrays import Phi
from identify.simulation.free_rotation.double_double import (
    DoubleDouble,
    double_double,
    rearranged,
    sqrt,
    total,
    where,
)

_PAIRS = ((1, 2), (0, 2), (0, 1))
"""Planes of rotation, in the order of the axis that each leaves alone."""
_MOST_SWEEPS = 8
_CONVERGED = 1e-32
"""Products of inertia, over the largest deviation of a moment, that make no difference."""


def central_inertia(phi: Phi) -> DoubleDouble:
    """Inertia about the centre of mass, I_c = I − (|h|² 1 − h hᵀ) / m, shape (3, 3, n).

    Args:
        phi: ten parameters, shape (n, 10), m > 0.
    """
    entries = np.moveaxis(phi, -1, 0)
    h = double_double(entries[1:4])
    about_origin = double_double(entries[np.array([[4, 5, 6], [5, 7, 8], [6, 8, 9]])])
    outer = h[:, None] * h[None, :]
    square = total(h * h)
    return about_origin - (square * np.eye(3)[:, :, None] - outer) / entries[0]


class PrincipalMoments(NamedTuple):
    """A tensor in its own axes, I = V diag(moments) Vᵀ.

    Attributes:
        moments: ascending, shape (3, n).
        deviations: the moments less one number, the same for all three: what to form differences
            of, shape (3, n).
        axes: V, as columns in the order of the moments; may be a reflection, shape (3, 3, n).
    """

    moments: DoubleDouble
    deviations: DoubleDouble
    axes: DoubleDouble


def principal_moments(inertia: DoubleDouble) -> PrincipalMoments:
    """Moments in ascending order and the axes that belong to them.

    Eigenvectors in double precision are made orthogonal, then turned by Jacobi rotations until
    the products of inertia vanish; repeated moments need no case of their own.

    Args:
        inertia: symmetric tensors, shape (3, 3, n).
    """
    identity = np.eye(3)[:, :, None]
    middle = (inertia.high[0, 0] + inertia.high[1, 1] + inertia.high[2, 2]) / 3.0
    deviator = inertia - middle * identity
    ordinary = np.linalg.eigh(np.moveaxis(deviator.value, -1, 0))[1]
    V = double_double(np.moveaxis(ordinary, 0, -1))
    V = 0.5 * _matmul(V, 3.0 * identity - _matmul(_transposed(V), V))
    A = _matmul(_transposed(V), _matmul(deviator, V))
    moments, products = [A[k, k] for k in range(3)], [A[p, q] for p, q in _PAIRS]
    negligible = _CONVERGED * np.abs(A.high).max(axis=(0, 1))
    for _ in range(_MOST_SWEEPS):
        if np.all(np.abs([product.high for product in products]) <= negligible):
            break
        for r, (p, q) in enumerate(_PAIRS):
            V = _rotate(moments, products, V, (p, q, r))
    stacked = rearranged(lambda *rows: np.stack(rows), *moments)
    order = np.lexsort((stacked.low, stacked.high), axis=0)
    deviations, axes = take(stacked, order), take_columns(V, order)
    return PrincipalMoments(deviations + middle, deviations, axes)


def _rotate(
    moments: list[DoubleDouble],
    products: list[DoubleDouble],
    axes: DoubleDouble,
    plane: tuple[int, int, int],
) -> DoubleDouble:
    """Turn in the plane of axes p and q until I_pq vanishes; r is the other axis.

    The moments I₁₁, I₂₂, I₃₃ and the products I₂₃, I₁₃, I₁₂, each with the number of the axis that
    it does not name, are changed; the axes, as columns (3, 3, n), are returned as they are then.
    """
    p, q, r = plane
    t = _tangent(moments[q] - moments[p], 2.0 * products[r])
    c = 1.0 / sqrt(1.0 + t * t)
    s = t * c
    shift = t * products[r]
    moments[p], moments[q] = moments[p] - shift, moments[q] + shift
    # A column of axes, and under it the product of r and that axis: it has the number of the other.
    column_p, column_q = (
        rearranged(lambda rows, row: np.concatenate((rows, row[None])), axes[:, k], products[other])
        for k, other in ((p, q), (q, p))
    )
    turned_p, turned_q = c * column_p - s * column_q, s * column_p + c * column_q
    products[q], products[p], products[r] = turned_p[3], turned_q[3], 0.0 * shift
    columns = {p: turned_p[:3], q: turned_q[:3], r: axes[:, r]}
    return rearranged(lambda *each: np.stack(each, axis=1), *(columns[k] for k in range(3)))


def _tangent(gap: DoubleDouble, twice: DoubleDouble) -> DoubleDouble:
    """Tangent of the smaller angle of the Jacobi rotation: t² + t (I_qq − I_pp)/I_pq = 1."""
    length = sqrt(gap * gap + twice * twice)
    below = gap + where(gap.high < 0.0, -length, length)
    needed = twice.high != 0.0
    return where(needed, twice, 0.0) / where(needed, below, 1.0)


def take(vectors: DoubleDouble, order: np.ndarray) -> DoubleDouble:
    """Components (3, n) in the order of each body, (3, n)."""
    return rearranged(lambda part: np.take_along_axis(part, order, axis=0), vectors)


def take_columns(matrices: DoubleDouble, order: np.ndarray) -> DoubleDouble:
    """Columns of matrices (3, 3, n) in the order of each body, (3, n)."""
    return rearranged(lambda part: np.take_along_axis(part, order[None], axis=1), matrices)


def _matmul(A: DoubleDouble, B: DoubleDouble) -> DoubleDouble:
    return total(A[:, :, None] * B[None], axis=1)


def _transposed(A: DoubleDouble) -> DoubleDouble:
    return rearranged(lambda part: part.swapaxes(0, 1), A)
