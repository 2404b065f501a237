"""The texts read back to ten parameters, by nothing of the package that wrote them."""

import json
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
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


READERS: Mapping[str, Callable[[str], ReadBody]] = {
    "abb": read_abb,
    "fanuc": read_fanuc,
    "franka": read_franka,
    "franka_desk": read_franka_desk,
    "kuka": read_kuka,
    "ros": read_ros,
    "ur": read_ur,
    "yaskawa": read_yaskawa,
}
