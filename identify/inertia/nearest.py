"""The nearest possible body to an impossible one, in closed form.

phi ↔ Pi is linear and consistency is Pi ⪰ 0, so the nearest body in ‖T ΔPi Tᵀ‖ (Frobenius) comes of
clipping the eigenvalues of T Pi Tᵀ. *Nearest* is meant in that norm of the pseudo-inertia, not in
‖ΔI‖: a matrix I nearest in entries is another one.

The metric is that of a body Pi_0 = U Uᵀ, with T = U⁻¹. Where mass and centre of mass are kept, only
the second moment moves, and what that leaves of the norm depends on the S_c of Pi_0 = A Aᵀ alone:

    ‖T [[ΔS, 0], [0, 0]] Tᵀ‖ = ‖A⁻¹ ΔS A⁻ᵀ‖

(the norm is the same for every root U; take the upper triangular one). So then the eigenvalues of
A⁻¹ S_c A⁻ᵀ are clipped. The upper left block of a symmetric Pi_0^-½ in the place of A⁻¹ would not
do: it mixes in the centre of mass of the nominal body.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Flags, Mat33, Mat44, Phi, PhiLike, as_array, as_real
from identify.errors import ModelError
from identify.inertia.consistency import (
    ROUNDING,
    BodyKind,
    body_kinds,
    central_spectrum,
    which_body,
)
from identify.inertia.matrices import (
    inertia_about_com,
    phi_from_inertia,
    phi_from_pseudo_inertia,
    pseudo_inertia,
    rounding_about_com,
    second_moment_about_com,
)
from identify.inertia.parameters import InertialParameters


@dataclass(frozen=True, slots=True)
class NearestBody:
    """Possible bodies nearest to given ones.

    Attributes:
        phi: shape (..., 10); those that were possible bit for bit as they were.
        distance: ‖T ΔPi Tᵀ‖ from the given body, from the one with its mass put right where a mass
            was given, without unit, shape (...).
        changed: which were moved, shape (...).
    """

    phi: Phi
    distance: Array
    changed: Flags

    @property
    def parameters(self) -> InertialParameters:
        """The bodies, of shape (...)."""
        return InertialParameters(self.phi)


def nearest_consistent(
    phi: PhiLike,
    *,
    nominal: PhiLike | None = None,
    keep_mass_and_com: bool = True,
    mass: float | None = None,
    margin: float = 0.0,
) -> NearestBody:
    """The possible bodies (m > 0 and Pi ⪰ 0) nearest to given ones in a metric of Pi.

    Args:
        phi: about Bo in B, shape (..., 10).
        nominal: a solid body Pi_0 that the metric is of, about the same point in the same axes,
            shape (..., 10). Its metric is the same in every frame. None for the scaled Frobenius
            norm: that of each body's own size, Pi_0 = m diag(L², L², L², 1) about Bo with
            L² = Σ|eigenvalues of S_c| / m; with mass and centre of mass kept, this too is the same
            in every frame.
        keep_mass_and_com: move the inertia only; otherwise all ten move, and less far.
        mass: for bodies of m ≤ 0 [kg]. Their centre of mass and inertia about it are kept (with
            m = 0 their first moment and inertia about Bo).
        margin: keeps off the edge: the clipped matrix is ⪰ margin · 1, so that S_c ⪰ margin · S_c0
            or Pi ⪰ margin · Pi_0.

    Raises:
        ModelError: m ≤ 0 and no mass is given, a nominal body that is not solid, a negative margin,
            a margin for a point mass, which has no size of its own, or numbers not finite.
    """
    phi = as_array(phi, "phi", (..., 10))
    if not 0.0 <= margin < np.inf:
        raise ModelError(f"nearest body: expected a margin of zero or more, got {margin}")
    given = _with_mass(phi, mass)
    values, limit = central_spectrum(given)
    reference = _metric_body(given, values, limit, nominal, needs_size=margin > 0.0)
    nearest = np.broadcast_to(given, reference.shape).copy()
    doubtful = (values[..., 0] < -limit) | (margin > 0.0)
    doubtful = np.broadcast_to(doubtful, nearest.shape[:-1])
    given = nearest[doubtful]
    moved, far = _moved(given, reference[doubtful], margin, inertia_only=keep_mass_and_com)
    distance = np.zeros(doubtful.shape)
    distance[doubtful] = far
    nearest[doubtful] = np.where(far[..., None] > 0.0, moved, given)
    changed = np.asarray(np.any(nearest != phi, axis=-1))
    for array in (nearest, distance, changed):
        array.flags.writeable = False
    return NearestBody(nearest, distance, changed)


def _moved(phi: Phi, reference: Phi, margin: float, *, inertia_only: bool) -> tuple[Phi, Array]:
    """The bodies moved to the margin in the metric of the reference, and how far."""
    A = np.linalg.cholesky(second_moment_about_com(reference))
    matrix, root = second_moment_about_com(phi), A
    if not inertia_only:
        matrix, root = pseudo_inertia(phi), np.zeros((*phi.shape[:-1], 4, 4))
        root[..., :3, :3] = A
        root[..., :, 3] = pseudo_inertia(reference)[..., :, 3] / np.sqrt(reference[..., :1])
    # What rounding of the ten numbers may do to A⁻¹ S_c A⁻ᵀ.
    slack = rounding_about_com(phi) * np.linalg.norm(np.linalg.inv(A), 2, axis=(-2, -1)) ** 2
    change, distance = _clip(matrix, root, margin, slack)
    moved = phi + _phi_of(change)
    # What the root's conditioning left below zero about the centre of mass is cut.
    rest, _ = _clip(second_moment_about_com(moved), np.eye(3), 0.0, np.zeros(()))
    return moved + _phi_of(rest), distance


def _phi_of(change: Mat33 | Mat44) -> Phi:
    """Change of phi that one of Pi, or of its second moment alone, is."""
    Pi = np.zeros((*change.shape[:-2], 4, 4))
    size = change.shape[-1]
    Pi[..., :size, :size] = change
    return phi_from_pseudo_inertia(Pi)


def _clip(
    matrix: Mat33 | Mat44, root: Mat33 | Mat44, margin: float, slack: Array
) -> tuple[Array, Array]:
    """Change to the nearest matrix whose congruence by root⁻¹ is ⪰ margin, and its norm there.

    What is below the margin by no more than the slack stays.
    """
    inverse = np.linalg.inv(root)
    Q = inverse @ matrix @ np.swapaxes(inverse, -1, -2)
    values, axes = np.linalg.eigh(0.5 * (Q + np.swapaxes(Q, -1, -2)))
    lift = np.maximum(margin - values, 0.0)
    if margin > 0.0:
        allowed = slack + ROUNDING * np.abs(values).sum(axis=-1)
        lift = np.where((lift.max(axis=-1) > allowed)[..., None], lift, 0.0)
    axes = root @ axes
    return (axes * lift[..., None, :]) @ np.swapaxes(axes, -1, -2), np.linalg.norm(lift, axis=-1)


def _metric_body(
    phi: Phi, values: Array, limit: Array, nominal: PhiLike | None, *, needs_size: bool
) -> Phi:
    """The nominal body, or without one each body's own size as a ball about Bo: m diag(L², 1).

    Args:
        phi: bodies of positive mass, shape (..., 10).
        values: the second moments that `central_spectrum` gives of them, shape (..., 3).
        limit: that of `central_spectrum`, shape (...).
        nominal: a solid body, shape (..., 10), or None.
        needs_size: refuse point masses, of L = 0.

    Raises:
        ModelError: a nominal body that is not solid; a mass so small that the centre of mass is
            beyond numbers; a point mass where a size is needed.
    """
    if np.isneginf(values).any():
        where = np.argwhere(np.isneginf(values[..., 0]))[0]
        raise ModelError(
            f"nearest body: {which_body(where)} has a mass too small for its first moment, "
            f"{phi[tuple(where)][:4].tolist()}"
        )
    if nominal is None:
        spread = np.abs(values).sum(axis=-1)
        points = np.argwhere(np.abs(values).max(axis=-1) <= limit)
        if needs_size and len(points):
            raise ModelError(
                f"nearest body: {which_body(points[0])} is a point mass, which has no size of its "
                f"own to take a margin of; give a nominal body"
            )
        ball = np.zeros(phi.shape)
        ball[..., 0] = phi[..., 0]
        ball[..., [4, 7, 9]] = 2.0 * spread[..., None]
        return ball
    nominal = as_real(nominal, "nominal")
    kinds = body_kinds(nominal)
    outside = np.argwhere(kinds != BodyKind.SOLID)
    if len(outside):
        raise ModelError(
            f"nearest body: expected a solid nominal body, got one of kind "
            f"{str(kinds[tuple(outside[0])])!r} ({which_body(outside[0])})"
        )
    shape = np.broadcast_shapes(phi.shape, nominal.shape)
    return np.broadcast_to(nominal, shape)


def _with_mass(phi: Phi, mass: float | None) -> Phi:
    """The bodies with `mass` in the place of one that is not positive."""
    missing = phi[..., 0] <= 0.0
    if not missing.any():
        return phi
    if mass is None or not 0.0 < mass < np.inf:
        where = np.argwhere(missing)[0]
        raise ModelError(
            f"nearest body: {which_body(where)} has a mass of {phi[tuple(where)][0]:.6g} kg and no "
            f"nearest one; expected a positive mass, or one to give it (got mass={mass})"
        )
    given = np.where((phi[..., 0] == 0.0)[..., None] & (np.arange(10) == 0), mass, phi)
    negative = phi[..., 0] < 0.0
    bodies = phi[negative]
    com = bodies[:, 1:4] / bodies[:, :1]
    given[negative] = phi_from_inertia(np.full(len(com), mass), com, inertia_about_com(bodies))
    return given
