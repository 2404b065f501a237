"""Change of the frame that the ten parameters are given in."""

from __future__ import annotations

from identify.arrays import Phi
from identify.inertia.pseudo_inertia import phi_from_pseudo_inertia, pseudo_inertia
from identify.spatial import Pose


def in_frame(phi: Phi, X_AB: Pose) -> Phi:
    """The same body's parameters about Ao in A, by the sandwich rule Pi_A = T_AB Pi_B T_ABᵀ.

    Args:
        phi: ten parameters about Bo in B, shape (..., 10).
        X_AB: pose of B in A; a batch of poses broadcasts with `phi`.

    Returns:
        Shape (..., 10).
    """
    T = X_AB.matrix
    return phi_from_pseudo_inertia(T @ pseudo_inertia(phi) @ T.swapaxes(-1, -2))
