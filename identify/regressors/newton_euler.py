"""The Newton-Euler equations of one body, linear in its ten parameters.

About Bo in B, with a' = a_WBo_B − g_B (classical acceleration less gravity):

    f = m a' + (α× + ω×ω×) h          t = h × a' + I α + ω × I ω        →  w = Y(a', α, ω) φ

Atkeson, An and Hollerbach, "Estimation of inertial parameters of manipulator loads and links"
(1986).
"""

from __future__ import annotations

import numpy as np

from identify.arrays import Array, PhiLike, Vec6, seal
from identify.inertia import inertia_about_origin
from identify.spatial import BodyMotion, hat
from identify.spatial.columns import PRODUCT_COLUMNS, PRODUCT_PAIRS, WRENCH_NAMES as WRENCH_NAMES

FEATURE_NAMES = (
    *("ax", "ay", "az"),
    *("alx", "aly", "alz"),
    *(f"w{'xyz'[i]}w{'xyz'[j]}" for i, j in PRODUCT_PAIRS),
)
"""Names of the twelve motion features: proper and angular acceleration, products of rates."""


def _feature_tensor() -> Array:
    """Compute the derivatives of the Newton-Euler regressor by the motion features, (12, 6, 10)."""
    T = np.zeros((12, 6, 10))
    entry = np.zeros((6, 3, 3))  # entry[k] = ∂I/∂(k-th of Ixx, Ixy, Ixz, Iyy, Iyz, Izz)
    for k, (i, j) in enumerate([(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]):
        entry[k, i, j] = entry[k, j, i] = 1.0
    axes = hat(np.eye(3))  # axes[i] = hat(e_i)
    for i in range(3):
        T[i, i, 0] = 1.0  # f: m a'
        T[i, 3:, 1:4] -= axes[i]  # t: h × a' = −a' × h
        T[3 + i, :3, 1:4] += axes[i]  # f: α × h
        for j in range(3):
            T[PRODUCT_COLUMNS[i][j], :3, 1:4] += axes[i] @ axes[j]  # f: ω × (ω × h)
            T[PRODUCT_COLUMNS[i][j], 3:, 4:] += axes[i] @ entry[:, :, j].T  # t: ω × (I ω)
        T[3 + i, 3:, 4:] += entry[:, :, i].T  # t: I α
    T.flags.writeable = False
    return T


FEATURE_TENSOR: Array = _feature_tensor()
"""Derivatives ∂Y/∂ψ_j of the Newton-Euler regressor by the motion features, shape (12, 6, 10)."""


def newton_euler_regressor(motion: BodyMotion) -> Array:
    """Compute the Newton-Euler regressor Y of each sample of a motion, w = Y φ.

    Args:
        motion: proper acceleration, angular velocity and angular acceleration in B, (..., 3) each.

    Returns:
        Shape (..., 6, 10): rows as the wrench [f; t] on the body at Bo in B, columns as phi.
    """
    return regressor_from_features(motion.features)


def regressor_from_features(psi: Array) -> Array:
    """Compute the Newton-Euler regressor from motion features, (..., 12) to (..., 6, 10)."""
    return np.tensordot(psi, FEATURE_TENSOR, axes=(-1, 0))


def regressor_with_offset(psi: Array) -> Array:
    """Return the regressor [Y, 1] of a body and a constant wrench, w = Y φ + offset.

    `psi`: motion features, shape (n, 12). Returns shape (n, 6, 16).
    """
    offsets = np.broadcast_to(np.eye(6), (len(psi), 6, 6))
    return np.concatenate((np.tensordot(psi, FEATURE_TENSOR, axes=1), offsets), axis=-1)


def newton_euler_wrench(phi: PhiLike, motion: BodyMotion) -> Vec6:
    """Compute the wrench [f; t] on the body at Bo in B from the Newton-Euler equations.

    Args:
        phi: ten parameters about Bo in B, shape (10,).
        motion: in B, shape (..., 3) each.

    Returns:
        Shape (..., 6) [N, N m].
    """
    a = motion.proper_acceleration
    w = motion.angular_velocity
    al = motion.angular_acceleration
    phi = seal(phi, "phi", (10,))
    mass = phi[0]
    h = phi[1:4]
    inertia = inertia_about_origin(phi)
    force = mass * a + np.cross(al, h) + np.cross(w, np.cross(w, h))
    torque = np.cross(h, a) + al @ inertia + np.cross(w, w @ inertia)
    return np.concatenate((force, torque), axis=-1)
