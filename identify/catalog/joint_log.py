"""Logs of motor positions and torques, as joint positions and torques."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict, PositiveFloat

from identify.arrays import Array, seal
from identify.catalog.dataset import Dataset, RelativePath
from identify.catalog.holdings import dataset_path
from identify.catalog.registry import find_dataset
from identify.errors import DatasetError


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
    positions: RelativePath
    torques: RelativePath
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
        UnknownDataset, MissingDataset, DamagedDataset: as `dataset_path`.
        DatasetError: its logs are of wrenches.
    """
    found = find_dataset(dataset)
    if found.kind != "joint torque":
        raise DatasetError(
            f"{found.name}: its logs are of wrenches; identify.catalog.dataset_logs"
            f"({found.name!r}) lists them"
        )
    folder = dataset_path(found)
    layout = JointLayout.model_validate(tomllib.loads(found.schema_path.read_text("utf-8")))
    return to_joints(
        layout, _motors(folder / layout.positions, layout), _motors(folder / layout.torques, layout)
    )


def to_joints(layout: JointLayout, positions: Array, torques: Array) -> JointLog:
    """Motor positions and torques as those of the joints.

    Args:
        layout: the transmission.
        positions: of the motors [rad], shape (samples, motors).
        torques: of the motors [Nm], same shape.
    """
    T, count = np.array(layout.motor_per_joint), len(layout.columns)
    return JointLog(
        rate_hz=layout.rate_hz,
        positions=seal(
            np.linalg.solve(T, positions.T).T + np.array(layout.joint_offset), "q", (None, count)
        ),
        torques=seal(torques @ T, "tau", (None, count)),
    )


def _motors(path: Path, layout: JointLayout) -> Array:
    import pandas as pd

    return pd.read_csv(path, usecols=list(layout.columns))[list(layout.columns)].to_numpy(float)
