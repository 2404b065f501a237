"""`arm.json`: a fitted arm, with the statistics that fits of payloads on it start from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from identify.arms.torque_scale import TorqueScale
from identify.arrays import Array, Phi
from identify.errors import ModelError
from identify.files import read_bytes, write_text
from identify.inertia import BaseColumns
from identify.regressors import Statistics
from identify.regressors.statistics import sum_statistics
from identify.robots import RobotModel, parameter_names, robot_base_columns
from identify.serialisation import from_json_and_arrays, to_json_and_arrays

_FILE_VERSION = 4
"""Version of the file's layout."""

_MAX_SAVED_BLOCKS = 20
"""Largest number of saved blocks of time of a log, enough for a bootstrap."""

_KINEMATICS_TOLERANCE = 1e-4
"""Largest difference of places and axes of joints of one robot, by the digits of its model [m]."""

_DEPENDENCE_TOLERANCE = 1e-3
"""Largest distance of dependences of columns of one robot, from the rounding of its model."""


@dataclass(frozen=True, slots=True, eq=False)
class SavedArm:
    """A fitted arm with the content of its file. SI throughout.

    Attributes:
        joints: names of the joints.
        links: ten parameters of each link about its origin in its axes, by name.
        scalars: rotor inertias and friction, by name.
        covariance: of all unknowns, links first, shape (p, p).
        statistics: of the logs of the fit, by joint.
        kinematics: rows of `link_kinematics`, shape (L, 20).
        dependence: of the columns of the torque regressor, by the fit's choice of columns.
        report: base parameters, torque errors and provenance, as plain values.
        scale: gains of the torques if a known load has shown them; None otherwise.
    """

    joints: tuple[str, ...]
    links: Mapping[str, Phi]
    scalars: Mapping[str, float]
    covariance: Array
    statistics: Statistics
    kinematics: Array
    dependence: Array
    report: Mapping[str, Any] = field(default_factory=dict)
    scale: TorqueScale | None = None

    def base_of(self, robot: RobotModel) -> BaseColumns:
        """Return the fit's choice of independent columns, if a robot is the fitted arm.

        `robot_base_columns` may choose others that are as good, by the last digits of gravity.

        Raises:
            ModelError: the robot has other joints, links or kinematics than the fitted arm, or
                its base is mounted otherwise.
        """
        if self.joints != robot.joints or tuple(self.links) != robot.links:
            raise ModelError(
                f"the fitted arm has the joints {', '.join(self.joints)} and the links "
                f"{', '.join(self.links)}; the robot {', '.join(robot.joints)} and "
                f"{', '.join(robot.links)}: give the model and the joints that it was fitted with"
            )
        differences = np.abs(self.kinematics - link_kinematics(robot)).max(axis=1)
        if differences.max() > _KINEMATICS_TOLERANCE:
            raise ModelError(
                "the fitted arm has other kinematics than the robot (the joint of "
                f"{robot.links[int(differences.argmax())]}): give the model that it was fitted "
                "with, or fit it again"
            )
        names = parameter_names(robot)
        kept = self.statistics.layout.columns[: len(self.dependence)]
        expected = robot_base_columns(robot).dependence
        if not set(kept) <= set(names) or not _have_equal_rows(self.dependence, expected):
            raise ModelError(
                "the fitted arm has other base parameters than the robot: give the gravity that "
                "it was fitted with, or fit it again"
            )
        return BaseColumns(np.array([names.index(name) for name in kept]), self.dependence)


def link_kinematics(robot: RobotModel) -> Array:
    """Return the place of each moving link in the tree: its joint, pose in the parent and axis.

    Returns rows [parent, joint, prismatic, multiplier, offset, X_PL (position, rotation), axis],
    shape (L, 20).
    """
    return np.array(
        [
            (
                *(link.parent, link.joint, link.prismatic, link.multiplier, link.offset),
                *link.X_PL.position,
                *link.X_PL.rotation.ravel(),
                *link.axis,
            )
            for link in robot.tree
        ]
    )


def _have_equal_rows(fitted: Array, expected: Array) -> bool:
    """Return whether two dependences span the same rows, up to the rounding of a model."""
    if fitted.shape != expected.shape:
        return False
    beyond = fitted - fitted @ np.linalg.pinv(expected) @ expected
    return bool(np.abs(beyond).max() <= _DEPENDENCE_TOLERANCE)


def with_saved_blocks(statistics: Statistics) -> Statistics:
    """Merge neighbouring blocks of time so that they can be saved."""
    count = np.array([statistics.block[statistics.log == k].max() + 1 for k in statistics.log])
    block = statistics.block * np.minimum(count, _MAX_SAVED_BLOCKS) // count
    return sum_statistics([replace(statistics, block=block)])


def write_arm(arm: SavedArm, path: Path | str) -> Path:
    """Write an arm.json atomically and return its path."""
    path = Path(path)
    write_text(path, arm_text(arm))
    return path


def arm_text(arm: SavedArm) -> str:
    """Return the text of an arm.json."""
    arrays: dict[str, np.ndarray] = {}
    document = {"schema_version": _FILE_VERSION, "arm": to_json_and_arrays(arm, arrays, "arm")}
    document["arrays"] = {name: values.tolist() for name, values in arrays.items()}
    return json.dumps(document) + "\n"


def read_arm(path: Path | str) -> SavedArm:
    """Read an arm.json.

    Raises:
        MissingFile: no such file.
        ModelError: it is not an arm.json, damaged, or of another version.
    """
    path = Path(path)
    content = read_bytes(path)
    try:
        document = json.loads(content)
        version = document["schema_version"]
        arrays = {name: np.array(values) for name, values in document["arrays"].items()}
        arm = from_json_and_arrays(document["arm"], arrays) if version == _FILE_VERSION else None
    except (ValueError, KeyError, TypeError, AttributeError, ModelError) as error:
        why = f"no key {error}" if isinstance(error, KeyError) else error
        raise ModelError(
            f"{path}: is not an arm.json, or is damaged ({why}); expected the OUT/arm.json of "
            "identify fit-arm"
        ) from error
    if not isinstance(arm, SavedArm):
        raise ModelError(
            f"{path}: has version {version!r}, expected {_FILE_VERSION}; fit the arm again with "
            "this version of the toolkit"
        )
    return arm
