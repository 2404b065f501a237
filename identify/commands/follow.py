"""`identify fit --follow`: a log is watched as it grows, until what is needed is known."""

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

POLL = 1.0
"""Seconds between two looks at the file."""

_AGAIN = 64
"""Rows at the end of a long log that are read once more, as the last ones were not whole."""

_MOST_FAILURES = 5
"""Looks in a row at a file that grows and cannot be read."""


def follow(log: Path, schema: Schema, settings: FitSettings, tell: Callable[[str], None]) -> None:
    """Watch a log until its needs are met, or until a person interrupts.

    Args:
        log: the file, which another program writes.
        schema: what its columns mean.
        settings: of the fit, with needs.
        tell: called with a line when there is another block.

    Raises:
        IdentifyError: the log cannot be read, though it does not grow.
    """
    from identify.pipeline import OnlineFit

    fit, blocks = OnlineFit(settings), None
    tell(f"Following {log} until {settings.needs}; Ctrl-C fits what is there.")
    try:
        for rows in _new_rows(log, schema):
            fit.extend(rows)
            if fit.statistics is blocks:
                continue
            blocks = fit.statistics
            tell(_state(fit))
            if fit.ready():
                return
    except KeyboardInterrupt:
        tell("Interrupted: fitting what is there.")


def _new_rows(log: Path, schema: Schema) -> Iterator[Recording]:
    """Rows as they come, but the last one, which may not be whole yet."""
    import numpy as np

    from identify.logs.recording import rows_of

    size, read, last, failures = -1, 0, -np.inf, 0
    while True:
        before, size = size, log.stat().st_size if log.exists() else 0
        if failures or size != before:
            try:
                rows, read = _rows_from(log, schema, read)
                failures = 0
            except LogError:  # a line is being written, or there is none yet
                failures += 1
                if size == before or failures > _MOST_FAILURES:
                    raise
            else:
                assert rows.time is not None
                start = int(np.searchsorted(rows.time, last, side="right"))
                if start < len(rows) - 1:
                    last = float(rows.time[-2])
                    yield rows_of(rows, start, len(rows) - 1)
        time.sleep(POLL)


def _rows_from(log: Path, schema: Schema, read: int) -> tuple[Recording, int]:
    """Rows of a log, of a long one those that were not read before, and how many it has."""
    from identify.logs import Recording, open_log

    source = open_log(log, schema)
    if not isinstance(source, Recording):
        rows = source.reader()(max(0, read - _AGAIN), len(source), 0).recording
        return rows, len(source)
    if source.time is None or source.streams:
        raise UsageError(f"fit: {log}: --follow needs time, and one clock for all signals")
    return source, len(source)


def _state(fit: OnlineFit) -> str:
    """What is known of each need, and which turn would help most."""
    from identify.pipeline.needs import parse_needs

    try:
        estimate = fit.estimate()
        said = []
        for need in parse_needs(fit.settings.needs):
            reached = need.reached(estimate)
            said.append(
                f"{need.quantity} not identifiable"
                if reached is None
                else f"{need.quantity} ±{reached:.2g} {need.unit} (needed {need.number:g})"
            )
        text = f"{fit.seconds:.0f} s, {estimate.mass:.4g} kg: {', '.join(said)}."
        return text if fit.ready() else f"{text} Next: {fit.best_turn()}."
    except IdentifyError as error:
        return f"{fit.seconds:.0f} s: {error}."
