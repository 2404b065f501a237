"""Rows that hold the last sample of a slower sensor, and the rows that are its samples."""

from __future__ import annotations

import numpy as np

from identify.arrays import Array, Flags, Indices

LONGEST_HOLD = 25
"""A pose held for more rows than this was still; held rows of a slower sensor are fewer."""

_SHORTEST = 1.2
"""Rows a sample below which thinning is not worth the change of clock."""

_FEWEST_SAMPLES = 20
"""Samples below which a hold is not known to be regular."""

_WINDOW = 64
"""Samples over which a sensor's clock is even."""

_JITTER, _RELATIVE_JITTER = 0.75, 0.15
"""Root mean square of what samples may be off even rows: in rows, or in periods of the sensor."""

_PROBES, _PROBE = 5, 1024
"""Runs of rows, and their length, that are looked at first: most logs hold nothing."""


def sample_rows(columns: Array) -> Indices | None:
    """The rows in which a slower sensor was sampled, where all others hold the row before.

    A sensor of its own clock changes every so many rows, which no chance does: values that repeat
    since they were quantised, or rows that were lost, wander off even rows. While the body is still
    the sensor goes on, and so do the rows kept.

    Args:
        columns: of one sensor, in the order of time, shape (n, k).

    Returns:
        Indices of the rows to keep, or None where nothing is held regularly.
    """
    if not _may_be_held(columns):
        return None
    fresh = np.concatenate(([0], np.flatnonzero(_changes(columns)) + 1))
    lengths = np.diff(fresh)
    typical = float(np.median(lengths)) if len(lengths) >= _FEWEST_SAMPLES else 0.0
    if not 1.0 <= typical <= LONGEST_HOLD:
        return None
    usual = lengths < 2.5 * typical
    period = float(np.mean(lengths[usual]))
    for _ in range(3):  # samples that look alike have the length of several
        samples = np.maximum(np.rint(lengths / period), 1.0)
        period = float(lengths[usual].sum() / samples[usual].sum())
    if not _SHORTEST <= period <= LONGEST_HOLD or not _is_even(lengths - period * samples, period):
        return None
    missed = np.repeat(fresh[:-1], samples.astype(np.intp) - 1)
    numbers = np.arange(len(missed)) - np.repeat(
        np.cumsum(samples - 1) - (samples - 1), samples.astype(np.intp) - 1
    )
    in_between = missed + np.rint(period * (numbers + 1)).astype(np.intp)
    after = np.arange(fresh[-1] + period, len(columns) - 0.5, period)
    return np.union1d(np.concatenate((fresh, in_between)), np.rint(after).astype(np.intp))


def _changes(columns: Array) -> Flags:
    return (columns[1:] != columns[:-1]).any(axis=1)


def _may_be_held(columns: Array) -> bool:
    """Whether rows repeat wherever one looks; a regular hold is the same everywhere."""
    starts = np.linspace(0, max(len(columns) - _PROBE, 0), _PROBES).astype(np.intp)
    most = 1.0 - 0.5 * (1.0 - 1.0 / _SHORTEST)
    return all(np.mean(_changes(columns[a : a + _PROBE])) < most for a in np.unique(starts))


def _is_even(off: Array, period: float) -> bool:
    """Whether samples stay near even rows, given how much longer than a period each is held."""
    usable = len(off) // _WINDOW * _WINDOW
    runs = np.cumsum(off[:usable].reshape(-1, _WINDOW) if usable else off[None], axis=1)
    spread = np.sqrt(np.mean((runs - runs.mean(axis=1, keepdims=True)) ** 2, axis=1))
    return bool(np.median(spread) <= max(_JITTER, _RELATIVE_JITTER * period))
