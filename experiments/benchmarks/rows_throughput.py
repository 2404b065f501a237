"""Throughput from prepared columns to statistics by cosine transform, narrow and wide."""

from __future__ import annotations

from functools import partial

import numpy as np

from experiments.benchmarks.measure import Effort, ReportLine, Spread, race
from identify.arrays import Array
from identify.regressors import SCAN_LAYOUT, WIDE_LAYOUT, Statistics, scan_statistics
from identify.signals.prepared_log import BlockRows
from identify.signals.transform import CONSTANT_GROUP, block_transform

SAMPLES = 500_000
"""Number of samples in memory; a log repeats them ten times."""

_WIDTHS = len(SCAN_LAYOUT.columns), len(WIDE_LAYOUT.columns)
_REPEATS = 10
_RATE_HZ = 200.0
_CUTOFF_HZ = 5.0
_LENGTHS = {2000: "blocks of 10 s at 200 Hz", 2003: "a prime number of samples in a block"}


def run(effort: Effort) -> list[ReportLine]:
    """Measure the throughput of transform and QR for both layouts and two block lengths."""
    least = 2 * max(_LENGTHS)
    count = effort.scaled(SAMPLES, least)
    ready = {width: columns(count, width) for width in _WIDTHS}
    seconds = race(
        {
            f"{width} {length}": partial(factors_of_columns, ready[width], length)
            for width in _WIDTHS
            for length in _LENGTHS
        },
        effort,
    )
    lines = []
    for width in _WIDTHS:
        for length, label in _LENGTHS.items():
            done = _REPEATS * (count // length * length)
            rate = Spread.of(1e-6 * done / seconds[f"{width} {length}"])
            lines.append(
                ReportLine(
                    f"{width} columns of samples by cosine transform to statistics, {label}",
                    rate.text("M samples/s"),
                )
            )
    return lines


def columns(count: int, width: int) -> Array:
    """Return a constant column and columns of white noise, shape (count, width)."""
    columns = np.random.default_rng(0).standard_normal((count, width))
    columns[:, 0] = 1.0
    return columns


def statistics_of_columns(columns: Array, length: int) -> Statistics:
    """Return the statistics of blocks of columns, with white noise in all but the constant."""
    return scan_statistics(_blocks(columns, length))


def factors_of_columns(columns: Array, length: int) -> Array:
    """Return the factors of a log that repeats the columns."""
    return scan_statistics([b for _ in range(_REPEATS) for b in _blocks(columns, length)]).factors


def _blocks(columns: Array, length: int) -> list[BlockRows]:
    transform = block_transform(length, _RATE_HZ, _CUTOFF_HZ, tapered=True)
    moment: Array = np.eye(columns.shape[1] - 1)
    noise = dict.fromkeys(range(CONSTANT_GROUP, int(transform.groups.max()) + 1), moment)
    share = transform.effective_fraction
    return [
        BlockRows(
            transform.apply(columns[start : start + length]), transform.groups, noise, length, share
        )
        for start in range(0, len(columns) - length + 1, length)
    ]
