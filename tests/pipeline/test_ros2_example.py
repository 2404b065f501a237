"""The node of `examples/ros2` with stubs of its message types, on the wrench of a moving body."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.exchange import SavedEstimate
from identify.exchange.estimate_json import estimate_text
from identify.inertia import InertialParameters
from tests.close import assert_close

MASS, COM = 1.7, np.array([0.02, -0.01, 0.09])
INERTIA = np.diag([0.004, 0.005, 0.003])
GRAVITY = np.array([0.0, 0.0, -9.80665])
STEP = 0.002


def vector(**values):
    return SimpleNamespace(**values)


def header(time=0.0):
    stamp = SimpleNamespace(sec=int(time), nanosec=round((time % 1.0) * 1e9))
    return SimpleNamespace(stamp=stamp)


class PoseStamped:
    def __init__(self, time, position, quaternion):
        self.header = header(time)
        orientation = vector(**dict(zip("xyzw", quaternion, strict=True)))
        position = vector(**dict(zip("xyz", position, strict=True)))
        self.pose = SimpleNamespace(position=position, orientation=orientation)


class WrenchStamped:
    def __init__(self, numbers=(0.0,) * 6):
        self.header = header()
        force, torque = (
            vector(**dict(zip("xyz", part, strict=True))) for part in np.split(np.array(numbers), 2)
        )
        self.wrench = SimpleNamespace(force=force, torque=torque)

    def numbers(self):
        f, t = self.wrench.force, self.wrench.torque
        return np.array([f.x, f.y, f.z, t.x, t.y, t.z])


class Node:
    parameters: ClassVar[dict[str, object]] = {}

    def __init__(self, name):
        self.published = []

    def declare_parameter(self, name, default):
        return SimpleNamespace(value=self.parameters.get(name, default))

    def create_publisher(self, kind, topic, depth):
        return SimpleNamespace(publish=self.published.append)

    def create_subscription(self, kind, topic, callback, depth):
        assert topic in ("pose", "wrench")


@pytest.fixture
def example(monkeypatch):
    modules = {name: ModuleType(name) for name in ("rclpy.node", "geometry_msgs.msg")}
    modules |= {name: ModuleType(name) for name in ("rclpy", "geometry_msgs")}
    modules["rclpy.node"].Node = Node
    modules["geometry_msgs.msg"].PoseStamped = PoseStamped
    modules["geometry_msgs.msg"].WrenchStamped = WrenchStamped
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    path = Path(__file__).parents[2] / "examples" / "ros2" / "contact_wrench_node.py"
    spec = importlib.util.spec_from_file_location("contact_wrench_node", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def attitude(t):
    return Rotation.from_euler("zyx", np.array([0.8, 0.6, 0.5]) * np.sin([2 * t, 3 * t, 2.5 * t]))


def position(t):
    return 0.1 * np.sin(np.array([4.0, 3.0, 5.0]) * t)


def wrench_on_body(t):
    """Newton and Euler about the centre of mass, with differences of the exact motion."""
    h = 1e-4

    def momenta(t):
        w = (attitude(t - h / 2).inv() * attitude(t + h / 2)).as_rotvec() / h
        world = attitude(t).as_matrix()
        return world @ INERTIA @ w

    def com(t):
        return position(t) + attitude(t).apply(COM)

    R = attitude(t).as_matrix()
    force = MASS * ((com(t + h) - 2 * com(t) + com(t - h)) / h**2 - GRAVITY)
    torque = (momenta(t + h) - momenta(t - h)) / (2 * h) + np.cross(com(t) - position(t), force)
    return np.hstack([R.T @ force, R.T @ torque])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_node_subtracts_weight_and_inertia(example, tmp_path, sign):
    path, offset = tmp_path / "estimate.json", np.array([1.0, -2.0, 3.0, 0.1, 0.05, -0.1])
    body = SavedEstimate(InertialParameters.from_com(MASS, COM, INERTIA), "tool")
    path.write_text(estimate_text(body))
    Node.parameters = {"estimate": str(path), "sign": sign, "offset": offset.tolist()}
    node = example.ContactWrenchNode()
    push = np.array([4.0, -7.0, 12.0, 0.3, -0.2, 0.5])
    errors, inertial = [], []
    for t in np.arange(1.0, 2.0, STEP):
        node.on_pose(PoseStamped(t, position(t), attitude(t).as_quat()))
        true = wrench_on_body(t)
        node.on_wrench(WrenchStamped(sign * (true + offset + push)))
        if node.published:
            errors.append(sign * node.published[-1].numbers() - push)
            at_rest = MASS * attitude(t).inv().apply(-GRAVITY)
            inertial.append(true[:3] - at_rest)
    assert len(node.published) == len(errors) > 490
    assert np.sqrt(np.mean(np.square(errors), axis=0))[:3].max() < 0.1 * np.std(inertial)


def test_rates_and_accelerations_of_a_parabola_are_exact(example):
    motion = example.MotionOfPoses(0.05)
    assert motion.last() is None
    for t in np.arange(0.0, 0.2, STEP):
        R = Rotation.from_rotvec([0.0, 0.0, 0.3 * t + 0.7 * t**2])
        motion.add(float(t), np.array([2.0 * t + 3.0 * t**2, 0.0, 0.0]), R.as_quat())
    pose, twist, acceleration = motion.last()
    end = 0.2 - STEP
    R = Rotation.from_rotvec([0.0, 0.0, 0.3 * end + 0.7 * end**2]).as_matrix()
    assert_close(pose.rotation, R, 1e-12)
    assert_close(twist[:3], R.T @ [2.0 + 6.0 * end, 0, 0], 1e-9)
    assert_close(twist[3:], [0, 0, 0.3 + 1.4 * end], 1e-9)
    assert_close(acceleration, np.hstack([R.T @ [6.0, 0, 0], [0, 0, 1.4]]), 1e-7)
