"""The five ways in which MJCF turns a frame."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Mat33, Vec3
from identify.exchange.xml_document import XmlDocument, XmlElement
from identify.inertia.conventions.axes import rotation_from_wxyz
from identify.spatial import exp_rotation, rotation_from_quaternion

_WAYS = {"quat": 4, "axisangle": 4, "euler": 3, "xyaxes": 6, "zaxis": 3}
"""Attributes that turn a frame, and how many numbers each has."""


class AngleSettings(NamedTuple):
    """What angles depend on.

    Attributes:
        degrees: whether angles are in degrees, as by default.
        sequence: axes of Euler angles; lower case turn with the frame, upper case are fixed.
    """

    degrees: bool = True
    sequence: str = "xyz"


def angle_settings(document: XmlDocument) -> AngleSettings:
    """The settings of a file; of several `<compiler>` the last that says it counts."""
    angle, sequence = "degree", "xyz"
    for compiler in document.root.all("compiler"):
        angle = compiler.attributes.get("angle", angle)
        sequence = compiler.attributes.get("eulerseq", sequence)
        if len(sequence) != 3 or set(sequence) - set("xyzXYZ"):
            what = f"expected three of x, y, z, X, Y, Z, got {sequence!r}"
            raise document.error(f"<compiler eulerseq>: {what}", compiler)
    return AngleSettings(angle != "radian", sequence)


def read_orientation(document: XmlDocument, element: XmlElement, setting: AngleSettings) -> Mat33:
    """The rotation that an element's attributes say, none without any.

    Raises:
        ModelFileError: two of them, `fullinertia` beside one, or one without a direction.
    """
    given = [way for way in (*_WAYS, "fullinertia") if way in element.attributes]
    if len(given) > 1:
        both = " and ".join(given)
        raise document.error(f"<{element.tag}> has {both}; MJCF allows one", element)
    if not set(given) & set(_WAYS):
        return np.eye(3)
    way = given[0]
    numbers = document.attribute_numbers(element, way, _WAYS[way]).values
    rotation = _rotation(way, numbers, setting)
    if rotation is None:
        raise document.error(f"<{element.tag} {way}>: {numbers.tolist()} has no direction", element)
    return rotation


def _rotation(way: str, numbers: Array, setting: AngleSettings) -> Mat33 | None:
    """The rotation that numbers say, None where they have no direction."""
    if way == "euler":
        rotation = np.eye(3)
        angles = np.radians(numbers) if setting.degrees else numbers
        for letter, angle in zip(setting.sequence, angles, strict=True):
            turn = _turn(angle * np.eye(3)["xyz".index(letter.lower())])
            rotation = rotation @ turn if letter.islower() else turn @ rotation
        return rotation
    length = np.linalg.norm(numbers[:3] if way == "axisangle" else numbers)
    if not length > 1e-12:
        return None
    if way == "quat":
        return rotation_from_wxyz(numbers)
    if way == "axisangle":
        angle = np.radians(numbers[3]) if setting.degrees else numbers[3]
        return _turn(angle * numbers[:3] / length)
    if way == "zaxis":  # the smallest rotation that takes the z axis there
        z = numbers / length
        axis = np.cross([0.0, 0.0, 1.0], z)
        sine = float(np.linalg.norm(axis))
        if sine < 1e-12:
            return np.eye(3) if z[2] > 0.0 else np.diag([1.0, -1.0, -1.0])
        return _turn(np.arctan2(sine, z[2]) * axis / sine)
    x = numbers[:3] / max(np.linalg.norm(numbers[:3]), 1e-300)
    y = numbers[3:] - (x @ numbers[3:]) * x
    if not (np.linalg.norm(x) > 0.5 and np.linalg.norm(y) > 1e-12):
        return None
    y = y / np.linalg.norm(y)
    return np.stack((x, y, np.cross(x, y)), axis=1)


def _turn(vector: Vec3) -> Mat33:
    """The rotation of an axis times an angle [rad]."""
    return rotation_from_quaternion(exp_rotation(vector))
