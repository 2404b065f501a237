"""The motion by SciPy's DOP853 at 1e-13, in other unknowns: momenta about Bo in axes of B."""

import itertools
from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from identify.inertia import spatial_inertia
from identify.simulation import State, Trajectory

WrenchAt = Callable[[float, np.ndarray], np.ndarray]
"""[f; t] at Bo in B at a time and an attitude R_WB."""


def exact_end(
    phi: np.ndarray,
    start: State,
    duration: float,
    *,
    gravity: np.ndarray,
    wrench: WrenchAt | None = None,
    added_mass: np.ndarray | None = None,
    breaks: tuple[float, ...] = (),
) -> np.ndarray:
    """[p, q, v, ω] at the end. Kirchhoff: dp/dt + ω × p = f, dL/dt + ω × L + v × p = t."""
    M = spatial_inertia(phi) + (0.0 if added_mass is None else added_mass)
    M_inverse = np.linalg.inv(M)

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        R = Rotation.from_quat(y[3:7]).as_matrix()
        V = M_inverse @ y[7:]
        v, w, p, L = V[:3], V[3:], y[7:10], y[10:]
        g = R.T @ gravity
        force = np.r_[phi[0] * g, np.cross(phi[1:4], g)]
        if wrench is not None:
            force = force + wrench(t, R)
        q = y[3:7]
        q_dot = 0.5 * np.r_[q[3] * w + np.cross(q[:3], w), -q[:3] @ w]
        moved = np.r_[np.cross(w, p), np.cross(w, L) + np.cross(v, p)]
        return np.r_[R @ v, q_dot, force - moved]

    x = start.vector
    R = Rotation.from_quat(x[3:7]).as_matrix()
    y = np.r_[x[:7], M @ np.r_[R.T @ x[7:10], x[10:]]]
    ends = (0.0, *breaks, duration)
    for first, last in itertools.pairwise(ends):
        y = solve_ivp(rate, (first, last), y, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    R = Rotation.from_quat(y[3:7]).as_matrix()
    V = M_inverse @ y[7:]
    return np.r_[y[:3], y[3:7] / np.linalg.norm(y[3:7]), R @ V[:3], V[3:]]


def state_at(path: Trajectory, k: int = -1) -> np.ndarray:
    """[p, q, v, ω] of a trajectory at one of its times."""
    parts = (path.position, path.quaternion, path.velocity, path.angular_velocity)
    return np.concatenate([part[..., k, :] for part in parts], axis=-1)


def distance(state: np.ndarray, other: np.ndarray) -> float:
    """Euclidean distance of two state vectors, ±q being one attitude."""
    sign = np.sign(state[3:7] @ other[3:7])
    return float(np.linalg.norm(state - np.r_[other[:3], sign * other[3:7], other[7:]]))


def random_state(rng: np.random.Generator, spin: float = 3.0) -> State:
    """A state that moves in every direction."""
    return State(
        rng.normal(size=3), rng.normal(size=4), rng.normal(size=3), spin * rng.normal(size=3)
    )


def random_added_mass(rng: np.random.Generator, phi: np.ndarray) -> np.ndarray:
    """A full 6×6 matrix, as large as the body's own inertia: no symmetry of any kind."""
    root = rng.normal(size=(6, 6))
    scale = np.sqrt(np.r_[np.full(3, phi[0]), np.full(3, phi[4] + phi[7] + phi[9])] / 12.0)
    return (root @ root.T) * np.outer(scale, scale)
