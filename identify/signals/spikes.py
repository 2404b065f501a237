"""Single rows that stand far out of their neighbours: found, and taken out before any low-pass."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from identify.arrays import Array, Indices
from identify.logs import Recording

SPIKE_MEDIANS = 12.0
"""Second differences, in their median size, that no noise has."""

MIN_ROWS_FOR_SPIKES = 50
"""Rows below which nothing stands out."""

_MEDIAN_SAMPLES = 8192
"""Second differences that their median is taken of."""

_CHANNEL_ROUNDING = 1e-12
"""Share of a channel's largest value that is rounding of zero."""

_SPIKE_WIDTHS = (1, 2, 3, 1)
"""Samples beside each other that are taken out together, round after round."""


def find_spikes(columns: Array, width: int = 1) -> tuple[Indices, Array]:
    """Which samples are spikes: they go out and come back.

    A step, as at the edge of a contact, goes out and stays.

    Args:
        columns: samples of some channels, each once, shape (channels, n).
        width: samples after which they come back.

    Returns:
        Indices of the first sample of each spike, and its second difference in the median size.
    """
    count = columns.shape[1]
    if count < MIN_ROWS_FOR_SPIKES:
        return np.zeros(0, dtype=np.intp), np.zeros(0)
    second = np.abs(columns[:, :-2] - 2.0 * columns[:, 1:-1] + columns[:, 2:])
    usual = _robust_scale(columns, second, max(1, count // _MEDIAN_SAMPLES))[:, None]
    far = np.flatnonzero((second[:, : count - width - 1] > SPIKE_MEDIANS * usual).any(axis=0))
    before, at, after = (columns[:, far + k] / usual for k in (0, 1, 1 + width))
    returned = np.abs(after - before).max(axis=0) < 0.5 * np.abs(at - before).max(axis=0)
    found = far[returned]
    return found + 1, (second[:, found] / usual).max(axis=0)


def _robust_scale(columns: Array, second: Array, step: int) -> Array:
    """Median size of the second differences of each channel that are not zero, shape (channels,).

    At an end of range, and between two steps of a coarse resolution, most of them are zero; where
    a signal leaves an end of range it is cut, and what is seen of its noise too small.

    Args:
        columns: samples of each channel, shape (channels, n).
        second: their second differences, shape (channels, n - 2).
        step: every how manieth is looked at.
    """
    usual = np.full(len(second), np.inf)
    at = np.arange(0, second.shape[1], step)
    for channel, (values, sizes) in enumerate(zip(columns, second, strict=True)):
        least, most = float(values.min()), float(values.max())
        whole = sizes[at] > _CHANNEL_ROUNDING * max(-least, most)
        three = values[at], values[at + 1], values[at + 2]
        cut = np.any([(one == most) | (one == least) for one in three], axis=0)
        inside = whole & ~cut
        some = sizes[at[inside if inside.sum() >= MIN_ROWS_FOR_SPIKES else whole]]
        if len(some):
            usual[channel] = np.median(some)
    return usual


def without_spikes(recording: Recording) -> tuple[Recording, int]:
    """A recording whose spiked rows of the wrench are between their neighbours.

    A low-pass would smear a spike over its whole length, so this comes before it.

    Args:
        recording: any but still poses.

    Returns:
        The recording, and how many rows were changed; the same object where there are none.
    """
    columns = np.hstack((recording.signals["force"], recording.signals["torque"])).T.copy()
    count = columns.shape[1]
    held = (columns[:, 1:] == columns[:, :-1]).all(axis=0)
    taken = np.flatnonzero(np.concatenate((np.ones(min(count, 1), dtype=np.bool_), ~held)))
    samples, spiked = columns[:, taken], np.zeros(len(taken), dtype=np.bool_)  # each held one once
    for width in _SPIKE_WIDTHS:
        found, _ = find_spikes(samples, width)
        if not len(found):
            continue
        spiked[(found[:, None] + np.arange(width)).ravel()] = True
        at, good = np.flatnonzero(spiked), np.flatnonzero(~spiked)
        for column in samples:
            column[at] = np.interp(at, good, column[good])
    if not spiked.any():
        return recording, 0
    lengths = np.diff(taken, append=count)
    columns = np.repeat(samples, lengths, axis=1)  # a spike that is held is one in all its rows
    repaired = {"force": columns[:3].T.copy(), "torque": columns[3:].T.copy()}
    changed = int(lengths[spiked].sum())
    return replace(recording, signals={**recording.signals, **repaired}), changed
