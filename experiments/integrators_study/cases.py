"""Motions for the measurement of integrators, and their reference by SciPy's DOP853."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from identify.arrays import Array, Mat66, Phi
from identify.inertia import phi_from_inertia, spatial_inertia
from identify.simulation import ConstantLoad, Load, SampledLoad, State

BODY = phi_from_inertia(
    2.0,
    np.array([0.05, -0.02, 0.08]),
    np.array([[0.040, 0.004, -0.002], [0.004, 0.055, 0.003], [-0.002, 0.003, 0.070]]),
)
"""Body of 2 kg and 0.5 m, with its centre of mass 10 cm from the origin of its frame."""

START = State(
    position=np.zeros(3),
    quaternion=np.array([0.1, -0.2, 0.3, 0.9]),
    velocity=np.array([0.5, -0.3, 1.0]),
    angular_velocity=np.array([1.0, 4.0, -1.5]),
)

_POINT = np.array([0.1, 0.2, -0.1])
_LINE = np.array([[1.0, 2.0, 3.0, 0.1, 0.05, 0.0], [4.0, -2.0, 1.0, -0.2, 0.1, 0.1]])
_WORLD = ConstantLoad([3.0, 1.0, -2.0], [0.1, 0.2, -0.1], _POINT, "world")


def _full_added_mass() -> Mat66:
    """Return an added mass as large as the inertia of the body, without symmetry."""
    root = np.random.default_rng(7).normal(size=(6, 6))
    scale = np.sqrt(np.repeat([BODY[0], 0.055], 3) / 6.0)
    return (root @ root.T) * np.outer(scale, scale)


@dataclass(frozen=True, slots=True)
class Case:
    """Loads on the body in a test motion.

    Attributes:
        name: name in the tables.
        gravity: g in W [m/s²].
        loads: forces and torques, over the first second.
        added_mass: added mass of the fluid, or None.
    """

    name: str
    gravity: Array
    loads: tuple[Load, ...] = ()
    added_mass: Mat66 | None = None

    @property
    def inertia(self) -> Mat66:
        """M about Bo in B, including the added mass."""
        M = spatial_inertia(BODY)
        return M if self.added_mass is None else M + self.added_mass


LOADS = (_WORLD, SampledLoad([0.0, 1.0], _LINE, _POINT))
FREE = Case("free", np.zeros(3))
LOADED = Case("loaded", np.array([0.0, 0.0, -9.80665]), LOADS)
FLUID = Case("in a fluid", np.array([0.0, 0.0, -9.80665]), LOADS, _full_added_mass())
DRIFTING = Case("in a fluid", np.zeros(3), (), _full_added_mass())


def truth(case: Case, duration: float) -> Array:
    """Return the final quaternion, by Kirchhoff's equations in body axes about Bo."""
    M = case.inertia
    M_inverse = np.linalg.inv(M)

    def rate(t: float, y: Array) -> Array:
        R = Rotation.from_quat(y[3:7]).as_matrix()
        v, w = np.split(M_inverse @ y[7:], 2)
        p, L, q = y[7:10], y[10:], y[3:7]
        force = _wrench(case, BODY, t, R) - np.r_[np.cross(w, p), np.cross(w, L) + np.cross(v, p)]
        return np.r_[R @ v, 0.5 * np.r_[q[3] * w + np.cross(q[:3], w), -q[:3] @ w], force]

    x = START.vector
    R = Rotation.from_quat(x[3:7]).as_matrix()
    y = np.r_[x[:7], M @ np.r_[R.T @ x[7:10], x[10:]]]
    end = solve_ivp(rate, (0.0, duration), y, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    return end[3:7] / np.linalg.norm(end[3:7])


def _wrench(case: Case, phi: Phi, t: float, R: Array) -> Array:
    """Return the wrench [f; t] at Bo in B."""
    g = R.T @ case.gravity
    wrench = np.r_[phi[0] * g, np.cross(phi[1:4], g)]
    if not case.loads:
        return wrench
    line = (1.0 - t) * _LINE[0] + t * _LINE[1]
    world = np.r_[R.T @ _WORLD.force, R.T @ _WORLD.torque]
    force = line + world
    return wrench + np.r_[force[:3], force[3:] + np.cross(_POINT, force[:3])]
