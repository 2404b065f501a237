"""How the measured wrench changes: its first two time derivatives as seen from the body."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from identify.arrays import Array, Mat33
from identify.logs import Recording
from identify.signals.kernels import Differentiator
from identify.signals.kinematics import Kinematics
from identify.spatial import BodyMotion, coadjoint
from identify.spatial.rotations import cross, rotate_back


def wrench_rates(
    recording: Recording,
    signals: Mapping[str, Array],
    kinematics: Kinematics,
    differentiator: Differentiator,
) -> Array:
    """d/dt and d²/dt² of the components of the wrench at Bo in B.

    A force that is given in world axes, f_B = Rᵀ f_W, has with b_k = Rᵀ dᵏf_W/dtᵏ

        ḟ_B = b₁ − ω × b₀        f̈_B = b₂ − 2 ω × b₁ − α × b₀ + ω × (ω × b₀)

    Args:
        recording: for the frame of its wrench.
        signals: those the kinematics were made of.
        kinematics: n samples, `differentiator.halo` or more of them lost at each edge.
        differentiator: of the wrench as it is given.

    Returns:
        [ḟ; ṫ; f̈; ẗ], shape (n, 12).
    """
    n = len(kinematics.motion)
    inner = slice(kinematics.halo - differentiator.halo, kinematics.halo - differentiator.halo + n)
    force, torque = (
        np.stack([differentiator.apply(signals[name], order)[inner] for order in range(3)])
        for name in ("force", "torque")
    )
    frame = recording.frames["wrench"]
    if frame == "world" and kinematics.rotation is not None:
        motion, R = kinematics.motion, kinematics.rotation
        force, torque = (_seen_from_body(v, R, motion) for v in (force, torque))
    wrench = np.concatenate((force, torque), axis=2)
    if recording.X_BS is not None:
        wrench = wrench @ coadjoint(recording.X_BS).T
    return np.concatenate((wrench[1], wrench[2]), axis=1)


def _seen_from_body(v: Array, rotation: Mat33, motion: BodyMotion) -> Array:
    """A vector and its derivatives as seen from W to those as seen from B, shape (3, n, 3)."""
    b0, b1, b2 = (rotate_back(rotation, derivative) for derivative in v)
    w, al = motion.angular_velocity, motion.angular_acceleration
    turning = cross(w, b0)
    return np.stack((b0, b1 - turning, b2 - 2.0 * cross(w, b1) - cross(al, b0) + cross(w, turning)))
