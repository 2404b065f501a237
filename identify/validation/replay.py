"""Replay: the forward simulation regenerates the measured motion from the body and the wrench."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Phi, Vec3, Vec6
from identify.errors import SimulationError
from identify.signals import Segment
from identify.simulation import State, rollout
from identify.spatial.rotations import rotation_angle

HORIZON = 1.0
"""Longest time a window is simulated for [s]."""

MOST_WINDOWS = 200
_MOST_STEPS = 1000
_FEWEST_STEPS = 10
_SAME_RATE = 1e-2


@dataclass(frozen=True, slots=True)
class ReplayErrors:
    """How far the simulated pose is from the measured one, over the time since a window's start.

    Attributes:
        horizon: time since the start of a window [s], shape (k,).
        position: root mean square over windows [m], shape (k,).
        attitude: root mean square over windows [rad], shape (k,).
    """

    horizon: Array
    position: Array
    attitude: Array


@dataclass(frozen=True, slots=True)
class Replay:
    """Replays of the same windows with one or more bodies.

    Attributes:
        windows: how many windows were simulated.
        errors: by name of the body.
        times: time of each replayed sample of the first body [s], shape (windows, k).
        simulated: its positions p_WoBo_W [m], shape (windows, k, 3).
        measured: the measured ones, shape (windows, k, 3).
    """

    windows: int
    errors: Mapping[str, ReplayErrors]
    times: Array
    simulated: Vec3
    measured: Vec3


@dataclass(frozen=True, slots=True)
class _Windows:
    """Windows of one length, stacked: time (w, k), states and wrench (w, k, ·), gravity (w, 3)."""

    step: float
    time: Array
    position: Vec3
    velocity: Vec3
    quaternion: Array
    angular_velocity: Vec3
    wrench: Vec6
    gravity: Vec3


def replay(
    segments: Sequence[tuple[Segment, Vec6]],
    bodies: Mapping[str, Phi],
    *,
    horizon: float = HORIZON,
) -> Replay | None:
    """Simulate windows of a log from their measured first states, all at once.

    Args:
        segments: stretches of the log at full rate, each with the sensor bias to take off.
        bodies: ten parameters by name; the first is also returned as a trajectory.
        horizon: length of a window [s], cut short where a stretch is shorter.

    Returns:
        The errors, or None where no stretch is long enough.

    Raises:
        SimulationError: a body is not possible, or its motion grew beyond all bounds.
    """
    if not bodies:
        raise SimulationError("replay needs at least one body")
    windows = _cut(segments, horizon)
    if windows is None:
        return None
    start = State(
        windows.position[:, 0],
        windows.quaternion[:, 0],
        windows.velocity[:, 0],
        windows.angular_velocity[:, 0],
    )
    # Bodies × windows in one batch.
    path = rollout(
        np.array(list(bodies.values()))[:, None],
        start,
        windows.wrench,
        windows.step,
        windows.gravity,
    )
    distance = np.linalg.norm(path.position - windows.position, axis=-1)
    angle = rotation_angle(windows.quaternion, path.quaternion)
    return Replay(
        windows=len(windows.time),
        errors={
            name: ReplayErrors(path.time, _rms(distance[index]), _rms(angle[index]))
            for index, name in enumerate(bodies)
        },
        times=windows.time,
        simulated=path.position[0],
        measured=windows.position,
    )


def _cut(segments: Sequence[tuple[Segment, Vec6]], horizon: float) -> _Windows | None:
    """Windows one after another over all stretches, thinned to a bounded number.

    Windows step together, so stretches sampled at another rate than the longest are left out.
    """
    longest = max((len(segment.time) for segment, _ in segments), default=0)
    if longest < 2 * _FEWEST_STEPS:
        return None
    step = next(_step(segment) for segment, _ in segments if len(segment.time) == longest)
    segments = [part for part in segments if abs(_step(part[0]) / step - 1.0) < _SAME_RATE]
    stride = max(1, int(np.ceil(horizon / step / _MOST_STEPS)))
    steps = min(round(horizon / (step * stride)), (longest - 1) // (2 * stride))
    if steps < _FEWEST_STEPS:
        return None
    length = steps * stride + 1
    starts = [
        (index, first)
        for index, (segment, _) in enumerate(segments)
        for first in range(0, len(segment.time) - length + 1, length - 1)
    ]
    chosen = np.unique(np.linspace(0, len(starts) - 1, min(len(starts), MOST_WINDOWS)).astype(int))
    parts = [_window(segments[starts[k][0]], starts[k][1], length, stride) for k in chosen]
    time, position, velocity, quaternion, rates, wrench, gravity = (
        np.stack(columns) for columns in zip(*parts, strict=True)
    )
    return _Windows(step * stride, time, position, velocity, quaternion, rates, wrench, gravity)


def _step(segment: Segment) -> float:
    """Time between the samples of a stretch [s]."""
    return float(np.ptp(segment.time)) / max(len(segment.time) - 1, 1)


def _window(part: tuple[Segment, Vec6], first: int, length: int, stride: int) -> tuple[Array, ...]:
    """Columns of one window, in the order of `_Windows` from `time` on."""
    segment, bias = part
    rows = slice(first, first + length, stride)
    wrench = segment.wrench[first : first + length] - bias
    if stride > 1:
        wrench = _average(wrench, stride)
    return (
        segment.time[rows],
        segment.position[rows],
        segment.velocity[rows],
        segment.quaternion[rows],
        segment.angular_velocity[rows],
        wrench,
        segment.gravity,
    )


def _average(wrench: Vec6, stride: int) -> Vec6:
    """Samples every `stride`-th, each the mean of the samples around it."""
    padded = np.pad(wrench, ((stride // 2, stride - stride // 2 - 1), (0, 0)), mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, stride, axis=0)
    return windows.mean(axis=-1)[::stride]


def _rms(values: Array) -> Array:
    return np.sqrt(np.mean(values**2, axis=0))
