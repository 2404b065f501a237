"""Attitude of many bodies: rotations of the steps and their ordered product (layer 2 of 3).

**Turns**, the rotation of each step from angular velocity at its two ends, are Magnus' expansion
to order four, with the integral of ω and of its commutator taken from a cubic through the values
and slopes at both ends. With θ = (h/2) ω in axes of the body and G = (h²/4) α,
the angular acceleration in the same units,

    σ = (θ0 + θ1)/2 + (G0 − G1 + θ0 × θ1)/6,        Δq = (sin|σ| σ/|σ|, cos|σ|)

where |σ| is half the angle turned. In principal axes G = a ∘ (θ2 θ3, …) + τ; a torque that is held
drops out of the difference. (Iserles, Munthe-Kaas, Nørsett and Zanna, "Lie-group methods", 2000.)

**Attitudes** are the ordered product of the turns, with a quaternion as two complex numbers. A unit
quaternion [x, y, z, w] is the pair α = w + iz, β = y − ix. The product of two of them,

    (α, β)(a, b) = (α a − β b*, α b + β a*)

is the row (α, β) times the matrix [[a, b], [−b*, a*]]: one product and one sum of arrays a step.
With y + ix in place of y − ix it would be another group's product, and every attitude wrong.
"""

from __future__ import annotations

from math import factorial, isqrt
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from identify.arrays import Array, Vec4
from identify.simulation.decoupled.workspace import (
    MATRIX,
    QUATERNION,
    ROTATION,
    TURNS,
    Workspace,
    cross_into,
)

_MAX_SERIES_TERMS = 8
"""Maximum number of terms of the series of the half-angle functions."""


class StepRotations(NamedTuple):
    """Rotations of the bodies in each step of a chunk of time.

    Attributes:
        vector: sin|σ| σ/|σ| in P, shape (3, steps, bodies).
        scalar: cos|σ|, shape (steps, bodies).
        square: |σ|², squared half angles, shape (steps, bodies).
        largest: largest |σ|²; NaN if one is NaN.
    """

    vector: Array
    scalar: Array
    square: Array
    largest: float


def step_rotations(
    theta: Array, ratios: Array, torque: Array | None, workspace: Workspace
) -> StepRotations:
    """Compute the rotations of the bodies in each step of a chunk of time.

    `theta`: θ in P at the nodes, shape (3, steps + 1, bodies); `ratios`: a, shape (3, 1, bodies);
    `torque`: τ at the nodes if it is linear between them, else None.
    """
    steps = theta.shape[1] - 1
    turn, scratch, functions = (workspace.rows(TURNS + first, 3, steps) for first in (0, 3, 6))
    slope = workspace.rows(TURNS + 9, 3, steps + 1)
    np.multiply(theta[1::-1], theta[2], out=slope[:2])
    np.multiply(theta[0], theta[1], out=slope[2])
    slope *= ratios
    if torque is not None:
        slope += torque
    cross_into(turn, theta[:, :-1], theta[:, 1:], scratch)
    turn += slope[:, :-1]
    turn -= slope[:, 1:]
    np.add(theta[:, :-1], theta[:, 1:], out=scratch)
    scratch *= 3.0
    turn += scratch  # 6 σ = θ0 × θ1 + G0 − G1 + 3 (θ0 + θ1)
    square, sine, cosine = functions
    largest = _half_angle_functions(turn, square, scratch[0], sine, cosine)
    turn *= sine
    return StepRotations(turn, cosine, square, largest)


def _half_angle_functions(
    six_sigma: Array, square: Array, scratch: Array, sine: Array, cosine: Array
) -> float:
    """Compute sin|σ| / (6|σ|) and cos|σ| of half rotation vectors σ, given as 6σ.

    Returns the largest |σ|²; all arrays have the last axes (steps, bodies).
    """
    np.multiply(six_sigma[0], six_sigma[0], out=square)
    for component in six_sigma[1:]:
        np.multiply(component, component, out=scratch)
        square += scratch
    square *= 1.0 / 36.0
    largest = float(square.max(initial=0.0))
    # What is left of sin x / x after k terms is x^2k/(2k+1)!; the cosine gets one term more.
    rests = (largest**k / factorial(2 * k + 1) for k in range(2, _MAX_SERIES_TERMS + 1))
    terms = next((k for k, rest in enumerate(rests, 2) if rest < 2.0**-55), None)
    if terms is None:
        half_angle = np.sqrt(square, out=scratch)
        np.maximum(half_angle, np.finfo(float).tiny, out=half_angle)
        np.cos(half_angle, out=cosine)
        np.sin(half_angle, out=sine)
        sine /= half_angle
        sine /= 6.0
        return largest
    _horner(sine, square, [(-1.0) ** k / (6.0 * factorial(2 * k + 1)) for k in range(terms)])
    _horner(cosine, square, [(-1.0) ** k / factorial(2 * k) for k in range(terms + 1)])
    return largest


def _horner(out: Array, x: Array, coefficients: list[float]) -> None:
    """Evaluate a polynomial by Horner's method into `out`; coefficients with the constant first."""
    np.multiply(x, coefficients[-1], out=out)
    for coefficient in coefficients[-2:0:-1]:
        out += coefficient
        out *= x
    out += coefficients[0]


CayleyKleinPair: TypeAlias = npt.NDArray[np.complexfloating]
"""Quaternions as pairs of complex Cayley-Klein parameters α and β, shape (2, ...)."""

_MIN_BATCHED_BODIES = 64
"""Number of bodies from which on sequential products are as fast as products by segments."""


class AttitudeLayer:
    """Attitudes at the nodes (step ends) of a chunk of time.

    Attributes:
        pair: α and β of the attitude, shape (2, steps + 1, bodies); the first node is given.
    """

    def __init__(self, start: Vec4, steps: int) -> None:
        """Allocate the arrays; the first attitudes are unit quaternions, shape (bodies, 4)."""
        self.pair = np.empty((2, steps + 1, len(start)), dtype=np.complex128)
        x, y, z, w = start.T
        self.pair[:, 0] = w + 1j * z, y - 1j * x

    def advance(self, vector: Array, scalar: Array, workspace: Workspace) -> CayleyKleinPair:
        """Compute the attitudes at all nodes of a chunk, as Cayley-Klein pairs.

        Vector and scalar of the turns have shapes (3, steps, bodies) and (steps, bodies), the
        result (2, steps + 1, bodies).
        """
        steps, count = scalar.shape
        matrix = workspace.complex_rows(MATRIX, 4, steps).reshape(2, 2, steps, count)
        _pair_matrix_into(matrix, vector, scalar)
        pair = self.pair[:, : steps + 1]
        whole, length = 0, isqrt(steps)
        if count < _MIN_BATCHED_BODIES and length > 1:
            whole = steps - steps % length
            _multiply_by_segments(pair[:, : whole + 1], matrix[:, :, :whole], length)
        _multiply_sequentially(pair[:, whole:], matrix[:, :, whole:])
        return pair

    def restart(self, steps: int) -> None:
        """Copy the last node, normalised, to the first node of the next chunk."""
        last = self.pair[:, steps]
        square = (last * last.conj()).real.sum(axis=0)
        np.multiply(last, 1.0 / np.sqrt(square), out=self.pair[:, 0])


def matrix_of_pair(pair: CayleyKleinPair) -> CayleyKleinPair:
    """Return the matrices [[a, b], [−b*, a*]] of Cayley-Klein pairs (2, ...), shape (2, 2, ...)."""
    a, b = pair
    return np.stack((np.stack((a, b)), np.stack((-b.conj(), a.conj()))))


def attitudes_from_pairs(pair: CayleyKleinPair, workspace: Workspace) -> tuple[Array, Array]:
    """Convert Cayley-Klein pairs (2, nodes, bodies) to quaternions and matrices.

    Returns x, y, z, w, shape (4, nodes, bodies), and R, shape (3, 3, nodes, bodies).
    """
    nodes = pair.shape[1]
    q = workspace.rows(QUATERNION, 4, nodes)
    np.negative(pair[1].imag, out=q[0])
    q[1], q[2], q[3] = pair[1].real, pair[0].imag, pair[0].real
    R = workspace.rows(ROTATION, 9, nodes).reshape(3, 3, *pair.shape[1:])
    double, products = np.split(workspace.rows(0, 12, nodes), (3,))
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
    return q, R


def _pair_matrix_into(out: CayleyKleinPair, vector: Array, scalar: Array) -> None:
    """Write the matrices [[a, b], [−b*, a*]] of rotations into `out`, shape (2, 2, ...)."""
    (a, b), (minus_b_conjugate, a_conjugate) = out
    a.real, a.imag = scalar, vector[2]
    b.real = vector[1]
    np.negative(vector[0], out=b.imag)
    np.conjugate(a, out=a_conjugate)
    np.negative(vector[1], out=minus_b_conjugate.real)
    minus_b_conjugate.imag = b.imag


def _multiply_by_segments(pair: CayleyKleinPair, matrix: CayleyKleinPair, length: int) -> None:
    """Multiply the rotations of segments of steps at once, then the segments with each other."""
    steps, count = matrix.shape[2:]
    segments = steps // length
    within = pair[:, 1:].reshape(2, segments, length, count)  # a view: an axis is split
    matrix = matrix.reshape(2, 2, segments, length, count)
    within[:, :, 0] = matrix[0, :, :, 0]
    by_step = np.moveaxis(within, 2, 1)
    _multiply_sequentially(by_step, np.moveaxis(matrix, 3, 2)[:, :, 1:])
    before = np.empty((2, segments + 1, count), dtype=np.complex128)
    before[:, 0] = pair[:, 0]
    _multiply_sequentially(before, matrix_of_pair(within[:, :, -1]))
    products = np.multiply(before[:, None, :-1, None], matrix_of_pair(within))
    np.add(products[0], products[1], out=within)


def _multiply_sequentially(pair: CayleyKleinPair, matrix: CayleyKleinPair) -> None:
    """Multiply attitudes by rotations step by step in place: pair[n + 1] = pair[n] · matrix[n]."""
    products = np.empty((2, 2, *pair.shape[2:]), dtype=np.complex128)
    first, second = products
    multiply, add = np.multiply, np.add
    by_node = pair.swapaxes(0, 1)
    by_step = matrix.swapaxes(1, 2).swapaxes(0, 1)
    for now, turn, following in zip(by_node[:-1, :, None], by_step, by_node[1:], strict=True):
        multiply(now, turn, products)
        add(first, second, following)
