"""Layer 2b, attitude: the ordered product of the turns, with a quaternion as two complex numbers.

A unit quaternion [x, y, z, w] is the pair α = w + iz, β = y − ix. The product of two of them,

    (α, β)(a, b) = (α a − β b*, α b + β a*)

is the row (α, β) times the matrix [[a, b], [−b*, a*]]: one product and one sum of arrays a step.
With y + ix in place of y − ix it would be another group's product, and every attitude wrong.
"""

from __future__ import annotations

from math import isqrt
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from identify.arrays import Array, Vec4
from identify.simulation.layered.workspace import MATRIX, QUATERNION, ROTATION, Workspace

Pair: TypeAlias = npt.NDArray[np.complexfloating]
"""α and β of quaternions, shape (2, ...)."""

_ENOUGH_BODIES = 64
"""From here on a step of all bodies costs more than the two calls that make it."""


class AttitudeLayer:
    """Attitudes at the nodes of a chunk.

    Attributes:
        pair: α and β of the attitude, shape (2, steps + 1, bodies); the first node is given.
    """

    def __init__(self, start: Vec4, steps: int) -> None:
        """Make the arrays; the first attitudes are unit quaternions, shape (bodies, 4)."""
        self.pair = np.empty((2, steps + 1, len(start)), dtype=np.complex128)
        self.pair[:, 0] = pair_of(start)

    def advance(self, vector: Array, scalar: Array, workspace: Workspace) -> Pair:
        """Fill the nodes after the first.

        Args:
            vector: of the turns of the steps, shape (3, steps, bodies).
            scalar: of the turns, shape (steps, bodies).
            workspace: for the work.

        Returns:
            The pairs at the nodes, shape (2, steps + 1, bodies).
        """
        steps, count = scalar.shape
        matrix = workspace.complex_rows(MATRIX, 4, steps).reshape(2, 2, steps, count)
        _matrix_into(matrix, vector, scalar)
        pair = self.pair[:, : steps + 1]
        whole, length = 0, isqrt(steps)
        if count < _ENOUGH_BODIES and length > 1:
            whole = steps - steps % length
            _by_segments(pair[:, : whole + 1], matrix[:, :, :whole], length)
        _one_by_one(pair[:, whole:], matrix[:, :, whole:])
        return pair

    def restart(self, steps: int) -> None:
        """Make the last node the first of the next chunk, with unit norm again."""
        last = self.pair[:, steps]
        square = (last * last.conj()).real.sum(axis=0)
        np.multiply(last, 1.0 / np.sqrt(square), out=self.pair[:, 0])


def pair_of(q: Vec4) -> Pair:
    """α and β of quaternions (bodies, 4), shape (2, bodies)."""
    return np.stack((q[:, 3] + 1j * q[:, 2], q[:, 1] - 1j * q[:, 0]))


def matrix_of(pair: Pair) -> Pair:
    """The matrices [[a, b], [−b*, a*]] of pairs (2, ...), shape (2, 2, ...)."""
    a, b = pair
    return np.stack((np.stack((a, b)), np.stack((-b.conj(), a.conj()))))


def quaternion_rows_into(out: Array, pair: Pair) -> Array:
    """x, y, z, w of pairs (2, ...), written into `out`, shape (4, ...)."""
    np.negative(pair[1].imag, out=out[0])
    out[1], out[2], out[3] = pair[1].real, pair[0].imag, pair[0].real
    return out


def attitude_rows(pair: Pair, workspace: Workspace) -> tuple[Array, Array]:
    """Attitudes as quaternions and rotation matrices.

    Args:
        pair: shape (2, nodes, bodies).
        workspace: where they are worked out and left.

    Returns:
        x, y, z, w, shape (4, nodes, bodies), and R, shape (3, 3, nodes, bodies).
    """
    nodes = pair.shape[1]
    q = quaternion_rows_into(workspace.rows(QUATERNION, 4, nodes), pair)
    R = workspace.rows(ROTATION, 9, nodes).reshape(3, 3, *pair.shape[1:])
    return q, rotation_rows_into(R, q, workspace.rows(0, 12, nodes))


def rotation_rows_into(R: Array, q: Array, scratch: Array) -> Array:
    """Rotation matrices of unit quaternions, component first.

    Args:
        R: written to, shape (3, 3, ...).
        q: x, y, z, w, shape (4, ...).
        scratch: shape (12, ...).
    """
    double, products = scratch[:3], scratch[3:]
    np.add(q[:3], q[:3], out=double)
    xx, xy, xz, yy, yz, zz, wx, wy, wz = products
    np.multiply(double[0], q[:3], out=products[:3])
    np.multiply(double[1], q[1:3], out=products[3:5])
    np.multiply(double[2], q[2], out=zz)
    np.multiply(double, q[3], out=products[6:])
    for i, (first, second) in enumerate(((yy, zz), (xx, zz), (xx, yy))):
        np.add(first, second, out=R[i, i])
        np.subtract(1.0, R[i, i], out=R[i, i])
    for i, j, symmetric, skew in ((1, 0, xy, wz), (0, 2, xz, wy), (2, 1, yz, wx)):
        np.add(symmetric, skew, out=R[i, j])
        np.subtract(symmetric, skew, out=R[j, i])
    return R


def _matrix_into(out: Pair, vector: Array, scalar: Array) -> Pair:
    """The matrices [[a, b], [−b*, a*]] of turns, shape (2, 2, ...)."""
    (a, b), (minus_b_conjugate, a_conjugate) = out
    a.real, a.imag = scalar, vector[2]
    b.real = vector[1]
    np.negative(vector[0], out=b.imag)
    np.conjugate(a, out=a_conjugate)
    np.negative(vector[1], out=minus_b_conjugate.real)
    minus_b_conjugate.imag = b.imag
    return out


def _by_segments(pair: Pair, matrix: Pair, length: int) -> None:
    """Products within segments, all segments at once; then what comes before each of them."""
    steps, count = matrix.shape[2:]
    segments = steps // length
    within = pair[:, 1:].reshape(2, segments, length, count)  # a view: an axis is split
    matrix = matrix.reshape(2, 2, segments, length, count)
    within[:, :, 0] = matrix[0, :, :, 0]
    by_step = np.moveaxis(within, 2, 1)
    _one_by_one(by_step, np.moveaxis(matrix, 3, 2)[:, :, 1:])
    before = np.empty((2, segments + 1, count), dtype=np.complex128)
    before[:, 0] = pair[:, 0]
    _one_by_one(before, matrix_of(within[:, :, -1]))
    products = np.multiply(before[:, None, :-1, None], matrix_of(within))
    np.add(products[0], products[1], out=within)


def _one_by_one(pair: Pair, matrix: Pair) -> None:
    """pair[n + 1] = pair[n] · matrix[n]."""
    products = np.empty((2, 2, *pair.shape[2:]), dtype=np.complex128)
    first, second = products
    multiply, add = np.multiply, np.add
    before, after = np.moveaxis(pair[:, None, :-1], 2, 0), np.moveaxis(pair[:, 1:], 1, 0)
    for now, turn, following in zip(before, np.moveaxis(matrix, 2, 0), after, strict=True):
        multiply(now, turn, products)
        add(first, second, following)
