"""Chains of transforms between frames, as robots broadcast them (`tf2_msgs/TFMessage`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from identify.arrays import Array, Vec3, Vec4
from identify.errors import LogError, did_you_mean
from identify.spatial.rotations import (
    exp_rotation,
    log_rotation,
    normalised_quaternion,
    quaternion_conjugate,
    quaternion_product,
    rotate,
    rotation_from_quaternion,
)

TF_TYPES = ("tf2_msgs/msg/TFMessage", "tf/msg/tfMessage")

TRANSFORM_COLUMNS = tuple(
    [f"translation.{axis}" for axis in "xyz"] + [f"rotation.{axis}" for axis in "xyzw"]
)

_MAX_LISTED_FRAMES = 40
"""Maximum number of frames listed in a message."""

StampedTransform: TypeAlias = tuple[int, str, str, tuple[float, ...]]
"""Stamp [ns], parent, child, and pose [x, y, z, qx, qy, qz, qw] of the child in the parent."""


class FramePoses(NamedTuple):
    """Poses of a frame in another over time.

    Attributes:
        stamps: of the fastest transform on the way [ns], shape (n,).
        values: [x, y, z, qx, qy, qz, qw], shape (n, 7).
    """

    stamps: NDArray[np.int64]
    values: Array


class _TransformSeries(NamedTuple):
    """Transform between two adjacent frames over time; a static transform has a single row."""

    stamps: NDArray[np.int64]
    values: Array
    static: bool


def read_transform(
    path: Path,
    static: Iterable[StampedTransform],
    moving: Iterable[StampedTransform],
    parent: str,
    child: str,
) -> FramePoses:
    """Compute the pose of `child` in `parent` along the tree of frames.

    Its times are those of the transform on the way that comes most often, within what all of them
    span; the others are interpolated there, along the line and the shortest turn.

    `static`: transforms of which the last one holds; `moving`: transforms, in order of time;
    `parent`: name of the frame that the pose is in; `child`: name of the frame whose pose it is.
    Raises `LogError`: a frame is not there, or none leads to the other.
    """
    series_by_edge = {
        **_series_by_edge(moving, static=False),
        **_series_by_edge(static, static=True),
    }
    up = {below: above for above, below in series_by_edge}
    frames = sorted({frame for edge in series_by_edge for frame in edge})
    for frame in (parent, child):
        if frame not in frames:
            hint = did_you_mean(frame, frames)
            raise LogError(f"{path}: no frame {frame!r}{hint}. {_format_tree(up)}", path=path)
    above, below = _with_ancestors(up, parent), _with_ancestors(up, child)
    common = next((frame for frame in below if frame in above), None)
    if common is None:
        raise LogError(
            f"{path}: no transform leads from {parent!r} to {child!r}: their trees end at "
            f"{above[-1]!r} and {below[-1]!r}. {_format_tree(up)}",
            path=path,
        )
    down = [(up[frame], frame) for frame in below[: below.index(common)]][::-1]
    back = [(up[frame], frame) for frame in above[: above.index(common)]]
    way = [series_by_edge[edge] for edge in (*back, *down)]
    times = [series.stamps for series in way if not series.static]
    if not times:
        raise LogError(
            f"{path}: {child!r} does not move in {parent!r}: all transforms between them are "
            "static. Name frames between which a joint moves",
            path=path,
        )
    first, last = max(t[0] for t in times), min(t[-1] for t in times)
    stamps = max(times, key=len)
    stamps = stamps[(stamps >= first) & (stamps <= last)]
    if not len(stamps):
        raise LogError(
            f"{path}: the transforms from {parent!r} to {child!r} have no time in common", path=path
        )
    p, q = np.zeros((len(stamps), 3)), np.tile([0.0, 0.0, 0.0, 1.0], (len(stamps), 1))
    for number, series in enumerate(way):
        step_p, step_q = _interpolate(series, stamps)
        if number < len(back):
            step_q = quaternion_conjugate(step_q)
            step_p = -rotate(rotation_from_quaternion(step_q), step_p)
        p = p + rotate(rotation_from_quaternion(q), step_p)
        q = quaternion_product(q, step_q)
    return FramePoses(stamps, np.concatenate((p, q), axis=1))


def _series_by_edge(
    edges: Iterable[StampedTransform], *, static: bool
) -> dict[tuple[str, str], _TransformSeries]:
    samples_by_edge: dict[tuple[str, str], tuple[list[int], list[tuple[float, ...]]]] = {}
    for stamp, parent, child, values in edges:
        stamps, rows = samples_by_edge.setdefault((parent, child), ([], []))
        if static:  # the last one holds
            stamps.clear()
            rows.clear()
        stamps.append(stamp)
        rows.append(values)
    series_by_edge = {}
    for edge, (stamps, rows) in samples_by_edge.items():
        order = np.unique(np.array(stamps, dtype=np.int64), return_index=True)[1]
        whole = np.array(rows, dtype=np.float64)[order]
        whole[:, 3:] = normalised_quaternion(whole[:, 3:])
        series_by_edge[edge] = _TransformSeries(
            np.array(stamps, dtype=np.int64)[order], whole, static
        )
    return series_by_edge


def _interpolate(series: _TransformSeries, stamps: NDArray[np.int64]) -> tuple[Vec3, Vec4]:
    """Interpolate translation and quaternion of a transform at given times [ns]."""
    values = series.values
    if series.static:
        whole = np.broadcast_to(values[-1], (len(stamps), 7))
        return whole[:, :3], whole[:, 3:]
    after = np.clip(np.searchsorted(series.stamps, stamps), 1, max(1, len(series.stamps) - 1))
    after = np.minimum(after, len(series.stamps) - 1)
    before = np.maximum(after - 1, 0)
    step = np.maximum(series.stamps[after] - series.stamps[before], 1)
    share = ((stamps - series.stamps[before]) / step)[:, None]
    p = values[before, :3] + share * (values[after, :3] - values[before, :3])
    q = values[before, 3:]
    rotation_step = log_rotation(quaternion_product(quaternion_conjugate(q), values[after, 3:]))
    interpolated = quaternion_product(q, exp_rotation(share * rotation_step))
    is_sample = series.stamps[after] == stamps
    p[is_sample], interpolated[is_sample] = (
        values[after[is_sample], :3],
        values[after[is_sample], 3:],
    )
    return p, interpolated


def _with_ancestors(parents: dict[str, str], frame: str) -> list[str]:
    """Return a frame and its ancestors."""
    line = [frame]
    while (above := parents.get(line[-1])) is not None and above not in line:
        line.append(above)
    return line


def _format_tree(parents: dict[str, str]) -> str:
    """Format the tree of frames on one line."""

    def below(frame: str) -> Iterator[str]:
        children = [child for child, parent in parents.items() if parent == frame]
        inside = ", ".join(text for child in sorted(children) for text in below(child))
        yield f"{frame} ({inside})" if inside else frame

    roots = sorted({above for above in parents.values() if above not in parents})
    if len(parents) > _MAX_LISTED_FRAMES:
        return f"There are {len(parents)} frames below {', '.join(roots)}"
    return f"The tree is {'; '.join(text for root in roots for text in below(root))}"
