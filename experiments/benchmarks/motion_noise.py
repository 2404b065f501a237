"""Cost of reading and subtracting the noise of a log's motion, compared with a fit without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np

from experiments.benchmarks.measure import Effort, ReportLine, Spread, race
from identify.arrays import Array, Phi
from identify.estimation import estimate_body
from identify.logs import Recording, read_log
from identify.logs.recording import recording_rows
from identify.regressors import Statistics, block_statistics
from identify.regressors.newton_euler import FEATURE_NAMES
from identify.signals import preparation, prepare, prepared_segment
from identify.signals.transform import CONSTANT_GROUP, BlockTransform
from identify.signals.white_noise import SignalNoise

_ROWS, _MIN_ROWS = 30_000, 6_000
_SHIPPED = Path(__file__).resolve().parents[2] / "datasets/payload_arm"
_MOTION_COLUMNS = slice(1, 1 + len(FEATURE_NAMES))
"""Columns of the motion in a row [1, ψ, w]."""


def run(effort: Effort) -> list[ReportLine]:
    """Measure the time added to the rows and to the estimate by the noise of the motion."""
    log = read_log(_SHIPPED / "payload_arm.parquet", _SHIPPED / "schema.toml")
    log = recording_rows(log, 0, effort.scaled(_ROWS, _MIN_ROWS))
    noisy = block_statistics(prepare(log))
    seconds = race(
        {
            "rows with": lambda: block_statistics(prepare(log)).factors,
            "rows without": lambda: without_noise_estimate(log).factors,
            "estimate with": partial(_estimate, noisy),
            "estimate without": partial(_estimate, without_motion_noise(noisy)),
        },
        effort,
    )
    milliseconds = {name: 1e3 * values for name, values in seconds.items()}
    rows = milliseconds["rows with"] - milliseconds["rows without"]
    estimate = milliseconds["estimate with"] - milliseconds["estimate without"]
    more = Spread.of(rows + estimate)
    without = seconds["rows without"] + seconds["estimate without"]
    return [
        ReportLine(
            f"time added to a fit of {len(log)} rows by the noise in the motion",
            more.text("ms"),
        ),
        ReportLine.of_ratio(
            "… relative to that fit without", 1e-3 * (rows + estimate) / without, at_most=0.2
        ),
        ReportLine(
            "… of it estimating the noise, and its rows",
            Spread.of(rows).text("ms"),
        ),
        ReportLine("… of it the corrected estimate", Spread.of(estimate).text("ms")),
        *(
            ReportLine(f"{part}, {mode} noise in the motion", Spread.of(values).text("ms"))
            for name, values in milliseconds.items()
            for part, _, mode in [name.partition(" ")]
        ),
    ]


def without_motion_noise(statistics: Statistics) -> Statistics:
    """Return the statistics for exact motion, with the noise of the wrench unchanged."""
    noise = statistics.noise.copy()
    noise[..., _MOTION_COLUMNS] = 0.0
    return replace(statistics, noise=noise)


def _estimate(statistics: Statistics) -> Phi:
    return estimate_body([statistics]).parameters.phi


def without_noise_estimate(log: Recording) -> Statistics:
    """Return the statistics of a log without estimating the noise of its signals."""
    with _no_noise_estimates():
        return block_statistics(prepare(log))


@contextmanager
def _no_noise_estimates() -> Iterator[None]:
    """Prepare rows within this context as if the signals had no noise."""

    def zero_noise(signals: dict[str, Array], *_: object) -> SignalNoise:
        size = 3 * len(signals)
        return SignalNoise(tuple(signals), np.zeros((size, size)))

    def zero_moments(
        _samples: object, _noise: object, blocks: Sequence[tuple[BlockTransform, slice]]
    ) -> Iterator[dict[int, Array]]:
        for transform, _ in blocks:
            groups = range(CONSTANT_GROUP, int(transform.groups.max()) + 1)
            yield dict.fromkeys(groups, np.zeros((18, 18)))

    with (
        mock.patch.object(preparation, "signal_noise", zero_noise),
        mock.patch.object(prepared_segment, "noise_moments", zero_moments),
    ):
        yield
