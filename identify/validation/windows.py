"""Windows of logs for replay: segments of equal length, each starting at a measured state."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace

import numpy as np

from identify.arrays import PhiLike, Vec6
from identify.signals import Segment
from identify.simulation import State, Trajectory, fast_rollout
from identify.simulation.checks import Diverged, Interpolation

OffsetSegment = tuple[Segment, Vec6]
"""Segment of a log at full rate, and the sensor offset to subtract from its wrench."""

MAX_WINDOWS = 200
"""Maximum number of windows of a replay."""
_MAX_WINDOW_STEPS = 1000
"""Maximum number of steps of a window."""
MIN_WINDOW_STEPS = 10
"""Minimum number of steps of a window."""
_STEP_TOLERANCE = 1e-2
"""Relative difference of time steps up to which segments have the same rate."""
_MAX_LINEAR_ROTATION = 0.1
"""Rotation per step up to which differences of neighbouring motions are accurate [rad]."""


@dataclass(frozen=True, slots=True)
class Windows(Segment):
    """Stacked windows of one rate and length: w windows with k samples each.

    Fields as of a `Segment`, shape (w, k, ·), gravity (w, 3); the wrench is without sensor offset.

    Attributes:
        step: time between samples [s].
    """

    step: float


def first_state(states: Segment) -> State:
    """Return the measured first state of a segment, or of each window of a stack."""
    return State(
        states.position[..., 0, :],
        states.quaternion[..., 0, :],
        states.velocity[..., 0, :],
        states.angular_velocity[..., 0, :],
    )


def cut_windows(segments: Sequence[OffsetSegment], horizon: float) -> tuple[Windows, ...]:
    """Cut all segments into consecutive windows, thinned to a bounded number.

    Windows are simulated in one batch per sampling rate, so each rate has its own stack.

    `horizon`: length of a window [s]; at most half of the longest segment.
    Each segment comes with its sensor offset, which is to be subtracted.
    """
    groups = _group_by_rate(segments)
    longest = max((_duration(pair) for group in groups for pair in group), default=0.0)
    length = min(horizon, 0.5 * longest)
    cuttings = [cutting for group in groups if (cutting := _WindowStarts.of(group, length)).starts]
    total = sum(len(cutting.starts) for cutting in cuttings)
    return tuple(cutting.stack(MAX_WINDOWS, total) for cutting in cuttings)


def _group_by_rate(segments: Sequence[OffsetSegment]) -> list[list[OffsetSegment]]:
    """Group segments whose time steps are equal within a hundredth."""
    groups: list[list[OffsetSegment]] = []
    for pair in sorted((pair for pair in segments if len(pair[0].time) > 1), key=_step):
        if not groups or _step(pair) > _step(groups[-1][0]) * (1.0 + _STEP_TOLERANCE):
            groups.append([])
        groups[-1].append(pair)
    return groups


@dataclass(frozen=True, slots=True)
class _WindowStarts:
    """Starts of windows of one rate: segment, sensor offset and first sample of each."""

    step: float
    stride: int
    samples: int
    starts: Sequence[tuple[Segment, Vec6, int]]

    @classmethod
    def of(cls, segments: Sequence[OffsetSegment], horizon: float) -> _WindowStarts:
        """Place windows in segments of one rate; no start if no segment is long enough."""
        step = _step(max(segments, key=lambda pair: len(pair[0].time)))
        stride = max(1, int(np.ceil(horizon / step / _MAX_WINDOW_STEPS)))
        steps = int(horizon / (step * stride) * (1.0 + 1e-9))
        samples = steps * stride + 1
        starts = [
            (segment, bias, first)
            for segment, bias in (segments if steps >= MIN_WINDOW_STEPS else ())
            for first in range(0, len(segment.time) - samples + 1, samples - 1)
        ]
        return cls(step, stride, samples, starts)

    def stack(self, max_windows: int, total_windows: int) -> Windows:
        """Stack evenly spaced windows, so many that all rates together have `max_windows`."""
        count = min(len(self.starts), max(1, max_windows * len(self.starts) // total_windows))
        subset = np.unique(np.linspace(0, len(self.starts) - 1, count).astype(int))
        windows = [self._window(*self.starts[k]) for k in subset]
        stacks = (np.stack([getattr(w, field.name) for w in windows]) for field in fields(Segment))
        return Windows(*stacks, step=self.step * self.stride)

    def _window(self, segment: Segment, bias: Vec6, first: int) -> Segment:
        wrench = segment.wrench[first : first + self.samples] - bias
        if self.stride > 1:
            wrench = block_means(wrench, self.stride)
        window = segment.select(slice(first, first + self.samples, self.stride))
        return replace(window, wrench=wrench)


def block_means(wrench: Vec6, stride: int) -> Vec6:
    """Return every `stride`-th sample as the mean of the samples around it, (..., n, 6)."""
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
    """Simulate motions of slightly different bodies, at every `every`-th sample.

    Their differences are accurate. If the body turns little between such samples, they are
    simulated in one step, with the wrench averaged; otherwise by `fast_rollout` at full rate.
    Windows begin at their measured states.

    `phi`: bodies, shape (..., 10), broadcast with the wrenches; `wrench`: shape (..., n, 6);
    `step`: time between samples [s].
    Raises `SimulationError`: as `fast_rollout`.
    """
    start, turning = first_state(motions), motions.angular_velocity
    fastest = float(np.sqrt((turning**2).sum(axis=-1).max()))
    if every > 1 and fastest * every * step <= _MAX_LINEAR_ROTATION:
        coarse = block_means(wrench, every)
        with suppress(Diverged):  # shorter steps may not diverge
            return fast_rollout(
                phi, start, coarse, every * step, motions.gravity, interpolation=interpolation
            )
    return fast_rollout(
        phi, start, wrench, step, motions.gravity, interpolation=interpolation, every=every
    )


def _step(segment: OffsetSegment) -> float:
    """Return the time between the samples of a segment [s]."""
    return _duration(segment) / max(len(segment[0].time) - 1, 1)


def _duration(segment: OffsetSegment) -> float:
    return float(np.ptp(segment[0].time))
