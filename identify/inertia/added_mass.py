"""Fluid added mass: its 6×6 matrix, how it moves, and its sum with the rigid body's inertia.

A fluid that a body sets in motion adds ½ Vᵀ A V to its kinetic energy. The matrix A is symmetric
and positive semidefinite, but no body's: its linear block is not m 1, so it has up to 21 numbers,
not ten, and does not fit into `phi`. Linear first, about a point P in axes of B:

    A = [[M, Nᵀ], [N, J]]

A change of frame is the congruence with the adjoint, as for every inertia. Moved by c from the
centre of mass to Bo,

    M' = M,    N' = N + c̃ M,    J' = J + c̃ M c̃ᵀ + c̃ Nᵀ + N c̃ᵀ.

With M = m 1 and N = 0 the second term of J' is the parallel axis theorem; c̃ M c̃ᵀ is the term that
was missing between Gazebo and DART.

**Gazebo's `BodyMatrix` mixes two points**: its off-diagonal blocks m c̃ are those about Bo, its
rotational block I_BBcm is that about the centre of mass. It is the spatial inertia about neither
and may have negative eigenvalues; `FluidAddedMass` is added to it as it is.
`added_mass_about_origin_by_blocks` reads a matrix of that mixed layout.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Mat66, Vec3, as_real, seal
from identify.errors import ModelError
from identify.inertia.frames import spatial_inertia_in_frame
from identify.inertia.matrices import swap_spatial_order
from identify.spatial import Pose, PoseLike, hat

_AXES = tuple(f"{kind} {axis}" for kind in ("linear", "angular") for axis in "xyz")
_TOLERANCE = 1e-9
"""Asymmetry and negative eigenvalues below this share of the matrix's scale are rounding."""


class AddedMassWarning(UserWarning):
    """The shortcut through the blocks of an added mass does not give its shift."""


def checked_added_mass(matrix: ArrayLike, *, angular_first: bool = False) -> Mat66:
    """An added mass, checked to be one: a read-only copy, linear first, exactly symmetric.

    Both checks are made in units of the matrix's own: √ of the largest added mass for the linear
    rows, √ of the largest added moment of inertia for the angular ones.

    Args:
        matrix: A about a point [kg, kg m, kg m²], shape (6, 6).
        angular_first: its order; DART, Drake and Featherstone have the angular part first.

    Raises:
        ModelError: another shape, not finite, not symmetric, or a motion of negative energy.
    """
    A = seal(matrix, "added mass", (6, 6))
    A = swap_spatial_order(A) if angular_first else np.array(A)
    diagonal = np.diag(A)
    if (diagonal < 0.0).any():
        k = int(np.argmin(diagonal))
        raise ModelError(
            f"added mass: {_AXES[k]} has {diagonal[k]:g} on the diagonal; expected zero or more"
        )
    scale = np.sqrt(np.repeat([diagonal[:3].max(), diagonal[3:].max()], 3))
    units = np.outer(scale, scale)
    if (np.abs(A[units == 0.0]) > 0.0).any():
        raise ModelError(
            "added mass: it couples motions that have no added mass of their own, so that some "
            "motion has negative energy; fill in the diagonal"
        )
    normal = A / np.where(units > 0.0, units, 1.0)
    skew = np.abs(normal - normal.T)
    if skew.max() > _TOLERANCE:
        i, j = (int(k) for k in np.unravel_index(np.argmax(skew), (6, 6)))
        raise ModelError(
            f"added mass: expected a symmetric matrix, got {A[i, j]:g} and {A[j, i]:g} for "
            f"{_AXES[i]} and {_AXES[j]}"
        )
    smallest = float(np.linalg.eigvalsh(0.5 * (normal + normal.T))[0])
    if smallest < -_TOLERANCE:
        raise ModelError(
            f"added mass: it is not positive semidefinite (smallest eigenvalue {smallest:.3g} of "
            f"its scale), so that some motion has negative energy; check the order (linear or "
            f"angular first) and that all blocks are about one point"
        )
    A = 0.5 * (A + A.T)
    A.flags.writeable = False
    return A


def added_mass_in_frame(A_B: Mat66, X_AB: PoseLike) -> Mat66:
    """The same added mass about Ao in A: the congruence Ad(X_BA)ᵀ A_B Ad(X_BA), linear first.

    Energy ½ Vᵀ A V is that of the same motion in either frame.

    Args:
        A_B: about Bo in B, shape (..., 6, 6).
        X_AB: pose of B in A, broadcast with `A_B`.

    Returns:
        Shape (..., 6, 6).
    """
    moved = spatial_inertia_in_frame(as_real(A_B, "A_B"), X_AB)
    return 0.5 * (moved + np.swapaxes(moved, -1, -2))


def added_mass_about_origin(A_Bcm_B: Mat66, com: Vec3) -> Mat66:
    """Added mass about Bo of one about the centre of mass, axes unchanged: the whole congruence.

    Args:
        A_Bcm_B: about Bcm in axes of B, linear first, shape (..., 6, 6).
        com: p_BoBcm_B [m], shape (..., 3).

    Returns:
        Shape (..., 6, 6).
    """
    com = as_real(com, "com")
    R = np.broadcast_to(np.eye(3), (*com.shape[:-1], 3, 3))
    return added_mass_in_frame(A_Bcm_B, Pose(R, com))


def added_mass_about_origin_by_blocks(mixed: ArrayLike, *, com: Vec3 | None = None) -> Mat66:
    """Added mass about Bo from its blocks alone: J' = J + (c̃M) M⁻¹ (c̃M)ᵀ, without knowing c.

    The recipe of the text on Gazebo and DART, for a matrix of Gazebo's mixed layout: its lower left
    block is c̃ M, as about Bo, its lower right block is J, as about Bcm. Then c̃ = (c̃M) M⁻¹, and the
    result is that of the whole congruence, `added_mass_about_origin` of [[M, 0], [0, J]]. It is
    **not**

    - where M has no inverse (a disc, a long cylinder along its axis): an error;
    - of a matrix that is about the centre of mass, in all its blocks, and does not couple there:
      its lower left block is zero, so nothing is added and c̃ M c̃ᵀ is lost;
    - of a body that couples about its centre of mass (N ≠ 0, for want of symmetry): N is taken for
      c̃ M, and the terms c̃ Nᵀ + N c̃ᵀ are lost.

    The last two raise a warning where the blocks, or `com`, give them away. `com` is known as a
    rule: with it `added_mass_about_origin` is right for every added mass.

    Args:
        mixed: blocks [[M, (c̃M)ᵀ], [c̃M, J_Bcm]], linear first, shape (6, 6).
        com: p_BoBcm_B [m], shape (3,), only to check the recipe by.

    Returns:
        Shape (6, 6).

    Warns:
        AddedMassWarning: the lower left block is not c̃ M, or is zero.

    Raises:
        ModelError: not a finite 6×6 matrix, or M has no inverse.
    """
    blocks = seal(mixed, "added mass", (6, 6))
    M, coupling = blocks[:3, :3], blocks[3:, :3]
    strengths = np.linalg.eigvalsh(0.5 * (M + M.T))
    if not strengths[0] > _TOLERANCE * strengths[2]:
        raise ModelError(
            f"added mass: the linear block has no inverse (eigenvalues {strengths.tolist()} kg), "
            f"so the blocks do not tell the centre of mass; give it to added_mass_about_origin"
        )
    lever = np.linalg.solve(M.T, coupling.T).T
    size, other = np.abs(lever).max(), None
    if com is not None:
        com = seal(com, "com", (3,))
        off = np.abs(lever - hat(com)).max()
        if off > 1e-6 * max(size, np.abs(com).max()):
            other = f"the lower left block is not c̃ M (c off by {off:.3g} m), so the shift is wrong"
    elif size == 0.0:
        other = (
            "the blocks do not couple, so nothing is added; if they are about the centre of mass"
        )
    elif np.abs(lever + lever.T).max() > 1e-6 * size:
        other = (
            "the lower left block is not c̃ M for any c, so the shift is wrong; for the right one"
        )
    if other:
        warnings.warn(
            f"added mass: {other}, use added_mass_about_origin with the centre of mass",
            AddedMassWarning,
            stacklevel=2,
        )
    shifted = np.array(blocks)
    shifted[3:, 3:] += lever @ coupling.T
    return shifted
