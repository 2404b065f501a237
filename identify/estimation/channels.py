"""`Channels`: what the weights of a fit, or of several at once, rest on beside its residuals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from identify.arrays import Array, Flags, Indices
from identify.regressors.group_arrays import GroupArrays


@dataclass(frozen=True)
class Channels:
    """What the weights of a fit rest on, beside its residuals.

    Groups of several fits may stand one after the other: then each fit has weights of its own.

    Attributes:
        fit: number of the fit that each group is of, ascending, shape (G,).
        scales: root mean square of what the sensor of each group measured, shape (G, m).
        samples, effective_samples: of each group, shape (G,).
        channels: which of the m channels each group has, shape (G, m).
        kinds: of the channels, shape (G, K, m).
        kind: number of each kind's name; −1 where a group has fewer, shape (G, K).
        wrench_noise: covariance that noise of what was measured gives, shape (G, m, m).
        sensors: groups of each, −1 where one has fewer, shape (sensors, bands).
    """

    fit: Indices
    scales: Array
    samples: Array
    effective_samples: Array
    channels: Flags
    kinds: Flags
    kind: Indices
    wrench_noise: Array
    sensors: Indices

    @classmethod
    def of(cls, arrays: GroupArrays, scales: Array) -> Channels:
        """Those of one fit."""
        return cls(
            fit=np.zeros(len(arrays.groups), np.intp),
            scales=scales,
            samples=arrays.samples,
            effective_samples=arrays.effective_samples,
            channels=arrays.channels,
            kinds=arrays.kinds,
            kind=arrays.kind,
            wrench_noise=arrays.wrench_noise,
            sensors=arrays.sensors,
        )

    @classmethod
    def joined(cls, several: Sequence[Channels]) -> Channels:
        """Those of several fits whose groups have as many channels and kinds."""
        if len(several) == 1:
            return several[0]
        counts = [len(one.fit) for one in several]
        most = max(one.sensors.shape[1] for one in several)
        sensors = np.full((sum(len(one.sensors) for one in several), most), -1)
        row = group = 0
        for one, count in zip(several, counts, strict=True):
            own = sensors[row : row + len(one.sensors), : one.sensors.shape[1]]
            own[:] = np.where(one.sensors >= 0, one.sensors + group, -1)
            row, group = row + len(one.sensors), group + count
        others = (one.name for one in fields(cls) if one.name not in ("fit", "sensors"))
        return cls(
            fit=np.repeat(np.arange(len(several)), counts),
            sensors=sensors,
            **{name: np.concatenate([getattr(one, name) for one in several]) for name in others},
        )
