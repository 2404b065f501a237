"""Single-shot replay: simulation of a whole log from its first state by its wrench."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Mat66, Phi, Vec3, Vec4
from identify.signals import Segment
from identify.simulation import Trajectory, fast_rollout
from identify.simulation.checks import Interpolation
from identify.spatial.rotations import rotation_angle
from identify.validation.noise_growth import require_horizon, single_shot_noise_growth
from identify.validation.windowed_replay import ErrorBand, ReplayErrors, require_bodies
from identify.validation.windows import (
    MIN_WINDOW_STEPS,
    OffsetSegment,
    first_state,
)

_MAX_PATH_SAMPLES = 2000
"""Maximum number of samples in the path of each sampled body."""


@dataclass(frozen=True, slots=True)
class SingleShot:
    """Simulation of one segment of a log from its first state, with one or more bodies.

    Small errors of wrench and body add up over the whole segment, so that it drifts, unlike the
    windows of `Replay`.

    Attributes:
        time: times of the samples [s], shape (n,).
        position: p_WoBo_W of the first body [m], shape (n, 3).
        quaternion: R_WB of the first body, shape (n, 4).
        measured_position: shape (n, 3).
        measured_quaternion: shape (n, 4).
        errors: errors by name of the body, at every sample.
        band: band of the errors of bodies drawn from the estimate; None without samples.
        noise: errors expected from noise of the wrench alone; None if it is unknown.
        ended: whether it ends before its segment, because noise reaches a tenth of the motion.
    """

    time: Array
    position: Vec3
    quaternion: Vec4
    measured_position: Vec3
    measured_quaternion: Vec4
    errors: Mapping[str, ReplayErrors]
    band: ErrorBand | None = None
    noise: ReplayErrors | None = None
    ended: bool = False


def replay_in_one_shot(
    segments: Sequence[OffsetSegment],
    bodies: Mapping[str, Phi],
    *,
    samples: Phi | None = None,
    interpolation: Interpolation = "linear",
    noise: Mat66 | None = None,
) -> SingleShot | None:
    """Simulate the longest segment of the logs from its first measured state to its end.

    If the noise of the wrench is known, it ends at the last time at which the effect of noise alone
    is at most a tenth of the motion.

    Args:
        segments: segments of the logs at full rate, each with its sensor offset to subtract.
        bodies: ten parameters by name; the first is also returned as a trajectory.
        samples: bodies drawn from the estimate for a band, shape (s, 10).
        interpolation: linear interpolation of the wrench, or sample and hold.
        noise: noise of the wrench, as by `wrench_noise`, if known.

    Returns:
        The errors, or None without a segment of two samples.

    Raises:
        SimulationError: a body is not physically consistent, its motion diverges, or noise exceeds
            a tenth of it from the beginning.
    """
    require_bodies(bodies)
    longest = max(segments, key=lambda pair: len(pair[0].time), default=None)
    if longest is None or len(longest[0].time) < 2:
        return None
    segment, bias = longest
    step = float(np.ptp(segment.time)) / (len(segment.time) - 1)
    growth, rows = None, len(segment.time)
    if noise is not None:
        growth = single_shot_noise_growth(
            longest, next(iter(bodies.values())), noise, step, interpolation
        )
        require_horizon(growth, MIN_WINDOW_STEPS * step)
        if growth.horizon < growth.time[-1]:
            rows = min(rows, round(growth.horizon / step) + 1)
            growth = growth.until(growth.horizon)
    ended = rows < len(segment.time)
    segment = segment.select(slice(rows))
    start, wrench = first_state(segment), segment.wrench - bias
    paths = {
        name: fast_rollout(phi, start, wrench, step, segment.gravity, interpolation=interpolation)
        for name, phi in bodies.items()
    }
    band = None
    if samples is not None:
        every = max(1, (len(segment.time) - 1) // _MAX_PATH_SAMPLES)
        drawn = fast_rollout(
            samples, start, wrench, step, segment.gravity, interpolation=interpolation, every=every
        )
        band = ErrorBand.of(_pose_errors(drawn, segment, every))
    first = next(iter(paths.values()))
    return SingleShot(
        time=segment.time,
        position=first.position,
        quaternion=first.quaternion,
        measured_position=segment.position,
        measured_quaternion=segment.quaternion,
        errors={name: _pose_errors(path, segment) for name, path in paths.items()},
        band=band,
        noise=growth and ReplayErrors(growth.time, growth.position, growth.attitude),
        ended=ended,
    )


def _pose_errors(path: Trajectory, segment: Segment, every: int = 1) -> ReplayErrors:
    """Return the pose errors of a path at every `every`-th sample of a segment."""
    return ReplayErrors(
        path.time,
        np.linalg.norm(path.position - segment.position[::every], axis=-1),
        rotation_angle(segment.quaternion[::every], path.quaternion),
    )
