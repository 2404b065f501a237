"""MuJoCo with RK4: a rollout of one free body, and a step loop over many in one model."""

from __future__ import annotations

from collections.abc import Callable

import mujoco
import numpy as np
from mujoco import rollout

from identify.arrays import Array, Phi, Vec6
from identify.inertia import InertialParameters
from identify.simulation import State

GRAVITY = (0.0, 0.0, -9.80665)


def mujoco_rollout(phi: Phi, start: State, wrench: Vec6 | int, step: float) -> Callable[[], Array]:
    """Return a function that computes all states of a body on one thread, and returns the last.

    Args:
        phi: ten parameters about Bo in B, shape (10,).
        start: first state, of shape ().
        wrench: samples held through the steps, shape (steps, 6), applied by six motors at a site;
            or a number of steps without any.
        step: [s].
    """
    loaded = not isinstance(wrench, int)
    model = mujoco.MjModel.from_xml_string(_mjcf(phi, step, motors=loaded))
    data = mujoco.MjData(model)
    first = np.concatenate(
        ([0.0], start.position, start.quaternion[[3, 0, 1, 2]], start.velocity,
         start.angular_velocity)
    )  # fmt: skip
    controls = wrench[None] if loaded else None
    steps = None if loaded else wrench

    def run() -> Array:
        states, _ = rollout.rollout(model, data, first[None], controls, nstep=steps)
        return states[0, -1]

    return run


def mujoco_many(phi: Phi, start: State, wrench: Vec6 | int, step: float) -> Callable[[], Array]:
    """Return a function that computes and stores all states of free bodies in one model.

    It is the mode in which MuJoCo takes the least time per body-step. Rendering, contacts,
    constraints, springs, actuators and sensors are disabled, and a sampled wrench is written to
    `xfrc_applied` without a change of frame: about the centre of mass in W.

    Args:
        phi: ten parameters about Bo in B, shape (bodies, 10).
        start: first states, of shape (bodies,).
        wrench: samples held through the steps, shape (bodies, steps, 6), or a number of steps
            without any.
        step: [s].

    Returns:
        The last [p_WoBo, w, x, y, z of q_WB], shape (bodies, 7).
    """
    model = mujoco.MjModel.from_xml_string(_mjcf(phi, step))
    data, bodies = mujoco.MjData(model), len(phi)
    qpos = np.concatenate((start.position, start.quaternion[:, [3, 0, 1, 2]]), axis=1)
    qvel = np.concatenate((start.velocity, start.angular_velocity), axis=1)
    applied = None if isinstance(wrench, int) else np.ascontiguousarray(wrench.swapaxes(0, 1))
    steps = wrench if isinstance(wrench, int) else wrench.shape[1]
    positions, velocities = np.empty((steps, model.nq)), np.empty((steps, model.nv))

    def run() -> Array:
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = qpos.ravel(), qvel.ravel()
        for k in range(steps):
            if applied is not None:
                data.xfrc_applied[1:] = applied[k]
            mujoco.mj_step(model, data)
            positions[k], velocities[k] = data.qpos, data.qvel
        return positions[-1].reshape(bodies, 7)

    return run


def _mjcf(phi: Phi, step: float, motors: bool = False) -> str:
    """Return a model of one free body or many, shape (..., 10), with motors at the origin."""
    units = np.eye(6, dtype=int) if motors else []
    actuators = "".join(f'<motor site="origin" gear="{_numbers(row)}"/>' for row in units)
    site = '<site name="origin"/>' if motors else ""
    off = " ".join(
        f'{name}="disable"'
        for name in ("contact", "constraint", "spring", "damper", "sensor")
        + (() if motors else ("actuation",))
    )
    bodies = "".join(
        f"<body><freejoint/>{site}{_inertial(InertialParameters(ten))}</body>"
        for ten in phi.reshape(-1, 10)
    )
    return f"""
    <mujoco>
      <option timestep="{step!r}" integrator="RK4" gravity="{_numbers(GRAVITY)}">
        <flag {off}/>
      </option>
      <worldbody>{bodies}</worldbody>
      <actuator>{actuators}</actuator>
    </mujoco>"""


def _inertial(body: InertialParameters) -> str:
    six = body.inertia_about_com[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    return (
        f'<inertial pos="{_numbers(body.com)}" mass="{float(body.mass)!r}" '
        f'fullinertia="{_numbers(six)}"/>'
    )


def _numbers(values: object) -> str:
    return " ".join(repr(float(value)) for value in np.ravel(np.asarray(values)))
