"""Rows that hold the last sample of a slower sensor, and the rows that are its samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from identify.arrays import Array, Flags, Indices

LONGEST_HOLD = 25
"""A pose held for more rows than this was still; held rows of a slower sensor are fewer."""

_SHORTEST_HOLD = 1.2
"""Rows a sample below which thinning is not worth the change of clock."""

_FEWEST_SAMPLES = 20
"""Samples below which a hold is not known to be regular."""

_CLOCK_SAMPLES = 64
"""Samples over which a sensor's clock is even."""

_JITTER, _RELATIVE_JITTER = 0.75, 0.15
"""Root mean square of what samples may be off even rows, in rows or in periods of the sensor …"""

_EVEN_WINDOWS = 0.75
"""… in this share of the windows, at the least."""

_PROBES, _PROBE = 5, 1024
"""Runs of rows, and their length, that are looked at first: most logs hold nothing."""


def sampled_rows(signals: Sequence[Array]) -> Indices | None:
    """The rows in which a slower sensor was sampled, where all others hold the row before.

    A sensor of its own clock changes every so many rows, which no chance does: values that repeat
    since they were quantised, or rows that were lost, wander off even rows. While the body is still
    the sensor goes on, and so do the rows kept.

    Args:
        signals: of one sensor, in the order of time, shape (n, ·) each.

    Returns:
        Indices of the rows to keep, or None where nothing is held regularly.
    """
    count = len(signals[0])
    if count < _FEWEST_SAMPLES or not _may_be_held(signals, count):
        return None
    fresh = np.concatenate(([0], np.flatnonzero(_changes(signals, slice(None))) + 1))
    lengths = np.diff(fresh)
    typical = float(np.median(lengths)) if len(lengths) >= _FEWEST_SAMPLES else 0.0
    if not 1.0 <= typical <= LONGEST_HOLD:
        return None
    usual = lengths < 2.5 * typical
    period = float(np.mean(lengths[usual]))
    samples = _samples_per_hold(lengths, period)
    for _ in range(2):
        period = float(lengths[usual].sum() / samples[usual].sum())
        samples = _samples_per_hold(lengths, period)
    if not _SHORTEST_HOLD <= period <= LONGEST_HOLD or not _is_even(
        lengths - period * samples, period
    ):
        return None
    held = np.append(samples, np.ceil((count - fresh[-1]) / period)).astype(np.intp)
    first = np.repeat(np.cumsum(held) - held, held)
    rows = np.repeat(fresh, held) + np.rint(period * (np.arange(len(first)) - first))
    return np.unique(rows[rows < count].astype(np.intp))


def _samples_per_hold(lengths: Indices, period: float) -> Array:
    """How many samples were held for so many rows: those that are alike are held as one."""
    return np.where(lengths <= period + 1.0, 1.0, np.rint(lengths / period))


def _changes(signals: Sequence[Array], rows: slice) -> Flags:
    return np.any([(x[rows][1:] != x[rows][:-1]).any(axis=1) for x in signals], axis=0)


def _may_be_held(signals: Sequence[Array], count: int) -> bool:
    """Whether rows repeat wherever one looks; a regular hold is the same everywhere."""
    starts = np.unique(np.linspace(0, max(count - _PROBE, 0), _PROBES).astype(np.intp))
    most = 0.5 + 0.5 / _SHORTEST_HOLD
    return all(np.mean(_changes(signals, slice(a, a + _PROBE))) < most for a in starts)


def _is_even(off: Array, period: float) -> bool:
    """Whether samples stay near even rows, given how much longer than a period each is held."""
    usable = len(off) // _CLOCK_SAMPLES * _CLOCK_SAMPLES
    runs = np.cumsum(off[:usable].reshape(-1, _CLOCK_SAMPLES) if usable else off[None], axis=1)
    spread = np.sqrt(np.mean((runs - runs.mean(axis=1, keepdims=True)) ** 2, axis=1))
    return bool(np.quantile(spread, _EVEN_WINDOWS) <= max(_JITTER, _RELATIVE_JITTER * period))
