"""Poses and orientations in MJCF files, in any of their forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Mat33, Vec3
from identify.exchange.xml_document import XmlDocument, XmlElement
from identify.inertia.conventions.axes import rotation_from_wxyz
from identify.spatial import Pose, exp_rotation, rotation_from_quaternion

ORIENTATION_ATTRIBUTES = {"quat": 4, "axisangle": 4, "euler": 3, "xyaxes": 6, "zaxis": 3}
"""Attributes that give an orientation, with their number of values."""


class AngleSettings(NamedTuple):
    """Settings of the compiler for angles.

    Attributes:
        degrees: whether angles are in degrees, as by default.
        sequence: axes of Euler angles; lower case rotate with the frame, upper case are fixed.
    """

    degrees: bool = True
    sequence: str = "xyz"


def composed_pose(document: XmlDocument, elements: Sequence[XmlElement]) -> Pose:
    """Return the pose of the last element in the parent of the first, each in the one before."""
    settings, X = read_angle_settings(document), Pose.identity()
    for element in elements:
        position = document.attribute_numbers(element, "pos", 3, "0 0 0").values
        X = X @ Pose(read_orientation(document, element, settings), position)
    return X


def read_angle_settings(document: XmlDocument) -> AngleSettings:
    """Return the angle settings of a file, each from the last `<compiler>` that has it."""
    angle, sequence = "degree", "xyz"
    for compiler in document.root.find_all("compiler"):
        angle = compiler.attributes.get("angle", angle)
        sequence = compiler.attributes.get("eulerseq", sequence)
        if len(sequence) != 3 or set(sequence) - set("xyzXYZ"):
            problem = f"expected three of x, y, z, X, Y, Z, got {sequence!r}"
            raise document.error(f"<compiler eulerseq>: {problem}", compiler)
    return AngleSettings(angle != "radian", sequence)


def read_orientation(document: XmlDocument, element: XmlElement, settings: AngleSettings) -> Mat33:
    """Return the rotation in an element's attributes, by default the identity.

    Raises `ModelFileError`: two orientations, one together with `fullinertia`, or a zero vector.
    """
    given = [
        name for name in (*ORIENTATION_ATTRIBUTES, "fullinertia") if name in element.attributes
    ]
    if len(given) > 1:
        both = " and ".join(given)
        raise document.error(f"<{element.tag}> has {both}; MJCF allows one", element)
    if not set(given) & set(ORIENTATION_ATTRIBUTES):
        return np.eye(3)
    kind = given[0]
    numbers = document.attribute_numbers(element, kind, ORIENTATION_ATTRIBUTES[kind]).values
    rotation = _rotation(kind, numbers, settings)
    if rotation is None:
        problem = f"<{element.tag} {kind}>: {numbers.tolist()} has no direction"
        raise document.error(problem, element)
    return rotation


def _rotation(attribute: str, numbers: Array, settings: AngleSettings) -> Mat33 | None:
    """Return the rotation of an orientation attribute, None for a vector of length zero."""
    if attribute == "euler":
        rotation = np.eye(3)
        angles = np.radians(numbers) if settings.degrees else numbers
        for letter, angle in zip(settings.sequence, angles, strict=True):
            step = _rotation_from_vector(angle * np.eye(3)["xyz".index(letter.lower())])
            rotation = rotation @ step if letter.islower() else step @ rotation
        return rotation
    length = np.linalg.norm(numbers[:3] if attribute == "axisangle" else numbers)
    if not length > 1e-12:
        return None
    if attribute == "quat":
        return rotation_from_wxyz(numbers)
    if attribute == "axisangle":
        angle = np.radians(numbers[3]) if settings.degrees else numbers[3]
        return _rotation_from_vector(angle * numbers[:3] / length)
    if attribute == "zaxis":  # the smallest rotation that takes the z axis there
        z = numbers / length
        axis = np.cross([0.0, 0.0, 1.0], z)
        sine = float(np.linalg.norm(axis))
        if sine < 1e-12:
            return np.eye(3) if z[2] > 0.0 else np.diag([1.0, -1.0, -1.0])
        return _rotation_from_vector(np.arctan2(sine, z[2]) * axis / sine)
    x = numbers[:3] / max(np.linalg.norm(numbers[:3]), 1e-300)
    y = numbers[3:] - (x @ numbers[3:]) * x
    if not (np.linalg.norm(x) > 0.5 and np.linalg.norm(y) > 1e-12):
        return None
    y = y / np.linalg.norm(y)
    return np.stack((x, y, np.cross(x, y)), axis=1)


def _rotation_from_vector(vector: Vec3) -> Mat33:
    """Return the rotation of a rotation vector, an axis times an angle [rad]."""
    return rotation_from_quaternion(exp_rotation(vector))
