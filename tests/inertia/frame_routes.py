"""The other routes of a change of frame: by the pseudo-inertia, and by the spatial inertia."""

from __future__ import annotations

import numpy as np

from identify.inertia import (
    phi_from_pseudo_inertia,
    pseudo_inertia,
    spatial_inertia,
    spatial_inertia_in_frame,
)
from identify.inertia.matrices import six_from_symmetric
from identify.spatial import Pose, vee


def in_frame_by_sandwich(phi: np.ndarray, X_AB: Pose) -> np.ndarray:
    """As `in_frame`, by the sandwich rule Pi_A = T_AB Pi_B T_ABᵀ."""
    T = X_AB.matrix
    return phi_from_pseudo_inertia(T @ pseudo_inertia(phi) @ T.swapaxes(-1, -2))


def in_frame_by_coadjoint(phi: np.ndarray, X_AB: Pose) -> np.ndarray:
    """As `in_frame`, by the congruence of the 6×6 spatial inertia, M_A = Ad*_AB M_B Ad_BA."""
    M = spatial_inertia_in_frame(spatial_inertia(phi), X_AB)
    h = 0.5 * (vee(M[..., 3:, :3]) - vee(M[..., :3, 3:]))
    return np.concatenate((M[..., :1, 0], h, six_from_symmetric(M[..., 3:, 3:])), axis=-1)
