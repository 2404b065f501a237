"""Regressor rows that all methods use, and the logs from which they come."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from identify import read_log
from identify.arrays import Array, Indices, Phi, as_array
from identify.exchange import read_parameters
from identify.inertia import InertialParameters
from identify.logs import Noise, Recording, synthetic_recording
from identify.regressors import FEATURE_TENSOR, Statistics, block_statistics
from identify.signals import prepare
from identify.signals.transform import CONSTANT_GROUP

_FOLDER = Path(__file__).resolve().parents[2] / "datasets" / "payload_arm"


@dataclass(frozen=True, slots=True)
class Rows:
    """Stacked rows A φ = b + noise of one log, without the sensor offset.

    Attributes:
        A: regressor, shape (n, 10).
        b: measured force or torque [N, N m], shape (n,).
        channels: channel of each row, 0 to 5 for fx to tz, shape (n,).
        statistics: statistics of the same log with its noise, for this toolkit only.
    """

    A: Array
    b: Array
    channels: Indices
    statistics: Statistics

    @classmethod
    def of(cls, recording: Recording) -> Rows:
        """Return the rows of a log by cosine transform, independent for white noise."""
        prepared = prepare(recording)
        z = np.vstack([block.rows[block.groups != CONSTANT_GROUP] for block in prepared.blocks])
        A = np.tensordot(z[:, 1:13], FEATURE_TENSOR, axes=(-1, 0)).reshape(-1, 10)
        channels = np.tile(np.arange(6), len(z))
        return cls(A, z[:, 13:19].ravel(), channels, block_statistics(prepared))

    def whitened(self) -> tuple[Array, Array]:
        """Return A and b divided by the residual RMS of their channel in a least-squares fit."""
        A, b = self.A, self.b
        for _ in range(3):
            residual = b - A @ np.linalg.lstsq(A, b, rcond=None)[0]
            squares = np.bincount(self.channels, residual**2) / np.bincount(self.channels)
            rms = np.sqrt(squares)[self.channels]
            A, b = A / rms[:, None], b / rms
        return A, b


@dataclass(frozen=True, slots=True)
class Case:
    """Logs of one body with one kind of noise.

    Attributes:
        name: heading of its table.
        description: description of body and noise.
        truth: ten parameters, shape (10,).
        noise: noise of simulated logs; None for the shipped log.
    """

    name: str
    description: str
    truth: Phi
    noise: Noise | None = None

    def logs(self, count: int, seed: int) -> Iterator[Recording]:
        """Yield simulated logs of 20 s at 100 Hz with different motions, or the shipped log."""
        if self.noise is None:
            yield read_log(_FOLDER / "payload_arm.parquet", _FOLDER / "schema.toml")
            return
        for number in range(count):
            yield synthetic_recording(
                self.truth,
                rng=np.random.default_rng([seed, number]),
                duration=20.0,
                rate_hz=100.0,
                noise=self.noise,
                bias=(3.0, -2.0, 4.0, 0.1, 0.2, -0.1),
            )


def cases() -> tuple[Case, ...]:
    """Return the cases of the comparison."""
    tool = InertialParameters.from_com(
        1.5,
        [0.02, 0.015, 0.09],
        np.array([[6.0, -0.5, -0.7], [-0.5, 5.0, 0.7], [-0.7, 0.7, 2.5]]) * 1e-3,
    )
    plate = InertialParameters.from_com(0.4, [0.0, 0.0, 0.06], np.diag([4e-4, 9e-4, 13e-4]))
    shipped = as_array(read_parameters(_FOLDER / "truth.json").phi, "truth", (10,))
    sensor = Noise(force=0.05, torque=0.005)
    coarse = Noise(force=0.5, torque=0.05)
    moving = Noise(position=2e-4, orientation=3e-3, force=0.05, torque=0.005)
    return (
        Case("the shipped log", "A simulated arm with a payload of 1.3 kg.", shipped),
        Case("a tool", "1.5 kg; 0.05 N and 0.005 N m of noise, an exact pose.", tool.phi, sensor),
        Case("a plate", "0.4 kg, flat; 0.5 N and 0.05 N m of noise.", plate.phi, coarse),
        Case(
            "a noisy pose",
            "The tool; 0.2 mm and 3 mrad of noise in the pose, the same noise of the sensor.",
            tool.phi,
            moving,
        ),
    )
