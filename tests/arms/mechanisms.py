"""Arms whose axes do not show all of a load: their models, and logs with it and without it."""

from pathlib import Path

import numpy as np

from identify.inertia import InertialParameters, in_frame
from identify.logs import JointAxes, Recording
from identify.robots import RobotModel, inverse_dynamics, read_robot

RATE_HZ, SECONDS, STILL_BELOW = 100.0, 30.0, 0.02
LOAD = InertialParameters.from_com(
    mass=2.0, com=[0.06, -0.03, 0.04], inertia_about_com=np.diag([0.012, 0.009, 0.006])
)

# kind and axis of each joint, place of each in the last, place of the tool in the last link
MECHANISMS = {
    "scara": (
        [(kind, "0 0 1") for kind in ("revolute", "revolute", "prismatic", "revolute")],
        ["0 0 .4", ".3 0 0", ".25 0 0", "0 0 0"],
        "0 0 -.05",
    ),
    "gantry": (
        [("prismatic", "1 0 0"), ("prismatic", "0 1 0"), ("prismatic", "0 0 1")],
        ["0 0 1", "0 0 0", "0 0 0"],
        "0 0 -.3",
    ),
    "turntable": ([("continuous", "0 0 1")], ["0 0 .4"], "0 0 .05"),
    "two_axes": (
        [("revolute", "0 1 0"), ("revolute", "0 1 0")],
        ["0 0 .4", "0 0 .4"],
        "0 0 .3",
    ),
    "pan_tilt": (
        [("revolute", "0 0 1"), ("revolute", "0 1 0")],
        ["0 0 .4", "0 0 .1"],
        ".05 0 0",
    ),
    "pendulum": ([("continuous", "0 1 0")], ["0 0 1"], "0 0 -.4"),
}


def mechanism_text(name: str) -> str:
    axes, places, tool = MECHANISMS[name]
    joints = "".join(
        f"""<joint name="j{k}" type="{kind}"><parent link="l{k}"/><child link="l{k + 1}"/>
          <origin xyz="{place}"/><axis xyz="{axis}"/>
          <limit lower="-1.5" upper="1.5" velocity="3" effort="200"/></joint>
          <link name="l{k + 1}"><inertial><origin xyz=".1 0.02 .05"/><mass value="{4 - k / 2}"/>
          <inertia ixx=".05" iyy=".06" izz=".04" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
        for k, ((kind, axis), place) in enumerate(zip(axes, places, strict=True))
    )
    return f"""<robot name="m"><link name="l0"/>{joints}<link name="tool0"/>
      <joint name="flange" type="fixed"><parent link="l{len(axes)}"/><child link="tool0"/>
      <origin xyz="{tool}"/></joint></robot>"""


def read_mechanism(name: str, folder: Path) -> RobotModel:
    path = folder / f"{name}.urdf"
    path.write_text(mechanism_text(name))
    return read_robot(path)


def motion(robot: RobotModel, seed: int) -> tuple[np.ndarray, ...]:
    """Times, and positions, velocities and accelerations of a random series of each joint."""
    rng, n = np.random.default_rng(seed), len(robot.joints)
    t = np.arange(round(SECONDS * RATE_HZ)) / RATE_HZ
    w = 2.0 * np.pi * np.array([0.1, 0.23, 0.41, 0.62])[:, None, None]
    sizes = rng.normal(size=(4, 1, n)) * [[[0.5]], [[0.3]], [[0.15]], [[0.08]]]
    angle = w * t[:, None] + rng.uniform(0.0, 6.3, (4, 1, n))
    q = (sizes * np.sin(angle)).sum(axis=0)
    v = (sizes * w * np.cos(angle)).sum(axis=0)
    return t, q, v, -(sizes * w**2 * np.sin(angle)).sum(axis=0)


def log(robot: RobotModel, seed: int, load: InertialParameters | None = None) -> Recording:
    """A log with friction, and with noise of 2 % of what the arm needs without a load."""
    t, q, v, a = motion(robot, seed)
    links = np.array(robot.phi) * 1.03
    size = np.abs(inverse_dynamics(robot, *motion(robot, 0)[1:], links)).max(axis=0) + 0.2
    if load is not None:
        link, X_LF = robot.frame("tool0")
        links[link] += in_frame(load, X_LF).phi
    effort = inverse_dynamics(robot, q, v, a, links)
    effort += size * (0.01 * a + 0.03 * v + 0.05 * np.sign(v) + 0.01)
    effort += 0.02 * size * np.random.default_rng(seed + 100).normal(size=q.shape)
    name = f"log {seed} {load is not None}"
    return Recording(
        name=name,
        time=t,
        signals={"joint_position": q, "effort": effort},
        gravity=np.array([0.0, 0.0, -9.80665]),
        frames={},
        sources=(),
        sha256=name,
        rows=len(t),
        joints=JointAxes(robot.joints, np.full(len(robot.joints), STILL_BELOW)),
    )
