"""Free body in momentum form, whose phase-space state [x, q, p, L] integrators advance.

The **phase** of a body is [x, q, p, L], shape (..., 13): the position of its centre C in W, the
attitude R_WC as a quaternion, and its linear and angular momentum about C in axes of W. C lies at
the centre of mass. In these unknowns (Kirchhoff 1870; Lamb, Hydrodynamics, §124)

    V = M⁻¹ [Rᵀp; RᵀL],   dx/dt = R v,   dq/dt = ½ q ⊗ ω,   dp/dt = f,   dL/dt = t − (R v) × p.

M is the 6×6 inertia about C in axes of C, with a fluid's added mass where there is one. Without,
v and p are parallel, the last term is zero, and a free body keeps its p and L to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Mat33, Mat66, PhiLike, Vec3, Vec4, Vec6, as_real
from identify.errors import SimulationError
from identify.inertia import added_mass_in_frame, checked_added_mass, inertia_about_com
from identify.simulation.checks import require_simulable
from identify.simulation.principal_axes import PrincipalBody
from identify.simulation.state import State
from identify.spatial import Pose, quaternion_product
from identify.spatial.rotations import (
    cross,
    quaternion_conjugate,
    rotate,
    rotate_back,
    rotation_from_unit_quaternion,
)

POSITION, ATTITUDE = slice(0, 3), slice(3, 7)
"""Slices of position and attitude in a phase-space state."""
LINEAR = slice(7, 10)
ANGULAR = slice(10, 13)
MOMENTUM = slice(7, 13)
"""Slices of linear, angular and total momentum in a phase-space state."""


@dataclass(frozen=True, slots=True)
class FreeBody:
    """Inertia of a batch of bodies about their centres C.

    Attributes:
        mass: mass of the rigid body, on which gravity acts [kg], shape (...).
        centre: p_BoC_B [m], shape (..., 3).
        axes: R_BC as a quaternion, shape (..., 4).
        inertia: M about C in C, linear first, shape (..., 6, 6).
        inverse_inertia: M⁻¹.
        in_fluid: whether M includes added mass.
    """

    mass: Array
    centre: Vec3
    axes: Vec4
    inertia: Mat66
    inverse_inertia: Mat66
    in_fluid: bool

    @classmethod
    def of(cls, body: PrincipalBody | PhiLike, added_mass: ArrayLike | None = None) -> FreeBody:
        """Create a free body from ten parameters, or from principal moments and axes.

        `body`: ten parameters about Bo in B, shape (..., 10) where they are an array; C then has
        the axes of B. A `PrincipalBody` is simulated in its principal axes, where M is diagonal;
        `added_mass`: added mass about Bo in B, linear first, shape (6, 6) or (..., 6, 6).
        Raises `SimulationError`: a body that is inconsistent, a point or a rod; `ModelError`: an
        invalid added mass.
        """
        phi = require_simulable(body)
        mass, com = phi[..., 0], phi[..., 1:4] / phi[..., :1]
        axes = body.quaternion if isinstance(body, PrincipalBody) else np.array([0.0, 0, 0, 1])
        M = np.zeros((*phi.shape[:-1], 6, 6))
        M[..., range(3), range(3)] = mass[..., None]
        if isinstance(body, PrincipalBody):
            M[..., range(3, 6), range(3, 6)] = body.moments
        else:
            M[..., 3:, 3:] = inertia_about_com(phi)
        if added_mass is not None:
            M = M + _added_mass_at_centre(added_mass, com, axes)
        return cls(mass, com, axes, M, np.linalg.inv(M), in_fluid=added_mass is not None)

    @property
    def batch(self) -> tuple[int, ...]:
        """Batch shape of the bodies."""
        return self.inertia.shape[:-2]

    def phase_of(self, state: State) -> Array:
        """Convert states to phase-space states [x, q, p, L], shape (..., 13).

        Raises `ModelError`: a quaternion of zeros.
        """
        vector = state.vector
        shapes = (vector.shape[:-1], self.centre.shape[:-1], self.axes.shape[:-1], self.batch)
        vector = np.broadcast_to(vector, (*np.broadcast_shapes(*shapes), 13))
        q_WB = vector[..., 3:7]
        v = vector[..., 7:10]
        w = vector[..., 10:13]
        R_WB = rotation_from_unit_quaternion(q_WB)
        lever, w_W = rotate(R_WB, self.centre), rotate(R_WB, w)
        q = quaternion_product(q_WB, self.axes)
        R = rotation_from_unit_quaternion(q)
        v_W = v + cross(w_W, lever)
        V = np.concatenate((rotate_back(R, v_W), rotate_back(R, w_W)), axis=-1)
        P = np.einsum("...ij,...j->...i", self.inertia, V)
        parts = (vector[..., :3] + lever, q, rotate(R, P[..., :3]), rotate(R, P[..., 3:]))
        return np.concatenate(parts, axis=-1)

    def states_of(self, phases: Array) -> Array:
        """Convert phase-space states to state vectors [p, q, v, ω], shape (..., 13)."""
        R_WC = rotation_from_unit_quaternion(phases[..., ATTITUDE])
        V = self.twist(R_WC, phases)
        v_W, w_W = rotate(R_WC, V[..., :3]), rotate(R_WC, V[..., 3:])
        q_WB = quaternion_product(phases[..., ATTITUDE], quaternion_conjugate(self.axes))
        lever = rotate(rotation_from_unit_quaternion(q_WB), self.centre)
        w_B = rotate(rotation_from_unit_quaternion(self.axes), V[..., 3:])
        parts = (phases[..., POSITION] - lever, q_WB, v_W - cross(w_W, lever), w_B)
        return np.concatenate(parts, axis=-1)

    def twist(self, R_WC: Mat33, phases: Array) -> Vec6:
        """Return twists [v; ω] of C in axes of C from phase-space states, shape (..., 6)."""
        p, L = rotate_back(R_WC, phases[..., LINEAR]), rotate_back(R_WC, phases[..., ANGULAR])
        return np.einsum("...ij,...j->...i", self.inverse_inertia, np.concatenate((p, L), axis=-1))


def _added_mass_at_centre(added_mass: ArrayLike, com: Vec3, axes: Vec4) -> Mat66:
    """Return the added mass about the centre of mass in axes C, from that about Bo in B.

    `axes`: quaternion of the rotation R_BC, shape (..., 4).
    """
    A = as_real(added_mass, "added_mass")
    if A.shape[-2:] != (6, 6):
        raise SimulationError(f"added mass: expected shape (..., 6, 6), got {A.shape}")
    A = np.reshape([checked_added_mass(matrix) for matrix in A.reshape(-1, 6, 6)], A.shape)
    X_BC = Pose(rotation_from_unit_quaternion(axes), com)
    return added_mass_in_frame(A, X_BC.inverse())
