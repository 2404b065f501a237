"""Projection onto the set of physically consistent bodies, in closed form.

phi ↔ Pi is linear and consistency is Pi ⪰ 0, so the nearest body in ‖T ΔPi Tᵀ‖ (Frobenius) results
from clipping the eigenvalues of T Pi Tᵀ. *Nearest* is meant in that norm of the pseudo-inertia, not
in ‖ΔI‖: the matrix I nearest in its entries is a different one.

The metric is that of a body Pi_0 = U Uᵀ, with T = U⁻¹. If mass and centre of mass are kept, only
the second moment changes, and the norm depends on the S_c = A Aᵀ of Pi_0 alone:

    ‖T [[ΔS, 0], [0, 0]] Tᵀ‖ = ‖A⁻¹ ΔS A⁻ᵀ‖

(the norm is the same for every root U; take the upper triangular one), so the eigenvalues of
A⁻¹ S_c A⁻ᵀ are clipped. The upper left block of a symmetric Pi_0^-½ would be wrong in the place of
A⁻¹: it mixes in the centre of mass of the nominal body.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Flags, Mat33, Mat44, Phi, PhiLike, as_array, as_real
from identify.errors import ModelError
from identify.inertia.consistency import (
    ROUNDING_TOLERANCE,
    BodyKind,
    body_kinds,
    central_spectrum,
    format_body_index,
)
from identify.inertia.matrices import (
    inertia_about_com,
    phi_from_inertia,
    phi_from_pseudo_inertia,
    pseudo_inertia,
    rounding_error_about_com,
    second_moment_about_com,
)
from identify.inertia.parameters import InertialParameters


@dataclass(frozen=True, slots=True)
class NearestBody:
    """Physically consistent bodies nearest to given ones.

    Attributes:
        phi: shape (..., 10); bodies that were consistent are unchanged, bit for bit.
        distance: ‖T ΔPi Tᵀ‖ from the given body (after its mass was replaced, if a mass was
            given), dimensionless, shape (...).
        changed: whether each body was changed, shape (...).
    """

    phi: Phi
    distance: Array
    changed: Flags

    @property
    def parameters(self) -> InertialParameters:
        """The nearest bodies as `InertialParameters`, batch shape (...)."""
        return InertialParameters(self.phi)


def nearest_consistent(
    phi: PhiLike,
    *,
    nominal: PhiLike | None = None,
    keep_mass_and_com: bool = True,
    mass: float | None = None,
    margin: float = 0.0,
) -> NearestBody:
    """Project bodies onto the set of physically consistent bodies, in a metric of pseudo-inertias.

    Args:
        phi: about Bo in B, shape (..., 10).
        nominal: solid body Pi_0 that defines the metric, about the same point in the same axes,
            shape (..., 10). The result is then independent of the frame. None for the Frobenius
            norm scaled by each body's own size, Pi_0 = m diag(L², L², L², 1) about Bo with
            L² = Σ|eigenvalues of S_c| / m; with mass and centre of mass kept, the result is
            independent of the frame, too.
        keep_mass_and_com: change the inertia only; otherwise all ten change, but less.
        mass: replaces a mass m ≤ 0 [kg]. Centre of mass and inertia about it are kept (for m = 0
            the first moment and the inertia about Bo).
        margin: distance from the boundary: the clipped matrix is ⪰ margin · 1, so that
            S_c ⪰ margin · S_c0 or Pi ⪰ margin · Pi_0.

    Raises:
        ModelError: m ≤ 0 and no mass is given, a nominal body that is not solid, a negative margin,
            a margin for a point mass, which has no size, or numbers that are not finite.
    """
    phi = as_array(phi, "phi", (..., 10))
    if not 0.0 <= margin < np.inf:
        raise ModelError(f"nearest body: expected a margin of zero or more, got {margin}")
    given = _replace_invalid_mass(phi, mass)
    values, limit = central_spectrum(given)
    reference = _metric_body(given, values, limit, nominal, needs_size=margin > 0.0)
    nearest = np.broadcast_to(given, reference.shape).copy()
    doubtful = (values[..., 0] < -limit) | (margin > 0.0)
    doubtful = np.broadcast_to(doubtful, nearest.shape[:-1])
    given = nearest[doubtful]
    projected, norm = _project(given, reference[doubtful], margin, inertia_only=keep_mass_and_com)
    distance = np.zeros(doubtful.shape)
    distance[doubtful] = norm
    nearest[doubtful] = np.where(norm[..., None] > 0.0, projected, given)
    changed = np.asarray(np.any(nearest != phi, axis=-1))
    for array in (nearest, distance, changed):
        array.flags.writeable = False
    return NearestBody(nearest, distance, changed)


def _project(phi: Phi, reference: Phi, margin: float, *, inertia_only: bool) -> tuple[Phi, Array]:
    """Project bodies onto the consistent set, less a margin; return bodies and distances."""
    A = np.linalg.cholesky(second_moment_about_com(reference))
    matrix, root = second_moment_about_com(phi), A
    if not inertia_only:
        matrix, root = pseudo_inertia(phi), np.zeros((*phi.shape[:-1], 4, 4))
        root[..., :3, :3] = A
        root[..., :, 3] = pseudo_inertia(reference)[..., :, 3] / np.sqrt(reference[..., :1])
    # Bound on the effect of rounding of the ten numbers on A⁻¹ S_c A⁻ᵀ.
    slack = rounding_error_about_com(phi) * np.linalg.norm(np.linalg.inv(A), 2, axis=(-2, -1)) ** 2
    change, distance = _clip_eigenvalues(matrix, root, margin, slack)
    projected = phi + _phi_change(change)
    # An ill-conditioned root may leave second moments slightly below zero.
    correction, _ = _clip_eigenvalues(
        second_moment_about_com(projected), np.eye(3), 0.0, np.zeros(())
    )
    return projected + _phi_change(correction), distance


def _phi_change(change: Mat33 | Mat44) -> Phi:
    """Convert a change of the pseudo-inertia, or of the second moment, to ten parameters."""
    Pi = np.zeros((*change.shape[:-2], 4, 4))
    size = change.shape[-1]
    Pi[..., :size, :size] = change
    return phi_from_pseudo_inertia(Pi)


def _clip_eigenvalues(
    matrix: Mat33 | Mat44, root: Mat33 | Mat44, margin: float, slack: Array
) -> tuple[Array, Array]:
    """Return the smallest change that raises the eigenvalues of a matrix to a margin, and its norm.

    Eigenvalues below the margin by no more than the slack stay.
    """
    inverse = np.linalg.inv(root)
    Q = inverse @ matrix @ np.swapaxes(inverse, -1, -2)
    values, axes = np.linalg.eigh(0.5 * (Q + np.swapaxes(Q, -1, -2)))
    lift = np.maximum(margin - values, 0.0)
    if margin > 0.0:
        allowed = slack + ROUNDING_TOLERANCE * np.abs(values).sum(axis=-1)
        lift = np.where((lift.max(axis=-1) > allowed)[..., None], lift, 0.0)
    axes = root @ axes
    return (axes * lift[..., None, :]) @ np.swapaxes(axes, -1, -2), np.linalg.norm(lift, axis=-1)


def _metric_body(
    phi: Phi, values: Array, limit: Array, nominal: PhiLike | None, *, needs_size: bool
) -> Phi:
    """Return the body that defines the metric: `nominal`, or a ball as large as each body.

    The ball is Pi_0 = m diag(L², L², L², 1).

    `phi`: bodies of positive mass, shape (..., 10); `values`: their second moments by
    `central_spectrum`, shape (..., 3); `limit`: their limits by `central_spectrum`, shape (...);
    `nominal`: a solid body, shape (..., 10), or None.
    Raises `ModelError`: a nominal body that is not solid; a mass so small that the centre of mass
    overflows; a point mass if a size is needed.
    """
    if np.isneginf(values).any():
        index = np.argwhere(np.isneginf(values[..., 0]))[0]
        raise ModelError(
            f"nearest body: {format_body_index(index)} has a mass too small for its first moment, "
            f"{phi[tuple(index)][:4].tolist()}"
        )
    if nominal is None:
        spread = np.abs(values).sum(axis=-1)
        points = np.argwhere(np.abs(values).max(axis=-1) <= limit)
        if needs_size and len(points):
            raise ModelError(
                f"nearest body: {format_body_index(points[0])} is a point mass, which has no size "
                f"that the margin could refer to; give a nominal body"
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
            f"{str(kinds[tuple(outside[0])])!r} ({format_body_index(outside[0])})"
        )
    return np.broadcast_to(nominal, np.broadcast_shapes(phi.shape, nominal.shape))


def _replace_invalid_mass(phi: Phi, mass: float | None) -> Phi:
    missing = phi[..., 0] <= 0.0
    if not missing.any():
        return phi
    if mass is None or not 0.0 < mass < np.inf:
        index = np.argwhere(missing)[0]
        raise ModelError(
            f"nearest body: {format_body_index(index)} has a mass of {phi[tuple(index)][0]:.6g} "
            f"kg; expected a positive mass, or a positive `mass` to replace it (got mass={mass})"
        )
    given = np.where((phi[..., 0] == 0.0)[..., None] & (np.arange(10) == 0), mass, phi)
    negative = phi[..., 0] < 0.0
    bodies = phi[negative]
    com = bodies[:, 1:4] / bodies[:, :1]
    given[negative] = phi_from_inertia(np.full(len(com), mass), com, inertia_about_com(bodies))
    return given
