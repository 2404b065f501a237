"""Joint torques of a serial arm of three links, by forward kinematics in plain NumPy."""

from dataclasses import dataclass

import numpy as np

from identify.regressors import newton_euler_regressor
from identify.spatial import BodyMotion

LINKS = ("base", "upper", "lower")
GRAVITY = np.array([0.0, 0.0, -9.81])
AXES = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
"""Axis of each joint in the frame of its link, which turns about it."""
PLACES = np.array([[0.0, 0.0, 0.3], [0.1, 0.0, 0.2], [0.0, 0.05, 0.4]])
"""Origin of each link in the link before [m]."""


def rotation_about(axis: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Rodrigues' formula, shape (n, 3, 3)."""
    K = np.cross(np.eye(3), axis).T
    sine, cosine = np.sin(angle)[:, None, None], np.cos(angle)[:, None, None]
    return np.eye(3) + sine * K + (1.0 - cosine) * (K @ K)


@dataclass(frozen=True)
class Joints:
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray


def random_joints(rng: np.random.Generator, count: int) -> Joints:
    return Joints(rng.uniform(-3.0, 3.0, (count, 3)), *rng.normal(size=(2, count, 3)) * 3.0)


def torque_regressor(joints: Joints) -> np.ndarray:
    """Regressor of the torques in the ten parameters of each link, shape (n, 3, 30)."""
    n = len(joints.q)
    R, p = np.broadcast_to(np.eye(3), (n, 3, 3)), np.zeros((n, 3))
    w, al, acceleration = np.zeros((3, n, 3))
    axes, origins, wrenches = [], [], []
    for k in range(3):
        offset = np.einsum("nij,j->ni", R, PLACES[k])
        acceleration = acceleration + np.cross(al, offset) + np.cross(w, np.cross(w, offset))
        p = p + offset
        R = R @ rotation_about(AXES[k], joints.q[:, k])
        axis = R @ AXES[k]
        rate = axis * joints.v[:, [k]]
        al = al + axis * joints.a[:, [k]] + np.cross(w, rate)
        w = w + rate
        local = [np.einsum("nji,nj->ni", R, x) for x in (acceleration - GRAVITY, w, al)]
        Y = newton_euler_regressor(BodyMotion(*local))
        force, torque = (np.einsum("nij,njk->nik", R, part) for part in (Y[:, :3], Y[:, 3:]))
        axes.append(axis)
        origins.append(p)
        wrenches.append((force, torque))
    rows = np.zeros((n, 3, 30))
    for joint in range(3):
        for link in range(joint, 3):
            force, torque = wrenches[link]
            arm = (origins[link] - origins[joint])[:, :, None]
            moment = torque + np.cross(arm, force, axis=1)
            rows[:, joint, 10 * link : 10 * link + 10] = np.einsum(
                "ni,nik->nk", axes[joint], moment
            )
    return rows
