"""A small arm of three joints: its model, another body in each link, and logs of its motion."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from identify.inertia import InertialParameters, in_frame
from identify.logs import JointAxes, Recording
from identify.robots import RobotModel, inverse_dynamics, read_robot
from tests.robots.arms import LIMIT, link_text, robot_text

RATE_HZ, SECONDS = 100.0, 40.0
GRAVITY = (0.0, 0.0, -9.81)
STILL_BELOW = 0.02
JOINTS = ("joint_0", "joint_1", "joint_2")
AXES = JointAxes(JOINTS, np.full(3, STILL_BELOW))
PLACES = (("0 0 0.3", "0 0 1"), ("0.05 0.1 0.1", "0 1 0"), ("0 -0.08 0.45", "0 1 0"))
TOOL = """<joint name="flange" type="fixed"><parent link="link_2"/><child link="tool"/>
  <origin xyz="0.02 0.03 0.4" rpy="0.2 -0.3 0.5"/></joint><link name="tool"/>"""

FRICTION = np.array([[0.9, 1.5, 0.2], [1.2, 1.1, -0.3], [0.5, 0.4, 0.1]])
"""Viscous and Coulomb friction and offset of each joint."""
ROTORS = np.array([0.25, 0.2, 0.06])
LOAD = InertialParameters.from_com(
    mass=1.4, com=[0.03, -0.02, 0.09], inertia_about_com=np.diag([0.011, 0.009, 0.006])
)


def arm_text() -> str:
    joints = "".join(
        f"""<joint name="joint_{i}" type="revolute">
          <parent link="{f"link_{i - 1}" if i else "base"}"/><child link="link_{i}"/>
          <origin xyz="{xyz}" rpy="0 0 0"/><axis xyz="{axis}"/>{LIMIT}</joint>
          {link_text(f"link_{i}")}"""
        for i, (xyz, axis) in enumerate(PLACES)
    )
    return robot_text(joints + TOOL)


def read_arm_model(folder: Path) -> RobotModel:
    path = folder / "arm.urdf"
    path.write_text(arm_text())
    return read_robot(path, JOINTS, gravity=GRAVITY)


def true_links(robot: RobotModel) -> np.ndarray:
    """Bodies that are not those of the model: 20 % heavier, with other centres of mass."""
    links = []
    for number, phi in enumerate(robot.phi):
        body = InertialParameters(phi)
        shift = np.array([0.02, -0.03, 0.01]) * (number + 1)
        links.append(
            InertialParameters.from_com(
                mass=1.2 * body.mass,
                com=body.com + shift,
                inertia_about_com=1.1 * body.inertia_about_com,
            ).phi
        )
    return np.array(links)


@dataclass(frozen=True)
class Motion:
    """A random Fourier series for each joint, with its exact derivatives."""

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray

    @classmethod
    def random(cls, seed: int, seconds: float = SECONDS) -> "Motion":
        t = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
        return cls.along(seed, t, np.ones_like(t), np.zeros_like(t), t)

    @classmethod
    def along(
        cls, seed: int, s: np.ndarray, ds: np.ndarray, dds: np.ndarray, time: np.ndarray
    ) -> "Motion":
        """The series at the times s(t), with the derivatives of s."""
        rng = np.random.default_rng(seed)
        w = 2.0 * np.pi * np.linspace(0.05, 0.45, 5)[:, None, None]
        amplitudes, phases = rng.normal(size=(5, 1, 3)) * 0.35, rng.uniform(0.0, 6.3, (5, 1, 3))
        angle, ds, dds = w * s[:, None] + phases, ds[:, None], dds[:, None]
        velocity = (amplitudes * w * np.cos(angle)).sum(axis=0)
        return cls(
            time,
            (amplitudes * np.sin(angle)).sum(axis=0),
            velocity * ds,
            -(amplitudes * w**2 * np.sin(angle)).sum(axis=0) * ds**2 + velocity * dds,
        )


def torques(
    robot: RobotModel,
    motion: Motion,
    links: np.ndarray,
    load: InertialParameters | None = None,
    friction: np.ndarray = FRICTION,
) -> np.ndarray:
    links = np.array(links)
    if load is not None:
        link, X_LF = robot.frame("tool")
        links[link] += in_frame(load, X_LF).phi
    viscous, coulomb, offset = friction.T
    v = motion.v
    return (
        inverse_dynamics(robot, motion.q, v, motion.a, links)
        + ROTORS * motion.a
        + viscous * v
        + coulomb * np.sign(v)
        + offset
    )


def simulate(
    robot: RobotModel,
    seed: int,
    *,
    load: InertialParameters | None = None,
    noise: float = 0.0,
    friction: np.ndarray = FRICTION,
    seconds: float = SECONDS,
) -> Recording:
    motion = Motion.random(seed, seconds)
    effort = torques(robot, motion, true_links(robot), load, friction)
    effort += noise * np.random.default_rng(seed + 1000).normal(size=effort.shape)
    return recording(motion.time, motion.q, effort, f"log {seed} {load is not None}")


def recording(time: np.ndarray, q: np.ndarray, effort: np.ndarray, name: str) -> Recording:
    return Recording(
        name=name,
        time=time,
        signals={"joint_position": q, "effort": effort},
        gravity=np.array(GRAVITY),
        frames={},
        sources=(),
        sha256=name,
        rows=len(time),
        joints=AXES,
    )
