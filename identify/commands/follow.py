"""`identify fit --follow`: watch a log while it is recorded, until the needs are met."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from identify.commands.command import UsageError
from identify.errors import IdentifyError, LogError

if TYPE_CHECKING:
    from identify.logs import Recording, Schema
    from identify.pipeline import FitSettings, OnlineFit

POLL_INTERVAL_S = 1.0
"""Time between two reads of the file [s]."""

_MAX_REREAD_ROWS = 64
"""Number of last rows of a long log that are read again, as they may have been incomplete."""

_MAX_FAILURES = 5
"""Maximum number of consecutive failed reads of a growing file."""


def follow(
    log: Path, schema: Schema, settings: FitSettings, print_line: Callable[[str], None]
) -> None:
    """Watch a log until its needs are met, or until the user interrupts.

    Raises `IdentifyError`: the log cannot be read and has stopped growing.
    """
    from identify.pipeline import OnlineFit

    fit, blocks = OnlineFit(settings), None
    print_line(f"Following {log} until {settings.needs}; Ctrl-C fits the rows recorded so far.")
    try:
        for rows in _new_rows(log, schema):
            fit.extend(rows)
            if fit.statistics is blocks:
                continue
            blocks = fit.statistics
            print_line(_status_line(fit))
            if fit.ready():
                return
    except KeyboardInterrupt:
        print_line("Interrupted: fitting the rows recorded so far.")


def _new_rows(log: Path, schema: Schema) -> Iterator[Recording]:
    """Yield new rows as they are written, except the last one, which may be incomplete."""
    import numpy as np

    from identify.logs.recording import recording_rows

    size = -1
    read = 0
    last = -np.inf
    failures = 0
    while True:
        before, size = size, log.stat().st_size if log.exists() else 0
        if failures or size != before:
            try:
                rows, read = _rows_from(log, schema, read)
                failures = 0
            except LogError:  # a line is being written, or there is none yet
                failures += 1
                if size == before or failures > _MAX_FAILURES:
                    raise
            else:
                assert rows.time is not None
                start = int(np.searchsorted(rows.time, last, side="right"))
                if start < len(rows) - 1:
                    last = float(rows.time[-2])
                    yield recording_rows(rows, start, len(rows) - 1)
        time.sleep(POLL_INTERVAL_S)


def _rows_from(log: Path, schema: Schema, read: int) -> tuple[Recording, int]:
    """Return a log's rows (of a long log only unread rows), and their total number."""
    from identify.logs import Recording, open_log

    source = open_log(log, schema, "wrench")
    if not isinstance(source, Recording):
        rows = source.reader()(max(0, read - _MAX_REREAD_ROWS), len(source), 0).recording
        return rows, len(source)
    if source.time is None or source.streams:
        raise UsageError(f"fit: {log}: --follow needs time stamps, and one clock for all signals")
    return source, len(source)


def _status_line(fit: OnlineFit) -> str:
    """Return the status line: reached precision of each need, and the most informative motion."""
    from identify.pipeline.required_precision import parse_required_precision

    try:
        estimate = fit.estimate()
        precisions = []
        for need in parse_required_precision(fit.settings.needs):
            reached = need.half_width(estimate, total=need.total)
            precisions.append(
                f"{need.quantity} not identifiable"
                if reached is None
                else f"{need.quantity} ±{reached:.2g} {need.unit} (needed {need.limit:g})"
            )
        text = f"{fit.seconds:.0f} s, {estimate.mass:.4g} kg: {', '.join(precisions)}."
        return text if fit.ready() else f"{text} Next: {fit.best_oscillation()}."
    except IdentifyError as error:
        return f"{fit.seconds:.0f} s: {error}."
