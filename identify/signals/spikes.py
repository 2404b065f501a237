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

_WINDOW = 7
"""Samples whose median a spike stands out of: up to three beside each other."""


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
    second, usual = _second_differences(columns)
    far = np.flatnonzero((second > SPIKE * usual).any(axis=0))
    before, at, after = (columns[:, far + k] / usual for k in range(3))
    returned = np.abs(after - before).max(axis=0) < 0.5 * np.abs(at - before).max(axis=0)
    found = far[returned]
    return found + 1, (second[:, found] / usual).max(axis=0)


def _second_differences(columns: Array) -> tuple[Array, Array]:
    """Sizes of second differences, shape (channels, n − 2), and their median, (channels, 1)."""
    second = np.abs(columns[:, :-2] - 2.0 * columns[:, 1:-1] + columns[:, 2:])
    usual = np.median(second[:, :: max(1, columns.shape[1] // _SAMPLED)], axis=1)
    return second, np.where(usual > 0.0, usual, np.inf)[:, None]


def without_spikes(recording: Recording) -> tuple[Recording, int]:
    """A recording whose spiked rows of the wrench are between their neighbours.

    A low-pass would smear a spike over its whole length, so this comes before it. Samples that are
    as far from the running median as a spike is from its neighbours are taken for spikes.

    Args:
        recording: any but still poses.

    Returns:
        The recording, and how many rows were changed; the same object where there are none.
    """
    from scipy.ndimage import median_filter

    columns = np.hstack((recording.signals["force"], recording.signals["torque"])).T.copy()
    count = columns.shape[1]
    if count < FEWEST_ROWS:
        return recording, 0
    held = (columns[:, 1:] == columns[:, :-1]).all(axis=0)
    taken = np.flatnonzero(np.concatenate(([True], ~held)))  # each held sample once
    samples = columns[:, taken]
    _, usual = _second_differences(samples)
    median = median_filter(samples, size=(1, _WINDOW), mode="nearest")
    spiked = (np.abs(samples - median) > 0.5 * SPIKE * usual).any(axis=0)
    if not spiked.any() or spiked.all():
        return recording, 0
    # A spike that is held is one in all rows that hold it.
    changed = np.repeat(spiked, np.diff(taken, append=count))
    rows, good = np.flatnonzero(changed), np.flatnonzero(~changed)
    for column in columns:
        column[changed] = np.interp(rows, good, column[good])
    repaired = {"force": columns[:3].T.copy(), "torque": columns[3:].T.copy()}
    return replace(recording, signals={**recording.signals, **repaired}), len(rows)
