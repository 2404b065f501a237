"""Detection of spikes in a wrench, and their replacement before any low-pass."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from identify.arrays import Array, Indices
from identify.logs import Recording

MIN_SPIKE_PER_MEDIAN = 12.0
"""Second difference of a spike as a multiple of the median one; noise stays below."""

MIN_ROWS_FOR_SPIKES = 50
"""Fewest rows in which spikes can be detected."""

_MEDIAN_SAMPLES = 8192
"""Number of second differences from which a channel's median is computed."""

_ROUNDING_OF_CHANNEL = 1e-12
"""Second difference that counts as rounding of zero, as a share of the channel's largest value."""

_SPIKE_WIDTHS = (1, 2, 3, 1)
"""Widths of spikes removed in successive passes [samples]."""


def find_spikes(columns: Array, width: int = 1) -> tuple[Indices, Array]:
    """Find spikes: samples that deviate from their neighbours and return after some samples.

    A step, as at the edge of a contact, does not return.

    `columns`: samples of some channels, without held repeats, shape (channels, n).
    Returns indices of the first sample of each spike, and its second difference relative to the
    median.
    """
    count = columns.shape[1]
    if count < MIN_ROWS_FOR_SPIKES:
        return np.zeros(0, dtype=np.intp), np.zeros(0)
    second = np.abs(columns[:, :-2] - 2.0 * columns[:, 1:-1] + columns[:, 2:])
    scale = _median_second_difference(columns, second, max(1, count // _MEDIAN_SAMPLES))[:, None]
    outliers = np.flatnonzero(
        (second[:, : count - width - 1] > MIN_SPIKE_PER_MEDIAN * scale).any(axis=0)
    )
    before, peak, after = (columns[:, outliers + k] / scale for k in (0, 1, 1 + width))
    returned = np.abs(after - before).max(axis=0) < 0.5 * np.abs(peak - before).max(axis=0)
    first_samples = outliers[returned]
    return first_samples + 1, (second[:, first_samples] / scale).max(axis=0)


def _median_second_difference(columns: Array, second: Array, step: int) -> Array:
    """Return the median of each channel's nonzero second differences, shape (channels,).

    At an end of range, and within one step of a coarse quantiser, most of them are zero; where a
    signal leaves saturation, part of its noise is cut off.

    `columns`: samples of each channel, shape (channels, n); `second`: their second differences,
    shape (channels, n - 2).
    """
    scale = np.full(len(second), np.inf)
    indices = np.arange(0, second.shape[1], step)
    for channel, (values, sizes) in enumerate(zip(columns, second, strict=True)):
        lowest, highest = float(values.min()), float(values.max())
        nonzero = sizes[indices] > _ROUNDING_OF_CHANNEL * max(-lowest, highest)
        samples = values[indices], values[indices + 1], values[indices + 2]
        at_limit = [(column == highest) | (column == lowest) for column in samples]
        saturated = np.any(at_limit, axis=0)
        inside = nonzero & ~saturated
        sizes_used = sizes[indices[inside if inside.sum() >= MIN_ROWS_FOR_SPIKES else nonzero]]
        if len(sizes_used):
            scale[channel] = np.median(sizes_used)
    return scale


def without_spikes(recording: Recording) -> tuple[Recording, int]:
    """Replace spikes of the wrench of a recording by interpolation between their neighbours.

    Done before the low-pass, which would smear a spike over its whole kernel.

    Returns the recording, and the number of rows changed; the same object if there are none.
    """
    columns = np.hstack((recording.signals["force"], recording.signals["torque"])).T.copy()
    count = columns.shape[1]
    held = (columns[:, 1:] == columns[:, :-1]).all(axis=0)
    fresh_rows = np.flatnonzero(np.concatenate((np.ones(min(count, 1), dtype=np.bool_), ~held)))
    samples = columns[:, fresh_rows]  # without held repeats
    spiked = np.zeros(len(fresh_rows), dtype=np.bool_)
    for width in _SPIKE_WIDTHS:
        first_samples, _ = find_spikes(samples, width)
        if not len(first_samples):
            continue
        spiked[(first_samples[:, None] + np.arange(width)).ravel()] = True
        indices, good = np.flatnonzero(spiked), np.flatnonzero(~spiked)
        for column in samples:
            column[indices] = np.interp(indices, good, column[good])
    if not spiked.any():
        return recording, 0
    lengths = np.diff(fresh_rows, append=count)
    columns = np.repeat(samples, lengths, axis=1)  # a held spike is repaired in all its rows
    repaired = {"force": columns[:3].T.copy(), "torque": columns[3:].T.copy()}
    changed = int(lengths[spiked].sum())
    return replace(recording, signals={**recording.signals, **repaired}), changed
