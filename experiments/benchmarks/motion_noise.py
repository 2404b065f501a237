"""Cost of reading and subtracting the noise of a log's motion, compared with a fit without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np

from experiments.benchmarks.measure import Effort, Line, Spread, race
from identify.arrays import Array, Phi
from identify.estimation import estimate_body
from identify.logs import Recording, read_log
from identify.logs.recording import rows_of
from identify.regressors import Statistics, block_statistics
from identify.regressors.newton_euler import FEATURES
from identify.signals import preparation, prepare, prepared_segment
from identify.signals.noise import SignalNoise
from identify.signals.transform import CONSTANT, BlockTransform

REACH_MS = 20.0
"""Milliseconds that the correction may take of a fit of 30 000 rows."""

_ROWS, _FEWEST = 30_000, 6_000
_SHIPPED = Path(__file__).resolve().parents[2] / "datasets/payload_arm"
_MOTION = slice(1, 1 + len(FEATURES))
"""Columns of the motion in a row [1, ψ, w]."""


def run(effort: Effort) -> list[Line]:
    """Milliseconds of both parts: rows of the noise, and the estimate with them."""
    log = read_log(_SHIPPED / "payload_arm.parquet", _SHIPPED / "schema.toml")
    log = rows_of(log, 0, effort.scaled(_ROWS, _FEWEST))
    noisy = block_statistics(prepare(log))
    seconds = race(
        {
            "rows with": lambda: block_statistics(prepare(log)).factors,
            "rows without": lambda: without_noise_read(log).factors,
            "estimate with": partial(_estimate, noisy),
            "estimate without": partial(_estimate, without_motion_noise(noisy)),
        },
        effort,
    )
    milliseconds = {name: 1e3 * values for name, values in seconds.items()}
    rows = milliseconds["rows with"] - milliseconds["rows without"]
    estimate = milliseconds["estimate with"] - milliseconds["estimate without"]
    more = Spread.of(rows + estimate)
    return [
        Line(
            f"noise in the motion of {len(log)} rows: a fit takes more by",
            more.written("ms"),
            f"≤ {REACH_MS:g} ms",
            more.median <= REACH_MS,
        ),
        Line("… of it noise read off the signals, and its rows", Spread.of(rows).written("ms")),
        Line("… of it the corrected estimate", Spread.of(estimate).written("ms")),
        *(
            Line(f"{what}, {how} noise in the motion", Spread.of(values).written("ms"))
            for name, values in milliseconds.items()
            for what, _, how in [name.partition(" ")]
        ),
    ]


def without_motion_noise(statistics: Statistics) -> Statistics:
    """Return the statistics for exact motion, with the noise of the wrench unchanged."""
    noise = statistics.noise.copy()
    noise[..., _MOTION] = 0.0
    return replace(statistics, noise=noise)


def _estimate(statistics: Statistics) -> Phi:
    return estimate_body([statistics]).parameters.phi


def without_noise_read(log: Recording) -> Statistics:
    """Statistics of a log in whose signals no noise is looked for."""
    with _nothing_read():
        return block_statistics(prepare(log))


@contextmanager
def _nothing_read() -> Iterator[None]:
    """Rows are prepared as if there were no noise in the signals to be found."""

    def silent(signals: dict[str, Array], *_: object) -> SignalNoise:
        size = 3 * len(signals)
        return SignalNoise(tuple(signals), np.zeros((size, size)))

    def no_rows(
        _samples: object, _noise: object, blocks: Sequence[tuple[BlockTransform, slice]]
    ) -> Iterator[dict[int, Array]]:
        for transform, _ in blocks:
            groups = range(CONSTANT, int(transform.groups.max()) + 1)
            yield dict.fromkeys(groups, np.zeros((18, 18)))

    with (
        mock.patch.object(preparation, "signal_noise", silent),
        mock.patch.object(prepared_segment, "noise_moments", no_rows),
    ):
        yield
