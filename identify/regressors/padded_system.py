"""Equations of all groups of channels as arrays of equal size, padded with zeros.

Rows are [B | B0] over [−x; 1], one for each channel. A zero row adds nothing to any sum, so padding
needs no mask; weights are one on the diagonal of channels that a group does not have.
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
from identify.regressors.statistics import ChannelGroup, Statistics

ScalarT = TypeVar("ScalarT", bound=np.generic)


@dataclass(frozen=True, eq=False, slots=True)
class OffsetRows:
    """Equation rows on which fitted sensor offsets act.

    Residuals are r = row · [−x; 1] − constant · offset, with the unknowns x.

    Attributes:
        rows: rows of each offset, shape (offsets, r, m, p + 1).
        constant: value of the constant column in each row; zero for padding, shape (offsets, r).
        group: group whose weight each row has, shape (offsets, r).
        sensor: sensor of each offset, shape (offsets,).
        offset_number: number of the offset of each log and sensor; −1 where none is fitted, shape
            (logs, sensors).
        channel_order: channel numbers (m for each sensor) with the channels that a log has first,
            shape (logs, widest).
    """

    rows: Array
    constant: Array
    group: Indices
    sensor: Indices
    offset_number: Indices
    channel_order: Indices

    def __len__(self) -> int:
        """Return the number of offsets."""
        return len(self.rows)


@dataclass(frozen=True, eq=False, slots=True)
class PaddedSystem:
    """Equations of the G groups of channels that have samples, as padded arrays.

    Attributes:
        groups: groups of the layouts, in order.
        rows: rows that no offset acts on, shape (G, m, n, p + 1).
        noise: rows of the noise in all samples, shape (G, m, l, p + 1).
        samples, effective_samples: totals over all logs, shape (G,).
        channels: which of the m channels each group has, shape (G, m).
        channels_of_quantity: channels of each of K quantities (force, torque), shape (G, K, m).
        quantity_ids: number of the name of each quantity; −1 where a group has fewer, shape (G, K).
        sensors: groups of each sensor, such as its frequency bands, which share an offset; −1 where
            a sensor has fewer, shape (sensors, most).
        offsets: rows that offsets act on.
    """

    groups: tuple[ChannelGroup, ...]
    rows: Array
    noise: Array
    samples: Array
    effective_samples: Array
    channels: Flags
    channels_of_quantity: Flags
    quantity_ids: Indices
    sensors: Indices
    offsets: OffsetRows

    @property
    def offset_leverage(self) -> Array:
        """Effective samples of each group that fitted sensor offsets use up, shape (G,)."""
        squares = self.offsets.constant**2
        shares = squares / squares.sum(axis=1, keepdims=True)
        counts = np.bincount(self.offsets.group.ravel(), shares.ravel(), len(self.groups))
        return counts.astype(np.float64)

    @property
    def wrench_noise(self) -> Array:
        """Covariance of the residuals from noise of the measured wrench, shape (G, m, m)."""
        rows = self.noise[..., -1]
        return rows @ rows.swapaxes(-1, -2) / self.effective_samples[:, None, None]

    @property
    def sensor(self) -> Indices:
        """Index of the sensor of each group, shape (G,)."""
        numbers = np.empty(len(self.groups), dtype=np.intp)
        rows, columns = np.nonzero(self.sensors >= 0)
        numbers[self.sensors[rows, columns]] = rows
        return numbers

    @classmethod
    def of(cls, data: Sequence[tuple[Statistics, Equations]], group_index: Indices) -> PaddedSystem:
        """Compute the equations of several logs, padded to common sizes so that they form a batch.

        `group_index`: number of the statistics, and of the group in them, shape (G, 2).
        """
        m = max(len(g.channels) for statistics, _ in data for g in statistics.layout.groups)
        arrays = [
            _StatisticsArrays.of(*pair, group_index[group_index[:, 0] == number, 1], m=m)
            for number, pair in enumerate(data)
        ]
        groups = tuple(data[d][0].layout.groups[g] for d, g in group_index.tolist())
        first_groups = np.cumsum([0, *(len(part.rows) for part in arrays)])
        sensors = [
            start + np.array(sensor)
            for part, start in zip(arrays, first_groups.tolist(), strict=False)
            for sensor in part.sensors
        ]
        channels, quantities, quantity_ids = _channel_quantities(groups)
        return cls(
            groups=groups,
            rows=_concatenate_padded([part.rows for part in arrays]),
            noise=_concatenate_padded([part.noise for part in arrays]),
            samples=np.concatenate([part.samples for part in arrays]),
            effective_samples=np.concatenate([part.effective_samples for part in arrays]),
            channels=channels,
            channels_of_quantity=quantities,
            quantity_ids=quantity_ids,
            sensors=_concatenate_padded([sensor[None] for sensor in sensors], fill=-1),
            offsets=_join_offsets(arrays, first_groups, channels[[each[0] for each in sensors]]),
        )


class _SensorOffsets(NamedTuple):
    """Rows on which the fitted offsets of one sensor act, as in `OffsetRows`."""

    rows: Array
    constant: Array
    group: Indices
    sensor: int
    offset_number: Indices


class _StatisticsArrays(NamedTuple):
    """Equations of one `Statistics` as arrays; groups and sensors are counted from zero."""

    rows: Array
    noise: Array
    samples: Array
    effective_samples: Array
    sensors: list[list[int]]
    offsets: list[_SensorOffsets]
    logs: int

    @classmethod
    def of(
        cls, statistics: Statistics, equations: Equations, groups: Indices, m: int
    ) -> _StatisticsArrays:
        fit, has_constant = statistics.layout.fit, statistics.layout.has_constant
        factors = np.array(statistics.total_factors[:, groups, :fit, :fit])
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
        for logs, C in coefficients_by_log(equations, len(statistics.logs), groups.tolist(), m):
            rows.append(_apply_equations(factors[logs], C))
            noises.append(_apply_equations(noise[logs], C))
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


def coefficients_by_log(
    equations: Equations, logs: int, groups: Sequence[int], m: int
) -> list[tuple[list[int], Array]]:
    """Compute the coefficients [B | B0] of each group, once for logs with equal equations.

    Given are indices of the logs, and coefficients, shape (G, fit, m, p + 1), of each set.
    """
    logs_by_key: dict[tuple[object, ...], list[int]] = {}
    for log in range(logs):
        logs_by_key.setdefault(tuple(equations.equation_key(log, g) for g in groups), []).append(
            log
        )
    return [
        (same, _group_coefficients(equations, same[0], groups, m)) for same in logs_by_key.values()
    ]


def _group_coefficients(equations: Equations, log: int, groups: Sequence[int], m: int) -> Array:
    """Compute [B | B0] of the residual z · (B0 − B x) of each group, once for equal equations."""
    by_key: dict[object, Array] = {}
    for g in groups:
        key = equations.equation_key(log, g)
        if key not in by_key:
            residual = equations.residual_coefficients(log, g)
            fit, channels, q = residual.shape
            by_key[key] = np.zeros((fit, m, q))
            by_key[key][:, :channels, :-1], by_key[key][:, :channels, -1] = (
                residual[..., 1:],
                residual[..., 0],
            )
    return np.array([by_key[equations.equation_key(log, g)] for g in groups])


def _apply_equations(factors: Array, C: Array) -> Array:
    """Multiply rows of logs by coefficients [B | B0], and reduce the products by QR.

    `factors`: shape (logs, G, n, fit); `C`: coefficients, shape (G, fit, m, p + 1).
    Shape (G, m, n', p + 1); n' = 0 if all factors are zero.
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
) -> _SensorOffsets:
    """Collect the rows of a sensor's offsets: one offset per log, or one shared by all."""
    logs = len(constant)
    offset_number = np.arange(logs)
    group = np.broadcast_to(np.array(sensor), (logs, len(sensor)))
    if shared:
        constants, rows = constant[:, sensor].reshape(1, -1), acted_on[:, sensor]
        rows, group = rows.reshape(1, -1, *rows.shape[2:]), group.reshape(1, -1)
        offset_number = np.zeros(logs, dtype=np.intp)
    else:
        fitted = constant[:, sensor].any(axis=1)
        constants, rows = constant[fitted][:, sensor], acted_on[fitted][:, sensor]
        group = group[fitted]
        offset_number = np.where(fitted, np.cumsum(fitted) - 1, -1)
    # Rows without a constant come last; as many are kept as the offset with most rows has.
    most = int((constants != 0.0).sum(axis=1).max())
    order = np.argsort(constants == 0.0, axis=1, kind="stable")[:, :most]
    kept = np.arange(len(order))[:, None], order
    return _SensorOffsets(rows[kept], constants[kept], group[kept], number, offset_number)


def _join_offsets(
    parts: Sequence[_StatisticsArrays], first_groups: Indices, channels: Flags
) -> OffsetRows:
    """Join the offset rows of several logs; groups and sensors are numbered consecutively.

    `first_groups`: number of the first group of each part, and of all groups, shape (parts + 1,);
    `channels`: which of the m channels each sensor has, shape (sensors, m).
    """
    _, m, _, q = parts[0].rows.shape
    logs = sum(part.logs for part in parts)
    offset_number = np.full((logs, len(channels)), -1)
    has_channel = np.zeros((logs, *channels.shape), np.bool_)
    # Empty arrays give the shapes if no offset is fitted.
    rows: list[Array] = [np.zeros((0, 1, m, q))]
    constant: list[Array] = [np.zeros((0, 1))]
    group: list[Indices] = [np.zeros((0, 1), np.intp)]
    sensor: list[Indices] = [np.zeros(0, np.intp)]
    first_log = first_sensor = first_offset = 0
    for part, start in zip(parts, first_groups.tolist(), strict=False):
        log_range = slice(first_log, first_log + part.logs)
        has_channel[log_range, first_sensor : first_sensor + len(part.sensors)] = channels[
            first_sensor : first_sensor + len(part.sensors)
        ]
        for offset in part.offsets:
            rows.append(offset.rows)
            constant.append(offset.constant)
            group.append(start + offset.group)
            sensor.append(np.full(len(offset.rows), first_sensor + offset.sensor))
            numbers = np.where(offset.offset_number < 0, -1, first_offset + offset.offset_number)
            offset_number[log_range, first_sensor + offset.sensor] = numbers
            first_offset += len(offset.rows)
        first_log, first_sensor = first_log + part.logs, first_sensor + len(part.sensors)
    has_channel = has_channel.reshape(logs, -1)
    return OffsetRows(
        rows=_concatenate_padded(rows),
        constant=_concatenate_padded(constant),
        group=_concatenate_padded(group),
        sensor=np.concatenate(sensor),
        offset_number=offset_number,
        channel_order=np.argsort(~has_channel, axis=1, kind="stable")[
            :, : int(has_channel.sum(axis=1).max())
        ],
    )


def _concatenate_padded(parts: Sequence[NDArray[ScalarT]], *, fill: int = 0) -> NDArray[ScalarT]:
    """Concatenate arrays along the first axis, other axes padded to the largest size."""
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
def _channel_quantities(groups: tuple[ChannelGroup, ...]) -> tuple[Flags, Flags, Indices]:
    """Return masks of the channels of each group and quantity, and an index of each quantity.

    Quantities (force, torque) are numbered in order of their first appearance.
    """
    channels = _concatenate_padded(
        [np.ones((1, len(group.channels)), np.bool_) for group in groups]
    )
    names = list(dict.fromkeys(kind for group in groups for kind in group.quantities))
    flags, numbers = [], []
    for group in groups:
        group_kinds = list(dict.fromkeys(group.quantities))
        flags.append(np.array([np.array(group.quantities) == kind for kind in group_kinds])[None])
        numbers.append(np.array([[names.index(kind) for kind in group_kinds]]))
    arrays = channels, _concatenate_padded(flags), _concatenate_padded(numbers, fill=-1)
    for array in arrays:
        array.flags.writeable = False
    return arrays
