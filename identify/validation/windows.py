"""Windows of logs to replay: segments of equal length, each begun at a measured state."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, fields

import numpy as np

from identify.arrays import Array, PhiLike, Vec6
from identify.signals import Segment
from identify.simulation import State, Trajectory, fast_rollout
from identify.simulation.checks import Interpolation
from identify.simulation.divergence import Diverged

OffsetSegment = tuple[Segment, Vec6]
"""A segment of a log at full rate, and the sensor offset to take off its wrench."""

MAX_WINDOWS = 200
_MOST_WINDOW_STEPS = 1000
MIN_WINDOW_STEPS = 10
"""Of a window."""
_SAME_STEP_RATE = 1e-2
_SMALL_TURN = 0.1
"""Turn in a step up to which such steps give how motions that differ little differ [rad]."""


@dataclass(frozen=True, slots=True)
class Windows(Segment):
    """Windows of one rate and length, stacked: w of them with k samples each.

    Fields as of a `Segment`, shape (w, k, ·), gravity (w, 3); the wrench is without sensor offset.

    Attributes:
        step: between samples [s].
    """

    step: float


def first_state(states: Segment) -> State:
    """The measured state that a segment, or each of some windows, begins at."""
    return State(
        states.position[..., 0, :],
        states.quaternion[..., 0, :],
        states.velocity[..., 0, :],
        states.angular_velocity[..., 0, :],
    )


def rows_of_segment(segment: Segment, rows: slice) -> Segment:
    """A segment with some of its rows."""
    arrays = [getattr(segment, one.name)[rows] for one in fields(Segment) if one.name != "gravity"]
    return Segment(*arrays, gravity=segment.gravity)


def cut_windows(segments: Sequence[OffsetSegment], horizon: float) -> tuple[Windows, ...]:
    """Windows one after another over all segments, thinned to a bounded number.

    Windows step together, so those of another rate are stacked apart.

    Args:
        segments: at full rate, each with the sensor offset to take off.
        horizon: length of a window [s]; half of the longest segment, where that is less.

    Returns:
        One stack for each sampling rate that has a segment of enough samples.
    """
    groups = _by_rate(segments)
    longest = max((_duration(one) for group in groups for one in group), default=0.0)
    length = min(horizon, 0.5 * longest)
    cuttings = [cutting for group in groups if (cutting := _Cutting.of(group, length)).starts]
    total = sum(len(cutting.starts) for cutting in cuttings)
    return tuple(cutting.stack(MAX_WINDOWS, total) for cutting in cuttings)


def _by_rate(segments: Sequence[OffsetSegment]) -> list[list[OffsetSegment]]:
    """Segments with the same time between samples, to a hundredth."""
    groups: list[list[OffsetSegment]] = []
    for one in sorted((one for one in segments if len(one[0].time) > 1), key=_step):
        if not groups or _step(one) > _step(groups[-1][0]) * (1.0 + _SAME_STEP_RATE):
            groups.append([])
        groups[-1].append(one)
    return groups


@dataclass(frozen=True, slots=True)
class _Cutting:
    """Where windows of one rate begin: segment, sensor offset and first sample."""

    step: float
    stride: int
    samples: int
    starts: Sequence[tuple[Segment, Vec6, int]]

    @classmethod
    def of(cls, segments: Sequence[OffsetSegment], horizon: float) -> _Cutting:
        """The windows of segments of one rate; without a start where none is long enough."""
        step = _step(max(segments, key=lambda one: len(one[0].time)))
        stride = max(1, int(np.ceil(horizon / step / _MOST_WINDOW_STEPS)))
        steps = int(horizon / (step * stride) * (1.0 + 1e-9))
        samples = steps * stride + 1
        starts = [
            (segment, bias, first)
            for segment, bias in (segments if steps >= MIN_WINDOW_STEPS else ())
            for first in range(0, len(segment.time) - samples + 1, samples - 1)
        ]
        return cls(step, stride, samples, starts)

    def stack(self, most: int, total: int) -> Windows:
        """Some of the windows, evenly chosen, in its share of the most there may be of all."""
        count = min(len(self.starts), max(1, most * len(self.starts) // total))
        subset = np.unique(np.linspace(0, len(self.starts) - 1, count).astype(int))
        columns = zip(*(self._window(*self.starts[k]) for k in subset), strict=True)
        return Windows(*(np.stack(column) for column in columns), step=self.step * self.stride)

    def _window(self, segment: Segment, bias: Vec6, first: int) -> tuple[Array, ...]:
        """Columns of one window, in the order of `Segment`."""
        rows = slice(first, first + self.samples, self.stride)
        wrench = segment.wrench[first : first + self.samples] - bias
        if self.stride > 1:
            wrench = averaged(wrench, self.stride)
        return (
            segment.time[rows],
            segment.position[rows],
            segment.velocity[rows],
            segment.quaternion[rows],
            segment.angular_velocity[rows],
            wrench,
            segment.gravity,
        )


def averaged(wrench: Vec6, stride: int) -> Vec6:
    """Samples every `stride`-th, each the mean of the samples around it, (..., n, 6)."""
    count = -(-wrench.shape[-2] // stride)
    before, after = wrench[..., :1, :], wrench[..., -1:, :]
    ends = before.repeat(stride // 2, axis=-2), after.repeat(stride, axis=-2)
    padded = np.concatenate((ends[0], wrench, ends[1]), axis=-2)[..., : count * stride, :]
    return padded.reshape(*wrench.shape[:-2], count, stride, 6).mean(axis=-2)


def neighbouring_motions(
    phi: PhiLike,
    motions: Segment,
    wrench: Vec6,
    step: float,
    interpolation: Interpolation,
    every: int,
) -> Trajectory:
    """Motions that differ little, every so many samples, right in how they differ from each other.

    They are simulated in one step from one such sample to the next, with the wrench averaged, where
    the body turns little in it; otherwise as `fast_rollout` does.

    Args:
        phi: bodies, shape (..., 10), broadcast with the wrenches.
        motions: one, or some windows, that begin at their measured states.
        wrench: shape (..., n, 6).
        step: between samples [s].
        interpolation: the wrench between samples.
        every: samples from one that is kept to the next.

    Raises:
        SimulationError: as `fast_rollout`.
    """
    start, turning = first_state(motions), motions.angular_velocity
    fastest = float(np.sqrt((turning**2).sum(axis=-1).max()))
    if every > 1 and fastest * every * step <= _SMALL_TURN:
        coarse = averaged(wrench, every)
        with suppress(Diverged):  # not so, perhaps, in shorter steps
            return fast_rollout(
                phi, start, coarse, every * step, motions.gravity, interpolation=interpolation
            )
    return fast_rollout(
        phi, start, wrench, step, motions.gravity, interpolation=interpolation, every=every
    )


def _step(one: OffsetSegment) -> float:
    """Time between the samples of a segment [s]."""
    return _duration(one) / max(len(one[0].time) - 1, 1)


def _duration(one: OffsetSegment) -> float:
    return float(np.ptp(one[0].time))
