"""Logs of a data set: wrench logs with schema and reference body, or joint logs of an arm."""

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
        name: file name of the log without suffix.
        path: the log.
        schema: schema of its columns.
        sha256: verified checksum of the log.
        truth: the reference body about the sensor's origin, in the sensor's axes; None if unknown.
        sides: sides of its bounding box along the sensor's axes [m], shape (3,); None if unknown.
        points: CSV of points that fill the body, with their volume; None if there is none.
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
    """List the logs of a data set, in alphabetical order, with all files verified.

        for log in dataset_logs("stars"):
            recording = read_log(log.path, log.schema)

    Raises:
        DatasetError: as `dataset_path`, or its logs are not of a wrench.
    """
    entry = find_dataset(dataset)
    if entry.kind != "wrench":
        raise DatasetError(
            f"{entry.name}: its log is of {entry.kind}s, not of a wrench; read it with "
            f"identify.catalog.read_joint_log({entry.name!r})"
        )
    folder = dataset_path(entry)
    truth = _truth(entry, folder)
    points = {PurePosixPath(file.path).stem: folder / file.path for file in entry.of_role("points")}
    logs: list[DatasetLog] = []
    for file in sorted(entry.of_role("log"), key=lambda file: file.path):
        name, path = PurePosixPath(file.path).stem, folder / file.path
        body, sides = truth.get(name, (None, None))
        known = entry.name, name, path, entry.schema_path, file.sha256
        logs.append(DatasetLog(*known, body, sides, points.get(name)))
    return tuple(logs)


def _truth(dataset: Dataset, folder: Path) -> dict[str, tuple[InertialParameters, Vec3]]:
    """Read reference bodies and the sides of their bounding boxes, by name of the log."""
    bodies: dict[str, tuple[InertialParameters, Vec3]] = {}
    for file in dataset.of_role("truth"):
        text = (folder / file.path).read_text(encoding="utf-8")
        for name, body in json.loads(text).items():
            numbers = body["mass"], body["com_in_sensor"], body["inertia_about_com_in_sensor"]
            sides = seal(body["bounding_box_sides_in_sensor"], f"sides of {name}", (3,))
            bodies[name] = InertialParameters.from_com(*numbers), sides
    return bodies


class JointLayout(BaseModel):
    """Layout of a log of an arm's motors, and its transmission.

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
        torques: τ [Nm], of the motors on the joints, shape (samples, joints), including friction
            and the motors' inertia.
    """

    rate_hz: float
    positions: Array
    torques: Array


def read_joint_log(dataset: str | Dataset) -> JointLog:
    """Read the log of a data set of joint torques.

    Raises:
        DatasetError: as `dataset_path`, or its logs are of wrenches.
    """
    import pandas as pd

    entry = find_dataset(dataset)
    if entry.kind != "joint torque":
        raise DatasetError(
            f"{entry.name}: its logs are of wrenches; identify.catalog.dataset_logs"
            f"({entry.name!r}) lists them"
        )
    folder = dataset_path(entry)
    path = entry.schema_path
    layout = validate(JointLayout, read_toml(path, DatasetError), str(path), DatasetError)
    columns = list(layout.columns)
    positions, torques = (
        pd.read_csv(folder / file, usecols=columns)[columns].to_numpy(float)
        for file in (layout.positions, layout.torques)
    )
    return to_joints(layout, positions, torques)


def to_joints(layout: JointLayout, positions: Array, torques: Array) -> JointLog:
    """Convert motor positions and torques to those of the joints.

    Args:
        layout: the transmission.
        positions: of the motors [rad], shape (samples, motors).
        torques: of the motors [Nm], same shape.
    """
    T, shape = np.array(layout.motor_per_joint), (None, len(layout.columns))
    q = np.linalg.solve(T, positions.T).T + np.array(layout.joint_offset)
    return JointLog(layout.rate_hz, seal(q, "q", shape), seal(torques @ T, "tau", shape))
