"""Fluid added mass: its 6×6 matrix, its change of frame, and its sum with a body's inertia.

A fluid that a body sets in motion adds ½ Vᵀ A V to its kinetic energy. The matrix A is symmetric
and positive semidefinite, but is not the inertia of a rigid body: its linear block is not m 1, so
it has up to 21 numbers, not ten, and does not fit into `phi`. Linear first, about P in axes of B:

    A = [[M, Nᵀ], [N, J]]

A change of frame is the congruence with the adjoint, as for every inertia. With c the vector from
Bo to the centre of mass, moving A from there to Bo gives

    M' = M,    N' = N + c̃ M,    J' = J + c̃ M c̃ᵀ + c̃ Nᵀ + N c̃ᵀ.

With M = m 1 and N = 0 the second term of J' is the parallel axis theorem; c̃ M c̃ᵀ is the term that
was missing between Gazebo and DART.

**Gazebo's `BodyMatrix` mixes two points**: its off-diagonal blocks m c̃ are those about Bo, its
rotational block I_BBcm is that about the centre of mass. It is the spatial inertia about neither
and may have negative eigenvalues; `FluidAddedMass` is added to it unchanged.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Mat66, Vec3, as_real, seal
from identify.errors import ModelError
from identify.inertia.frames import spatial_inertia_in_frame
from identify.inertia.matrices import swap_spatial_order
from identify.spatial import Pose, PoseLike

_DIAGONAL_NAMES = tuple(f"{kind} {axis}" for kind in ("linear", "angular") for axis in "xyz")
"""Names of the diagonal entries of an added mass, the linear part first."""
_ROUNDING_TOLERANCE = 1e-9
"""Asymmetry and negative eigenvalues, relative to the matrix's scale, that count as rounding."""


def checked_added_mass(matrix: ArrayLike, *, angular_first: bool = False) -> Mat66:
    """Check that a matrix is symmetric and positive semidefinite; return a read-only copy.

    The copy is linear first and exactly symmetric. Both checks are made on the scaled matrix: by √
    of the largest added mass for the linear rows, √ of the largest added moment of inertia for the
    angular ones.

    Args:
        matrix: A about a point [kg, kg m, kg m²], shape (6, 6).
        angular_first: order of `matrix`; DART, Drake and Featherstone put the angular part first.

    Raises:
        ModelError: another shape, not finite, not symmetric, or a motion of negative energy.
    """
    A = seal(matrix, "added mass", (6, 6))
    A = swap_spatial_order(A) if angular_first else np.array(A)
    diagonal = np.diag(A)
    if (diagonal < 0.0).any():
        k = int(np.argmin(diagonal))
        raise ModelError(
            f"added mass: {_DIAGONAL_NAMES[k]} has {diagonal[k]:g} on the diagonal; "
            f"expected zero or more"
        )
    scale = np.sqrt(np.repeat([diagonal[:3].max(), diagonal[3:].max()], 3))
    units = np.outer(scale, scale)
    if (np.abs(A[units == 0.0]) > 0.0).any():
        raise ModelError(
            "added mass: it couples motions whose diagonal entries are zero, so that some motion "
            "has negative energy; fill in the diagonal"
        )
    normal = A / np.where(units > 0.0, units, 1.0)
    skew = np.abs(normal - normal.T)
    if skew.max() > _ROUNDING_TOLERANCE:
        i, j = (int(k) for k in np.unravel_index(np.argmax(skew), (6, 6)))
        raise ModelError(
            f"added mass: expected a symmetric matrix, got {A[i, j]:g} and {A[j, i]:g} for "
            f"{_DIAGONAL_NAMES[i]} and {_DIAGONAL_NAMES[j]}"
        )
    smallest = float(np.linalg.eigvalsh(0.5 * (normal + normal.T))[0])
    if smallest < -_ROUNDING_TOLERANCE:
        raise ModelError(
            f"added mass: it is not positive semidefinite (smallest eigenvalue {smallest:.3g} of "
            f"its scale), so that some motion has negative energy; check the order (linear or "
            f"angular first) and that all blocks are about one point"
        )
    A = 0.5 * (A + A.T)
    A.flags.writeable = False
    return A


def added_mass_in_frame(A_B: Mat66, X_AB: PoseLike) -> Mat66:
    """Return an added mass about Ao in A, Ad(X_BA)ᵀ A_B Ad(X_BA), with the linear part first.

    The energy ½ Vᵀ A V of a motion is the same in either frame.

    Args:
        A_B: about Bo in B, shape (..., 6, 6).
        X_AB: pose of B in A, broadcast with `A_B`.

    Returns:
        Shape (..., 6, 6).
    """
    transformed = spatial_inertia_in_frame(as_real(A_B, "A_B"), X_AB)
    return 0.5 * (transformed + np.swapaxes(transformed, -1, -2))


def added_mass_about_origin(A_Bcm_B: Mat66, com: Vec3) -> Mat66:
    """Move an added mass from the centre of mass to the origin Bo, with axes unchanged.

    Args:
        A_Bcm_B: about Bcm in axes of B, linear first, shape (..., 6, 6).
        com: p_BoBcm_B [m], shape (..., 3).

    Returns:
        Shape (..., 6, 6).
    """
    com = as_real(com, "com")
    R = np.broadcast_to(np.eye(3), (*com.shape[:-1], 3, 3))
    return added_mass_in_frame(A_Bcm_B, Pose(R, com))
