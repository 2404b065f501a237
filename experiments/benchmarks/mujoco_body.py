"""MuJoCo's rollout of one free body with RK4, moved by a wrench in its own frame."""

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
    """What computes all states of a body on one thread, and returns the last.

    Args:
        phi: ten parameters about Bo in B, shape (10,).
        start: first state, of shape ().
        wrench: samples held through the steps, shape (steps, 6), applied by six motors at a site;
            or a number of steps without any.
        step: [s].
    """
    loaded = not isinstance(wrench, int)
    model = mujoco.MjModel.from_xml_string(_mjcf(phi, step, loaded))
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


def _mjcf(phi: Phi, step: float, loaded: bool) -> str:
    body = InertialParameters(phi)
    I = body.inertia_about_com
    six = I[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    units = np.eye(6, dtype=int) if loaded else []
    motors = "".join(f'<motor site="origin" gear="{_numbers(row)}"/>' for row in units)
    return f"""
    <mujoco>
      <option timestep="{step!r}" integrator="RK4" gravity="{_numbers(GRAVITY)}">
        <flag contact="disable" constraint="disable"/>
      </option>
      <worldbody>
        <body>
          <freejoint/>
          <site name="origin"/>
          <inertial pos="{_numbers(body.com)}" mass="{body.mass!r}" fullinertia="{_numbers(six)}"/>
        </body>
      </worldbody>
      <actuator>{motors}</actuator>
    </mujoco>"""


def _numbers(values: object) -> str:
    return " ".join(repr(float(value)) for value in np.ravel(np.asarray(values)))
