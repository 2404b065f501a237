"""Newton-Euler about any body origin, solved for the accelerations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Mat33, Mat66, Phi, Vec3, Vec6
from identify.inertia import InertialParameters, inertia_about_origin, spatial_inertia
from identify.simulation.checks import require_gravity, require_simulable
from identify.spatial import quaternion_product
from identify.spatial.rotations import cross, rotate, rotation_from_unit_quaternion


@dataclass(frozen=True, slots=True)
class RigidBodyDynamics:
    """How a batch of free bodies moves under a wrench at Bo in B and gravity.

        M [a'; α] = w − [ω × (ω × h); ω × I ω],   dv/dt = R a' + g

    Attributes:
        first_moment: h [kg m], shape (..., 3).
        inertia: I_BBo_B [kg m²], shape (..., 3, 3).
        inverse: M⁻¹ about Bo, shape (..., 6, 6).
        gravity: g in W [m/s²], shape (3,) or (..., 3).
    """

    first_moment: Vec3
    inertia: Mat33
    inverse: Mat66
    gravity: Vec3

    @classmethod
    def of(cls, phi: Phi | InertialParameters, gravity: ArrayLike) -> RigidBodyDynamics:
        """Dynamics of bodies given by their ten parameters.

        Args:
            phi: shape (..., 10).
            gravity: g in W [m/s²], shape (3,) or (..., 3).

        Raises:
            SimulationError: a body that no density realises, or one without extent.
        """
        phi = require_simulable(phi)
        return cls(
            first_moment=phi[..., 1:4],
            inertia=inertia_about_origin(phi),
            inverse=np.linalg.inv(spatial_inertia(phi)),
            gravity=require_gravity(gravity),
        )

    def derivative(self, state: Array, wrench: Vec6) -> Array:
        """d/dt of state vectors [p, q, v, ω] under a wrench at Bo in B, shape (..., 13)."""
        q, v, w = state[..., 3:7], state[..., 7:10], state[..., 10:13]
        momentum = np.einsum("...ij,...j->...i", self.inertia, w)
        bias = np.concatenate((cross(w, cross(w, self.first_moment)), cross(w, momentum)), axis=-1)
        acceleration = np.einsum("...ij,...j->...i", self.inverse, wrench - bias)
        rates = np.concatenate((w, np.zeros_like(w[..., :1])), axis=-1)
        unit = q / np.linalg.norm(q, axis=-1, keepdims=True)
        return np.concatenate(
            (
                v,
                0.5 * quaternion_product(q, rates),
                rotate(rotation_from_unit_quaternion(unit), acceleration[..., :3]) + self.gravity,
                acceleration[..., 3:],
            ),
            axis=-1,
        )
