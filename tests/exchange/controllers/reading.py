"""The texts read back to ten parameters, by nothing of the package that wrote them."""

import ast
import json
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import yaml
from scipy.spatial.transform import Rotation

from identify.inertia import phi_from_inertia

_NUMBER = r"-?\d+\.\d+"


class ReadBody(NamedTuple):
    mass: float
    com: np.ndarray
    inertia: np.ndarray

    @property
    def phi(self) -> np.ndarray:
        return phi_from_inertia(self.mass, self.com, self.inertia)


def numbers(text: str) -> np.ndarray:
    """Every number after the comments."""
    lines = [line for line in text.splitlines() if not line.startswith(("#", "//", ";", "!"))]
    return np.array([float(number) for number in re.findall(_NUMBER, "\n".join(lines))])


def symmetric(xx: float, yy: float, zz: float, xy: float, xz: float, yz: float) -> np.ndarray:
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def read_ur(text: str) -> ReadBody:
    n = numbers(text)
    return ReadBody(n[0], n[1:4], symmetric(*n[4:10]))


def read_franka(text: str) -> ReadBody:
    n = numbers(text)
    return ReadBody(n[0], n[1:4], n[4:13].reshape(3, 3, order="F"))


def read_franka_desk(text: str) -> ReadBody:
    read = json.loads(text)
    assert read["transformation"] == np.eye(4).ravel().tolist()
    inertia = np.array(read["inertia"]).reshape(3, 3, order="F")
    return ReadBody(read["mass"], np.array(read["centerOfMass"]), inertia)


def read_kuka(text: str) -> ReadBody:
    n = numbers(text)
    R = Rotation.from_euler("ZYX", n[4:7], degrees=True).as_matrix()
    return ReadBody(n[0], 1e-3 * n[1:4], (R * n[7:10]) @ R.T)


def read_abb(text: str) -> ReadBody:
    n = numbers(text)
    R = Rotation.from_quat(np.roll(n[4:8], -1)).as_matrix()
    return ReadBody(n[0], 1e-3 * n[1:4], (R * n[8:11]) @ R.T)


def read_fanuc(text: str) -> ReadBody:
    n = numbers(text)
    return ReadBody(n[0], 1e-2 * n[1:4], np.diag(n[4:7] * 9.80665 / 100.0))


def read_yaskawa(text: str) -> ReadBody:
    n = numbers(text)
    return ReadBody(n[0], 1e-3 * n[1:4], np.diag(n[4:7]))


def read_ros(text: str) -> ReadBody:
    entries = dict(re.findall(rf"^ *(\w+): ({_NUMBER})$", text, re.MULTILINE))
    names = ("m", "x", "y", "z", "ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    n = np.array([float(entries[name]) for name in names])
    return ReadBody(n[0], n[1:4], symmetric(*n[4:]))


def request(text: str) -> dict:
    """The request of a `ros2 service call`, by a reader of YAML."""
    return yaml.safe_load(re.search(r'SetPayload "(.*)"', text, re.DOTALL)[1])


def read_ur_ros2(text: str) -> ReadBody:
    """By the definition: mass, center_of_gravity, ixx to iyz, transition_time (a Duration)."""
    read = request(text)
    assert read.pop("transition_time") == {"sec": 0}
    com = [read["center_of_gravity"][axis] for axis in "xyz"]
    six = [read[f"i{entry}"] for entry in ("xx", "yy", "zz", "xy", "xz", "yz")]
    assert len(read) == 8
    return ReadBody(read["mass"], np.array(com), symmetric(*six))


def read_ur_ros2_rolling(text: str) -> ReadBody:
    """By the definition: payload (geometry_msgs/Inertia), transition_time (float64)."""
    read = request(text)
    assert set(read) == {"payload", "transition_time"}
    assert isinstance(read["transition_time"], float)
    payload = read["payload"]
    six = [payload[f"i{entry}"] for entry in ("xx", "yy", "zz", "xy", "xz", "yz")]
    com = [payload["com"][axis] for axis in "xyz"]
    return ReadBody(payload["m"], np.array(com), symmetric(*six))


def read_ros2_gravity(text: str) -> ReadBody:
    """By the parameter file of the filter: tool.pos of three doubles, tool.mass."""
    (tool,) = (
        each["params"]["tool"] for each in yaml.safe_load(text)["sensor_filter_chain"].values()
    )
    return ReadBody(tool["mass"], np.array(tool["pos"]), np.zeros((3, 3)))


def read_mujoco_gravity(text: str) -> ReadBody:
    """By the parameters that the plugin gets: CoG.pos of three doubles, CoG.mass, frame_id."""
    plugins = yaml.safe_load(text)["/**"]["ros__parameters"]["mujoco_plugins"]
    (plugin,) = plugins.values()
    assert plugin.pop("type") == "mujoco_ros2_control_plugins/FtsGravCompPlugin"
    (sensor,) = plugin.values()
    assert isinstance(sensor["frame_id"], str)
    return ReadBody(sensor["CoG"]["mass"], np.array(sensor["CoG"]["pos"]), np.zeros((3, 3)))


def read_xarm(text: str) -> ReadBody:
    """By the signature: weight, center_of_gravity."""
    (call,) = re.findall(r"^arm\.set_tcp_load\((.*)\)$", text, re.MULTILINE)
    weight, centre = ast.literal_eval(call)
    return ReadBody(weight, 1e-3 * np.array(centre), np.zeros((3, 3)))


READERS: Mapping[str, Callable[[str], ReadBody]] = {
    "abb": read_abb,
    "fanuc": read_fanuc,
    "franka": read_franka,
    "franka_desk": read_franka_desk,
    "kuka": read_kuka,
    "mujoco_gravity": read_mujoco_gravity,
    "ros": read_ros,
    "ros2_gravity": read_ros2_gravity,
    "ur_ros2": read_ur_ros2,
    "ur_ros2_rolling": read_ur_ros2_rolling,
    "ur": read_ur,
    "xarm": read_xarm,
    "yaskawa": read_yaskawa,
}
