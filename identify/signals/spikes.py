"""Single rows that stand far out of their neighbours: found, and taken out before any low-pass."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from identify.arrays import Array, Indices
from identify.logs import Recording

SPIKE = 12.0
"""Second differences, in their median size, that no noise has."""

FEWEST_ROWS = 50
"""Rows below which nothing stands out."""

_SAMPLED = 8192
"""Second differences that their median is taken of."""

_PASSES = 4
"""Rounds in which spikes are taken out: of two beside each other the second shows in the next."""


def spikes_among(columns: Array) -> tuple[Indices, Array]:
    """Which samples are spikes: they go out and come back.

    A step, as at the edge of a contact, goes out and stays.

    Args:
        columns: samples of some channels, each once, shape (channels, n).

    Returns:
        Indices of the spikes, and their second differences in the median size.
    """
    count = columns.shape[1]
    if count < FEWEST_ROWS:
        return np.zeros(0, dtype=np.intp), np.zeros(0)
    second = np.abs(columns[:, :-2] - 2.0 * columns[:, 1:-1] + columns[:, 2:])
    usual = np.median(second[:, :: max(1, count // _SAMPLED)], axis=1)
    usual = np.where(usual > 0.0, usual, np.inf)[:, None]
    far = np.flatnonzero((second > SPIKE * usual).any(axis=0))
    before, at, after = (columns[:, far + k] / usual for k in range(3))
    returned = np.abs(after - before).max(axis=0) < 0.5 * np.abs(at - before).max(axis=0)
    found = far[returned]
    return found + 1, (second[:, found] / usual).max(axis=0)


def without_spikes(recording: Recording) -> tuple[Recording, int]:
    """A recording whose spiked rows of the wrench are between their neighbours.

    A low-pass would smear a spike over its whole length, so this comes before it.

    Args:
        recording: any but still poses.

    Returns:
        The recording, and how many rows were changed; the same object where there are none.
    """
    wrench = np.hstack((recording.signals["force"], recording.signals["torque"]))
    columns = wrench.T.copy()
    changed = np.zeros(len(wrench), dtype=np.bool_)
    for _ in range(_PASSES):
        held = (columns[:, 1:] == columns[:, :-1]).all(axis=0)
        taken = np.flatnonzero(np.concatenate(([True], ~held)))  # each held sample once
        found, _ = spikes_among(columns[:, taken])
        if not len(found):
            break
        # A spike that is held is one in all rows that hold it.
        ends = np.append(taken, len(wrench))
        for sample in found.tolist():
            changed[ends[sample] : ends[sample + 1]] = True
        good = np.flatnonzero(~changed)
        for column in columns:
            column[changed] = np.interp(np.flatnonzero(changed), good, column[good])
    if not changed.any():
        return recording, 0
    repaired = {"force": columns[:3].T.copy(), "torque": columns[3:].T.copy()}
    signals = {**recording.signals, **repaired}
    return replace(recording, signals=signals), int(changed.sum())
