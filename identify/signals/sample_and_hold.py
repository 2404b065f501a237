"""Detection of rows that hold the last sample of a slower sensor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from identify.arrays import Array, Flags, Indices
from identify.relevance import LONGEST_SAMPLE_PERIOD

LONGEST_HOLD = 25
"""Longest hold of a slower sensor [rows]; a pose that is constant for longer was at rest."""

_MIN_PERIOD_ROWS = 1.2
"""Smallest sampling period [rows] for which held rows are dropped."""

_MIN_SAMPLES = 20
"""Fewest samples whose regularity can be judged."""

_CLOCK_SAMPLES = 64
"""Samples over which the clock of a sensor counts as uniform."""

_MAX_JITTER, _MAX_RELATIVE_JITTER = 0.75, 0.15
"""Largest RMS jitter of samples [rows], and relative to the sensor's period."""

_MIN_UNIFORM_FRACTION = 0.75
"""Smallest fraction of windows with a jitter below the limit, for a regularly held signal."""

_PROBE_RUNS, _PROBE_ROWS = 5, 1024
"""Number and length [rows] of the runs of rows tested first, as most logs have no held rows."""


def sampled_rows(signals: Sequence[Array], time: Array | None = None) -> Indices | None:
    """Return the rows in which a slower sensor was sampled if all others hold the row before.

    A sensor with its own clock changes at a regular interval; values that repeat because of
    quantisation or lost rows do not. While the body is still, samples continue at that interval.

    `signals`: of one sensor, in the order of time, shape (n, ·) each; `time`: [s], shape (n,);
    without it no period counts as too long for a sensor.
    Returns indices of the rows to keep, or None if nothing is held regularly.
    """
    count = len(signals[0])
    if count < _MIN_SAMPLES or not _may_be_held(signals, count):
        return None
    fresh = np.concatenate(([0], np.flatnonzero(_changed_rows(signals, slice(None))) + 1))
    lengths = np.diff(fresh)
    typical = float(np.median(lengths)) if len(lengths) >= _MIN_SAMPLES else 0.0
    if not 1.0 <= typical <= LONGEST_HOLD:
        return None
    if time is not None and np.median(np.diff(time[fresh])) > LONGEST_SAMPLE_PERIOD:
        return None
    regular = lengths < 2.5 * typical
    period = float(np.mean(lengths[regular]))
    samples = _samples_per_hold(lengths, period)
    for _ in range(2):
        period = float(lengths[regular].sum() / samples[regular].sum())
        samples = _samples_per_hold(lengths, period)
    if not _MIN_PERIOD_ROWS <= period <= LONGEST_HOLD or not _is_uniform(
        lengths - period * samples, period
    ):
        return None
    last = count - fresh[-1]
    last_samples = 1.0 if last <= period + 1.0 else np.ceil(last / period)
    held = np.append(samples, last_samples).astype(np.intp)
    first = np.repeat(np.cumsum(held) - held, held)
    rows = np.repeat(fresh, held) + np.rint(period * (np.arange(len(first)) - first))
    return np.unique(rows[rows < count].astype(np.intp))


def _samples_per_hold(lengths: Indices, period: float) -> Array:
    """Return the number of samples in each hold; equal successive samples form one hold."""
    return np.where(lengths <= period + 1.0, 1.0, np.rint(lengths / period))


def _changed_rows(signals: Sequence[Array], rows: slice) -> Flags:
    return np.any([(x[rows][1:] != x[rows][:-1]).any(axis=1) for x in signals], axis=0)


def _may_be_held(signals: Sequence[Array], count: int) -> bool:
    """Return whether rows repeat in all probed runs, as they do in a regular hold."""
    starts = np.unique(np.linspace(0, max(count - _PROBE_ROWS, 0), _PROBE_RUNS).astype(np.intp))
    most = 0.5 + 0.5 / _MIN_PERIOD_ROWS
    return all(np.mean(_changed_rows(signals, slice(a, a + _PROBE_ROWS))) < most for a in starts)


def _is_uniform(deviations: Array, period: float) -> bool:
    """Return whether samples are uniform, by deviations of hold lengths from the period [rows]."""
    usable = len(deviations) // _CLOCK_SAMPLES * _CLOCK_SAMPLES
    runs = np.cumsum(
        deviations[:usable].reshape(-1, _CLOCK_SAMPLES) if usable else deviations[None], axis=1
    )
    spread = np.sqrt(np.mean((runs - runs.mean(axis=1, keepdims=True)) ** 2, axis=1))
    return bool(
        np.quantile(spread, _MIN_UNIFORM_FRACTION)
        <= max(_MAX_JITTER, _MAX_RELATIVE_JITTER * period)
    )
