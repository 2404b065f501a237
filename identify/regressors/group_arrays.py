"""The equations of all groups of channels as arrays: ragged axes are padded with zeros.

Rows are [B | B0] over [−x; 1], one for each channel. A row that is zero adds nothing to any sum, so
padding is never looked at; weights are one on the diagonal of channels that a group does not have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from identify.arrays import Array, Flags, Indices
from identify.regressors.equations import Equations
from identify.regressors.statistics import Group, Statistics

ScalarT = TypeVar("ScalarT", bound=np.generic)


@dataclass(frozen=True, eq=False, slots=True)
class OffsetRows:
    """The rows on which fitted offsets act: r = row · [−x; 1] − constant · offset.

    Attributes:
        rows: of each offset, shape (offsets, r, m, p + 1).
        constant: the constant in them; zero where there is no row, shape (offsets, r).
        group: whose weight they have, shape (offsets, r).
        sensor: of each offset, shape (offsets,).
        of_log: number of the offset of each log and sensor; −1 where none is fitted, shape
            (logs, sensors).
        shown: which of the sensors' channels, m for each sensor, are those of a log's own sensors,
            others last, shape (logs, widest).
    """

    rows: Array
    constant: Array
    group: Indices
    sensor: Indices
    of_log: Indices
    shown: Indices

    def __len__(self) -> int:
        """How many offsets there are."""
        return len(self.rows)


@dataclass(frozen=True, eq=False, slots=True)
class GroupArrays:
    """The equations of the G groups of a system that have samples.

    Attributes:
        groups: of the layouts.
        rows: those that no offset acts on, shape (G, m, n, p + 1).
        noise: rows of the noise in all samples, shape (G, m, l, p + 1).
        samples, effective_samples: over all logs, shape (G,).
        channels: which of the m channels each group has, shape (G, m).
        kinds: which of its channels are of one kind, for up to K kinds, shape (G, K, m).
        kind: number of each kind's name; −1 where a group has fewer, shape (G, K).
        sensors: groups of equal channels, such as the bands of frequency of one sensor, which have
            one offset; −1 where a sensor has fewer, shape (sensors, most).
        offsets: the rows that offsets act on.
    """

    groups: tuple[Group, ...]
    rows: Array
    noise: Array
    samples: Array
    effective_samples: Array
    channels: Flags
    kinds: Flags
    kind: Indices
    sensors: Indices
    offsets: OffsetRows

    @property
    def offset_leverage(self) -> Array:
        """Effective samples that the offsets take of each group, shape (G,)."""
        squares = self.offsets.constant**2
        shares = squares / squares.sum(axis=1, keepdims=True)
        counts = np.bincount(self.offsets.group.ravel(), shares.ravel(), len(self.groups))
        return counts.astype(np.float64)

    @property
    def wrench_noise(self) -> Array:
        """Covariance that noise of what was measured gives the residuals, shape (G, m, m)."""
        rows = self.noise[..., -1]
        return rows @ rows.swapaxes(-1, -2) / self.effective_samples[:, None, None]

    @property
    def sensor(self) -> Indices:
        """The sensor of each group, shape (G,)."""
        numbers = np.empty(len(self.groups), dtype=np.intp)
        rows, columns = np.nonzero(self.sensors >= 0)
        numbers[self.sensors[rows, columns]] = rows
        return numbers

    @classmethod
    def of(cls, data: Sequence[tuple[Statistics, Equations]], members: Indices) -> GroupArrays:
        """The arrays of some statistics with their equations.

        Args:
            data: all of one parameter space.
            members: number of the statistics, and there of the group, shape (G, 2).
        """
        of_data = [
            _Part.of(*pair, members[members[:, 0] == number, 1], m=_most_channels(data))
            for number, pair in enumerate(data)
        ]
        groups = tuple(data[d][0].layout.groups[g] for d, g in members.tolist())
        first = np.cumsum([0, *(len(part.rows) for part in of_data)])
        sensors = [
            start + np.array(sensor)
            for part, start in zip(of_data, first.tolist(), strict=False)
            for sensor in part.sensors
        ]
        channels, kinds, kind = _kinds(groups)
        return cls(
            groups=groups,
            rows=_joined([part.rows for part in of_data]),
            noise=_joined([part.noise for part in of_data]),
            samples=np.concatenate([part.samples for part in of_data]),
            effective_samples=np.concatenate([part.effective_samples for part in of_data]),
            channels=channels,
            kinds=kinds,
            kind=kind,
            sensors=_joined([sensor[None] for sensor in sensors], fill=-1),
            offsets=_offsets(of_data, first, channels[[sensor[0] for sensor in sensors]]),
        )


class _Offset(NamedTuple):
    """Rows of one sensor's offsets, with the logs each is of, shape (offsets, logs)."""

    rows: Array
    constant: Array
    group: Indices
    sensor: int
    of_log: Indices


class _Part(NamedTuple):
    """What `GroupArrays` has of one statistics, groups and sensors counted from zero."""

    rows: Array
    noise: Array
    samples: Array
    effective_samples: Array
    sensors: list[list[int]]
    offsets: list[_Offset]
    logs: int

    @classmethod
    def of(cls, statistics: Statistics, equations: Equations, groups: Indices, m: int) -> _Part:
        fit, has_constant = statistics.layout.fit, statistics.layout.has_constant
        factors = np.array(statistics.totals[:, groups, :fit, :fit])
        noise = statistics.noise_rows[:, groups, :, :fit]
        sensors: dict[tuple[str, ...], list[int]] = {}
        for number, g in enumerate(groups.tolist()):
            sensors.setdefault(statistics.layout.groups[g].channels, []).append(number)
        constant = np.zeros(factors.shape[:2])
        if has_constant and equations.offsets != "none":
            constant = factors[..., 0, 0].copy()
        first = factors[..., 0, :] * (constant != 0.0)[..., None]
        factors[constant != 0.0, 0] = 0.0
        rows, noises = [], []
        acted_on = np.zeros((*constant.shape, m, 1 + len(equations.space)))
        for logs, C in coefficients(equations, len(statistics.logs), groups.tolist(), m):
            rows.append(_through(factors[logs], C))
            noises.append(_through(noise[logs], C))
            if constant.any():
                acted_on[logs] = np.einsum("lgk,gkmq->lgmq", first[logs], C)
        return cls(
            rows=np.concatenate(rows, axis=2),
            noise=np.concatenate(noises, axis=2),
            samples=statistics.samples_of_groups[:, groups].sum(axis=0),
            effective_samples=statistics.effective_samples_of_groups[:, groups].sum(axis=0),
            sensors=list(sensors.values()),
            offsets=[
                _offset_rows(
                    number, sensor, constant, acted_on, shared=equations.offsets == "shared"
                )
                for number, sensor in enumerate(sensors.values())
                if constant[:, sensor].any()
            ],
            logs=len(statistics.logs),
        )


def coefficients(
    equations: Equations, logs: int, groups: Sequence[int], m: int
) -> list[tuple[list[int], Array]]:
    """Logs of the same equations, and these: [B | B0] of each group, (G, fit, m, p + 1)."""
    alike: dict[tuple[object, ...], list[int]] = {}
    for log in range(logs):
        alike.setdefault(tuple(equations.same_as(log, g) for g in groups), []).append(log)
    return [(same, _of_groups(equations, same[0], groups, m)) for same in alike.values()]


def _of_groups(equations: Equations, log: int, groups: Sequence[int], m: int) -> Array:
    """[B | B0] of each group, made once where groups are of the same equations."""
    made: dict[object, Array] = {}
    for g in groups:
        key = equations.same_as(log, g)
        if key not in made:
            residual = equations.residual(log, g)
            fit, own, q = residual.shape
            made[key] = np.zeros((fit, m, q))
            made[key][:, :own, :-1], made[key][:, :own, -1] = residual[..., 1:], residual[..., 0]
    return np.array([made[equations.same_as(log, g)] for g in groups])


def _most_channels(data: Sequence[tuple[Statistics, Equations]]) -> int:
    return max(len(group.channels) for statistics, _ in data for group in statistics.layout.groups)


def _through(factors: Array, C: Array) -> Array:
    """Rows of z of several logs as rows of [−x; 1], with as few of them as there are columns.

    Args:
        factors: shape (logs, G, n, fit).
        C: coefficients, shape (G, fit, m, p + 1).

    Returns:
        Shape (G, m, n', p + 1); none where all are zero.
    """
    G, fit, m, q = C.shape
    stacked = factors.swapaxes(0, 1).reshape(G, -1, fit)
    if not stacked.any():
        return np.zeros((G, m, 0, q))
    if stacked.shape[1] > fit:
        stacked = np.linalg.qr(stacked, mode="r")
    rows = (stacked @ C.reshape(G, fit, -1)).reshape(G, -1, m, q)
    return np.ascontiguousarray(rows.swapaxes(1, 2))


def _offset_rows(
    number: int, sensor: list[int], constant: Array, acted_on: Array, *, shared: bool
) -> _Offset:
    """The rows of a sensor's offsets: one offset a log, or one in all of them."""
    logs = len(constant)
    of_log = np.arange(logs)
    group = np.broadcast_to(np.array(sensor), (logs, len(sensor)))
    if shared:
        constants, rows = constant[:, sensor].reshape(1, -1), acted_on[:, sensor]
        rows, group = rows.reshape(1, -1, *rows.shape[2:]), group.reshape(1, -1)
        of_log = np.zeros(logs, dtype=np.intp)
    else:
        fitted = constant[:, sensor].any(axis=1)
        constants, rows = constant[fitted][:, sensor], acted_on[fitted][:, sensor]
        group = group[fitted]
        of_log = np.where(fitted, np.cumsum(fitted) - 1, -1)
    # Rows without a constant come last, and the most any offset has are kept.
    most = int((constants != 0.0).sum(axis=1).max())
    order = np.argsort(constants == 0.0, axis=1, kind="stable")[:, :most]
    kept = np.arange(len(order))[:, None], order
    return _Offset(rows[kept], constants[kept], group[kept], number, of_log)


def _offsets(parts: Sequence[_Part], first: Indices, channels: Flags) -> OffsetRows:
    """Those of all statistics, groups and sensors counted through.

    Args:
        parts: of each statistics.
        first: its first group.
        channels: which of the m channels each sensor has, shape (sensors, m).
    """
    _, m, _, q = parts[0].rows.shape
    logs = sum(part.logs for part in parts)
    of_log, own = np.full((logs, len(channels)), -1), np.zeros((logs, *channels.shape), np.bool_)
    rows: list[Array] = [np.zeros((0, 1, m, q))]
    constant: list[Array] = [np.zeros((0, 1))]
    group: list[Indices] = [np.zeros((0, 1), np.intp)]
    sensor: list[Indices] = [np.zeros(0, np.intp)]
    log, at, before = 0, 0, 0
    for part, start in zip(parts, first.tolist(), strict=False):
        mine = slice(log, log + part.logs)
        own[mine, at : at + len(part.sensors)] = channels[at : at + len(part.sensors)]
        for offset in part.offsets:
            rows.append(offset.rows)
            constant.append(offset.constant)
            group.append(start + offset.group)
            sensor.append(np.full(len(offset.rows), at + offset.sensor))
            numbers = np.where(offset.of_log < 0, -1, before + offset.of_log)
            of_log[mine, at + offset.sensor] = numbers
            before += len(offset.rows)
        log, at = log + part.logs, at + len(part.sensors)
    own = own.reshape(logs, -1)
    return OffsetRows(
        rows=_joined(rows),
        constant=_joined(constant),
        group=_joined(group),
        sensor=np.concatenate(sensor),
        of_log=of_log,
        shown=np.argsort(~own, axis=1, kind="stable")[:, : int(own.sum(axis=1).max())],
    )


def _joined(parts: Sequence[NDArray[ScalarT]], *, fill: int = 0) -> NDArray[ScalarT]:
    """Arrays one after the other along their first axis, others padded to the largest."""
    sizes = [part.shape[1:] for part in parts]
    largest = tuple(map(max, zip(*sizes, strict=True)))
    if all(size == largest for size in sizes):
        return np.concatenate(parts)
    joined = np.full((sum(map(len, parts)), *largest), fill, dtype=parts[0].dtype)
    start = 0
    for part in parts:
        window = (slice(start, start + len(part)), *(slice(0, n) for n in part.shape[1:]))
        joined[window] = part
        start += len(part)
    return joined


@lru_cache(maxsize=256)
def _kinds(groups: tuple[Group, ...]) -> tuple[Flags, Flags, Indices]:
    """Channels that each group has, and those of each kind, in order of the first; their names."""
    channels = _joined([np.ones((1, len(group.channels)), np.bool_) for group in groups])
    names = list(dict.fromkeys(kind for group in groups for kind in group.kinds))
    flags, numbers = [], []
    for group in groups:
        own = list(dict.fromkeys(group.kinds))
        flags.append(np.array([np.array(group.kinds) == kind for kind in own])[None])
        numbers.append(np.array([[names.index(kind) for kind in own]]))
    found = channels, _joined(flags), _joined(numbers, fill=-1)
    for array in found:
        array.flags.writeable = False
    return found
