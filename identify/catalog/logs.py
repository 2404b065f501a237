"""The logs of a data set: wrenches, each with its schema and true body, or an arm's joints."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np
from pydantic import BaseModel, ConfigDict, PositiveFloat

from identify.arrays import Array, Vec3, seal
from identify.catalog.dataset_files import Dataset, dataset_path, find_dataset
from identify.documents import read_toml, validate
from identify.errors import DatasetError
from identify.inertia import InertialParameters


@dataclass(frozen=True, slots=True)
class DatasetLog:
    """A log of a data set.

    Attributes:
        dataset: name of the data set.
        name: of the log, its file's without suffix.
        path: the log.
        schema: what its columns mean.
        sha256: of the log, verified.
        truth: the true body about the sensor's origin, in the sensor's axes; None where unknown.
        sides: of its bounding box along the sensor's axes [m], shape (3,); None where unknown.
        points: CSV of points that fill the body, with their volume; None where there is none.
    """

    dataset: str
    name: str
    path: Path
    schema: Path
    sha256: str
    truth: InertialParameters | None = None
    sides: Vec3 | None = None
    points: Path | None = None


def dataset_logs(dataset: str | Dataset) -> tuple[DatasetLog, ...]:
    """The logs of a data set, in alphabetical order, all files verified.

        for log in dataset_logs("stars"):
            recording = read_log(log.path, log.schema)

    Raises:
        DatasetError: as `dataset_path`, or its logs are not of a wrench.
    """
    found = find_dataset(dataset)
    if found.kind != "wrench":
        raise DatasetError(
            f"{found.name}: its log is of {found.kind}s, and no schema of a wrench log describes "
            f"it; read it with identify.catalog.read_joint_log({found.name!r})"
        )
    folder = dataset_path(found)
    truth = _truth(found, folder)
    points = {PurePosixPath(file.path).stem: folder / file.path for file in found.of_role("points")}
    logs: list[DatasetLog] = []
    for file in sorted(found.of_role("log"), key=lambda file: file.path):
        name, path = PurePosixPath(file.path).stem, folder / file.path
        body, sides = truth.get(name, (None, None))
        known = found.name, name, path, found.schema_path, file.sha256
        logs.append(DatasetLog(*known, body, sides, points.get(name)))
    return tuple(logs)


def _truth(dataset: Dataset, folder: Path) -> dict[str, tuple[InertialParameters, Vec3]]:
    """True bodies and the sides of their bounding boxes by name of the log."""
    bodies: dict[str, tuple[InertialParameters, Vec3]] = {}
    for file in dataset.of_role("truth"):
        for name, said in json.loads((folder / file.path).read_text(encoding="utf-8")).items():
            numbers = said["mass"], said["com_in_sensor"], said["inertia_about_com_in_sensor"]
            sides = seal(said["bounding_box_sides_in_sensor"], f"sides of {name}", (3,))
            bodies[name] = InertialParameters.from_com(*numbers), sides
    return bodies


class JointLayout(BaseModel):
    """What the columns of a log of an arm's motors are.

    A stiff transmission moves the motors by θ = T (q − q₀); the power of the motors is that of the
    joints, τ_motorᵀ dθ/dt = τᵀ dq/dt, and so τ = Tᵀ τ_motor.

    Attributes:
        rate_hz: samples a second.
        positions: file of the motors' positions θ [rad], one column a motor.
        torques: file of the motors' torques [Nm], row by row the same samples.
        columns: names of the columns in both, in the order of the joints.
        motor_per_joint: T, shape (n, n).
        joint_offset: q₀ [rad], shape (n,).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    rate_hz: PositiveFloat
    positions: str
    torques: str
    columns: tuple[str, ...]
    motor_per_joint: tuple[tuple[float, ...], ...]
    joint_offset: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class JointLog:
    """Joint positions and torques of an arm, sampled evenly.

    Attributes:
        rate_hz: samples a second.
        positions: q [rad], shape (samples, joints).
        torques: τ [Nm], of the motors on the joints, shape (samples, joints); friction and the
            motors' own inertia are in them.
    """

    rate_hz: float
    positions: Array
    torques: Array


def read_joint_log(dataset: str | Dataset) -> JointLog:
    """The log of a data set of joint torques.

    Raises:
        DatasetError: as `dataset_path`, or there is no such data set, or its logs are of wrenches.
    """
    import pandas as pd

    found = find_dataset(dataset)
    if found.kind != "joint torque":
        raise DatasetError(
            f"{found.name}: its logs are of wrenches; identify.catalog.dataset_logs"
            f"({found.name!r}) lists them"
        )
    folder = dataset_path(found)
    path = found.schema_path
    layout = validate(JointLayout, read_toml(path, DatasetError), str(path), DatasetError)
    columns = list(layout.columns)
    positions, torques = (
        pd.read_csv(folder / file, usecols=columns)[columns].to_numpy(float)
        for file in (layout.positions, layout.torques)
    )
    return to_joints(layout, positions, torques)


def to_joints(layout: JointLayout, positions: Array, torques: Array) -> JointLog:
    """Motor positions and torques as those of the joints.

    Args:
        layout: the transmission.
        positions: of the motors [rad], shape (samples, motors).
        torques: of the motors [Nm], same shape.
    """
    T, shape = np.array(layout.motor_per_joint), (None, len(layout.columns))
    q = np.linalg.solve(T, positions.T).T + np.array(layout.joint_offset)
    return JointLog(layout.rate_hz, seal(q, "q", shape), seal(torques @ T, "tau", shape))
