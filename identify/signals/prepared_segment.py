"""`PreparedSegment`: a segment of a log, differentiated and in body axes, and its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from identify.arrays import Array, Vec3
from identify.logs import Recording
from identify.signals.differentiator import Differentiator
from identify.signals.imu_calibration import ImuCalibration
from identify.signals.prepared_log import BlockRows, FullRateSegment, Segment
from identify.signals.segment_kinematics import BodyAxes, Samples
from identify.signals.segments import EvenSegment
from identify.signals.transform import block_edges, block_transform
from identify.signals.white_noise import SignalNoise, noise_moments, rate_product_bias
from identify.spatial import rotation_from_quaternion
from identify.spatial.columns import (
    COLUMN_COUNT,
    FEATURES,
    FIT_COLUMN_COUNT,
    POSITION,
    RATE_PRODUCTS,
    WRENCH,
    columns_of_part,
)
from identify.spatial.rotations import rotate_back

_SERIES_POINTS_PER_PERIOD = 4.0
"""Points of a log's time series per period of the cut-off frequency."""


@dataclass(frozen=True, slots=True)
class PreparedSegment:
    """Segment in body axes at full rate: its columns z, with the signals' samples and their noise.

    `core` is the range of the samples that become rows; the others serve derivatives.
    """

    segment: EvenSegment
    time: Array
    columns: Array
    samples: Samples
    noise: SignalNoise
    cutoff_hz: float
    core: slice

    def __len__(self) -> int:
        return self.core.stop - self.core.start

    def full_rate(self) -> FullRateSegment:
        """Return the samples of the segment's core at full rate."""
        lost = self.samples.half_window
        core = self.core
        attitude = self.samples.quaternion
        return FullRateSegment(
            time=self.time[core],
            signals={
                name: values[lost + core.start : lost + core.stop]
                for name, values in self.segment.signals.items()
            },
            columns=self.columns[core, :FIT_COLUMN_COUNT],
            rotation=None if attitude is None else rotation_from_quaternion(attitude[core]),
            rate_hz=self.segment.rate_hz,
            cutoff_hz=self.cutoff_hz,
        )

    def blocks(self, edges: Sequence[int]) -> list[BlockRows]:
        """Return rows of the blocks between edges [samples], the IMU fused with other signals."""
        blocks = self.block_rows(edges)
        if not self.samples.in_body.has_redundant_imu:
            return blocks
        from identify.signals.imu import fuse_imu

        return [fuse_imu(block) for block in blocks]

    def block_rows(self, edges: Sequence[int]) -> list[BlockRows]:
        """Return rows of the blocks between edges, with redundant IMU columns appended."""
        first, is_tapered = self.core.start, self.samples.half_window > 0
        parts = [
            (
                block_transform(b - a, self.segment.rate_hz, self.cutoff_hz, tapered=is_tapered),
                slice(first + a, first + b),
            )
            for a, b in pairwise(edges)
        ]
        bias = rate_product_bias(self.noise, self.samples.differentiator)
        moments = noise_moments(self.samples, self.noise, parts)
        blocks = []
        for (transform, part), noise in zip(parts, moments, strict=True):
            rows = transform.apply(self.columns[part])
            rows[0, columns_of_part(RATE_PRODUCTS, FEATURES)] -= rows[0, 0] * bias
            share = transform.effective_fraction
            blocks.append(BlockRows(rows, transform.groups, noise, transform.length, share))
        return blocks

    def averaged_columns(self) -> tuple[Array, Array]:
        """Return time and columns as means over a fraction of the cut-off's period."""
        step = max(1, round(self.segment.rate_hz / (_SERIES_POINTS_PER_PERIOD * self.cutoff_hz)))
        step = min(step, len(self))
        count = len(self) // step
        full = slice(self.core.start, self.core.start + count * step)
        width = COLUMN_COUNT if self.samples.wide else FIT_COLUMN_COUNT
        columns = self.columns[full, :width].reshape(count, -1, width).mean(axis=1)
        return self.time[full].reshape(count, -1).mean(axis=1), columns

    def states(self) -> Segment | None:
        """Return the motion at full rate; None if pose or velocity is missing."""
        samples = self.samples
        quaternion = samples.quaternion
        position = samples.position
        velocity = samples.velocity
        if quaternion is None or position is None or velocity is None:
            return None
        return Segment(
            time=self.time,
            position=position,
            velocity=velocity,
            quaternion=quaternion,
            angular_velocity=samples.in_body.angular_velocity,
            wrench=self.columns[:, WRENCH].copy(),
            gravity=samples.recording.gravity,
        )


def differentiate_segment(
    recording: Recording,
    imu: ImuCalibration,
    segment: EvenSegment,
    noise: SignalNoise,
    cutoff_hz: float,
    span: tuple[float, float],
    *,
    wide: bool,
) -> PreparedSegment:
    """Differentiate the signals of a segment and form its columns in body axes.

    `recording`: the log on one clock, for frames and gravity; `imu`: calibration of its inertial
    measurement unit; `noise`: of its signals; `cutoff_hz`: highest frequency of the rows [Hz];
    `span`: time of the samples that become rows [s].
    """
    differentiator = Differentiator.design(segment.rate_hz, cutoff_hz)
    samples = Samples(recording, segment.signals, differentiator, imu, wide=wide)
    time = segment.time[samples.half_window : len(segment) - samples.half_window]
    columns = form_columns(samples.in_body, time, samples.position if wide else None, wide=wide)
    return PreparedSegment(
        segment=segment,
        time=time,
        columns=columns,
        samples=samples,
        noise=noise,
        cutoff_hz=cutoff_hz,
        core=slice(*np.searchsorted(time, span).tolist()),
    )


def form_columns(axes: BodyAxes, time: Array, position: Vec3 | None, *, wide: bool) -> Array:
    """Form the columns [1, features ψ, wrench w], shape (n, 19), or with Rᵀ, ẇ, ẅ, Rᵀp, (n, 43).

    `axes`: quantities of the samples in body axes; `position`: p_WoBo_W, for the last of the wide
    columns.
    """
    columns = np.zeros((len(time), 1 + axes.width(wide=wide)))
    columns[:, 0] = 1.0
    for columns_slice, values in axes.column_blocks(wide=wide):
        columns[:, 1 + columns_slice.start : 1 + columns_slice.stop] = values
    if wide and position is not None and "quaternion" in axes.given:
        columns[:, POSITION] = rotate_back(axes.rotation, position)
    return columns


def all_blocks(parts: Sequence[PreparedSegment]) -> list[BlockRows]:
    """Return rows of all blocks of whole segments, not cores alone, with redundant IMU columns."""
    blocks: list[BlockRows] = []
    for part in parts:
        full = replace(part, core=slice(0, len(part.columns)))
        blocks += full.block_rows(block_edges(len(part.columns), part.segment.rate_hz))
    return blocks
