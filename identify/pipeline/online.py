"""`OnlineFit`: a fit updated sample by sample, which reports when the needed precision is met."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array
from identify.errors import IdentifyError, LogError, ProblemError, SchemaError, SolveError
from identify.estimation import Estimate, estimate_body
from identify.estimation.least_squares import weighted_least_squares
from identify.estimation.settings import body_system
from identify.logs import Recording, Schema, load_schema, read_log
from identify.logs.recording import excerpt, recording_rows
from identify.logs.schema import SchemaLike
from identify.pipeline.excitation_design import Oscillation, best_oscillation
from identify.pipeline.required_precision import parse_required_precision, required_precision_met
from identify.pipeline.settings import FitSettings, interpretation_from_settings
from identify.regressors import Statistics, block_statistics
from identify.regressors.log_scan import block_rows, margin_rows, nominal_rate_hz
from identify.regressors.statistics import MAX_TIME_BLOCKS
from identify.signals import NoUsableSegment, prepare
from identify.signals.transform import BLOCK_SECONDS

_MIN_BLOCK_ROWS = 100
"""Minimum number of rows in a block of time, also if the block's duration has fewer."""


_STAMPS = "stamp of the sample"
"""Column of the stamps of samples."""


class OnlineFit:
    """Fit of one log of one body that is updated by single samples.

    Blocks of some ten seconds become statistics as in `identify.fit`, once the neighbouring samples
    that derivatives need and another half block have arrived; rows are then discarded. The cut-off
    is that of the first block.

    Args:
        settings: choices of the fit, without `apply`.
        schema: of the samples that `update` takes: its file, or a mapping of its keys; stamps are
            in seconds, whatever its `[log]`.

    Attributes:
        settings: as given.
        statistics: of all complete blocks, at most 400, beyond which neighbours are joined; None
            before the first.
        seconds: time of the log up to the last of them [s].
    """

    def __init__(
        self, settings: FitSettings | None = None, schema: SchemaLike | None = None
    ) -> None:
        self.settings = settings or FitSettings()
        if self.settings.apply or self.settings.unloaded:
            raise SchemaError("OnlineFit: `apply` and `unloaded` need whole logs: use identify.fit")
        self.statistics: Statistics | None = None
        self.seconds = 0.0
        self._schema = None if schema is None else _schema_of_samples(schema)
        self._reading = interpretation_from_settings(self.settings)
        self._edges: Mapping[str, slice] = {}
        self._samples: list[list[float]] = []
        self._width, self._origin = 0, 0.0
        self._pending: Recording | None = None
        self._start = 0  # first pending row that is in no block yet
        self._block = self._margin = 0  # rows; zero until the rate is known
        self._wanted = 0  # rows until the next block is complete; likewise
        self._cutoff_hz, self._rate_hz = self.settings.cutoff_hz, None
        self._outcome: Estimate | ProblemError | SolveError | None = None

    def update(self, time: float, **signals: ArrayLike) -> None:
        """Add a sample; samples that are not finite are discarded.

        Args:
            time: its stamp, later than those before [s].
            signals: vectors by the names that the schema gives their columns, as a `force` for
                `force = "force"`; the same in each sample.

        Raises:
            LogError, SchemaError: signals are missing, or differ from those of the first sample; or
                their conventions are invalid.
        """
        if not (self._edges or self._read_first_sample(time, signals)):
            return
        if signals.keys() != self._edges.keys():
            raise LogError(f"sample: expected {list(self._edges)}, got {list(signals)}")
        row = [time]
        for name in self._edges:
            row.extend(signals[name])  # pyright: ignore[reportArgumentType]
        if len(row) != self._width:
            raise LogError(f"sample: expected {self._width - 1} numbers, got {len(row) - 1}")
        self._samples.append(row)
        if self._wanted:
            block_is_complete = len(self._samples) >= self._wanted
        else:
            block_is_complete = time - self._origin >= BLOCK_SECONDS
        if block_is_complete:
            self._process_samples()

    def extend(self, recording: Recording) -> None:
        """Add rows that follow the previous rows, on the same clock.

        Raises:
            LogError: static poses, streams with separate clocks, or time that goes back.
        """
        if recording.time is None or recording.streams:
            raise LogError(f"{recording.name}: an online fit needs time stamps of a single clock")
        before, recording = self._pending, self._reading.apply(recording)
        if before is not None and before.time is not None and recording.time is not None:
            if len(recording) and recording.time[0] < before.time[-1]:
                raise LogError(f"{recording.name}: time goes back from {before.time[-1]:g} s")
            recording = replace(
                recording,
                time=np.concatenate((before.time, recording.time)),
                signals={
                    name: np.concatenate((values, recording.signals[name]))
                    for name, values in before.signals.items()
                },
            )
        self._pending = recording
        if not self._block:
            self._choose_block_length(recording)
        if self._block:
            ahead = self._block + max(self._margin, -(-self._block // 2))
            while (wanted := self._start + ahead - len(self._pending)) <= 0:
                self._add_block(self._start + self._block)
            self._wanted = wanted

    def finish(self) -> None:
        """Process the samples after the last complete block."""
        self._process_samples()
        if self._pending is None:
            return
        while self._block and len(self._pending) - self._start >= 1.5 * self._block:
            self._add_block(self._start + self._block)
        if len(self._pending) > self._start:
            self._add_block(len(self._pending))

    def estimate(self) -> Estimate:
        """Return the estimate from the blocks so far, as `identify.fit` would, without validation.

        Raises:
            ProblemError: there is no block yet, or see `identify.fit`.
            SolveError: see `identify.fit`.
        """
        if self._outcome is None:
            try:
                self._outcome = estimate_body([self._require_statistics()], self.settings)
            except (ProblemError, SolveError) as error:
                self._outcome = error
        if isinstance(self._outcome, Exception):
            raise self._outcome.with_traceback(None)  # each call would extend the traceback
        return self._outcome

    def ready(self, needs: str = "") -> bool:
        """Whether intervals meet the required precision, such as "mass 1%, com 2mm".

        It is recomputed after each block, in the time of a fit of statistics.

        Raises:
            SchemaError: the needs are invalid.
        """
        wanted = needs or self.settings.needs
        parse_required_precision(wanted)
        try:
            return all(required_precision_met(wanted, self.estimate()).values())
        except IdentifyError:
            return False

    def best_oscillation(self, needs: str = "") -> Oscillation:
        """Return the oscillation after which the required precision is reached soonest.

        Raises:
            SchemaError: there are no needs.
            ProblemError, SolveError: there is no estimate yet; the message has the remedy.
        """
        wanted = parse_required_precision(needs or self.settings.needs)
        if not wanted:
            raise SchemaError('best_oscillation: expected needs, for example "mass 1%, com 2mm"')
        estimate, pending = self.estimate(), self._pending
        assert pending is not None
        assert self._rate_hz is not None
        assert self._cutoff_hz is not None
        system = body_system([self._require_statistics()], self.settings)
        return best_oscillation(
            weighted_least_squares(system, self.settings.all_terms),
            estimate,
            wanted,
            gravity=float(np.linalg.norm(pending.gravity)),
            rate_hz=self._rate_hz,
            cutoff_hz=self._cutoff_hz,
        )

    def _require_statistics(self) -> Statistics:
        if self.statistics is None:
            raise ProblemError(
                f"no block is complete yet: the first needs {1.5 * BLOCK_SECONDS:g} s of samples"
            )
        return self.statistics

    def _read_first_sample(self, time: float, signals: Mapping[str, ArrayLike]) -> bool:
        """Determine the signals from the first sample, unless it is not finite.

        It is read separately, so that errors are raised at once.
        """
        rows = np.tile(np.hstack([[time], *map(np.ravel, signals.values())]), (2, 1))
        if not np.isfinite(rows).all():
            return False
        rows[1, 0] += 1.0  # two of them, as one would be no motion
        widths = [1, *(np.size(values) for values in signals.values())]
        edges = np.cumsum(widths).tolist()
        slices = [slice(*pair) for pair in pairwise(edges)]
        self._edges = dict(zip(signals, slices, strict=True))
        self._width, self._origin = edges[-1], float(time)
        try:
            self._make_recording(rows)
        except IdentifyError:
            self._edges = {}
            raise
        return True

    def _make_recording(self, rows: Array) -> Recording:
        time = rows[:, 0] - self._origin
        if self._schema is None:
            raise SchemaError("OnlineFit: samples need a schema: give OnlineFit(schema=…)")
        signals = {name: rows[:, at] for name, at in self._edges.items()}
        return replace(read_log({_STAMPS: time, **signals}, self._schema), time=time)

    def _process_samples(self) -> None:
        rows = np.array(self._samples or np.zeros((0, 1)), dtype=float)
        self._samples = []
        rows = rows[np.isfinite(rows).all(axis=1)]
        if len(rows):
            self.extend(self._make_recording(rows))

    def _choose_block_length(self, rows: Recording) -> None:
        rate_hz = nominal_rate_hz(rows)
        if rows.time is not None and rate_hz and rows.time[-1] - rows.time[0] >= BLOCK_SECONDS:
            self._block = max(block_rows(rate_hz), _MIN_BLOCK_ROWS)
            self._margin = margin_rows(rows, self._reading, rate_hz, self._block)

    def _add_block(self, stop: int) -> None:
        """Add a block of the pending rows up to `stop`, and discard rows no later block needs."""
        rows = self._pending
        assert rows is not None
        assert rows.time is not None
        part = excerpt(rows, self._start, stop, self._margin)
        try:
            block = prepare(part.recording, self._cutoff_hz, part.span, rate_hz=self._rate_hz)
        except NoUsableSegment:
            pass  # its rows count as seen
        else:
            self._cutoff_hz = block.cutoff_hz
            self._rate_hz = block.rate_hz
            added = block_statistics(block)
            known = self.statistics
            self.statistics = added if known is None else _merge_blocks(known.append_blocks(added))
            self._outcome = None
        self.seconds = float(rows.time[stop - 1])
        kept = max(0, stop - self._margin)
        self._pending, self._start = recording_rows(rows, kept, len(rows)), stop - kept


def _schema_of_samples(schema: SchemaLike) -> Schema:
    """Return a schema with stamps in seconds in place of its clock."""
    tables = schema if isinstance(schema, Mapping) else load_schema(schema).as_written()
    return load_schema({**tables, "log": {"time": _STAMPS}})


def _merge_blocks(statistics: Statistics) -> Statistics:
    """Join blocks of time in pairs if there are too many."""
    if statistics.block.max() < 2 * MAX_TIME_BLOCKS:
        return statistics
    joined = replace(statistics, block=statistics.block // 2)
    return joined + joined.subset(np.zeros(0, dtype=np.intp))
