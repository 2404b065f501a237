"""How far a run is, and how it is shown: a live line on a terminal, a plain line elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

_PLAIN_EVERY = 30.0
"""Seconds between plain lines."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is; what counts as done is on the disk.

    Attributes:
        cells: asked for.
        present: of them, there before the run began.
        done: by this run, failed ones included.
        failed: of those, and of those that were there, without an estimate.
        seconds: since the run began.
        named: what they are, in words.
    """

    cells: int
    present: int
    done: int = 0
    failed: int = 0
    seconds: float = 0.0
    named: str = "cells"

    @property
    def rate(self) -> float:
        """Cells a second."""
        return self.done / self.seconds if self.seconds > 0.0 else 0.0

    @property
    def left(self) -> int:
        """Cells still to do."""
        return self.cells - self.present - self.done

    @property
    def remaining(self) -> float | None:
        """Seconds still to go at this rate; None before anything is done."""
        if self.left == 0:
            return 0.0
        return self.left / self.rate if self.done else None


@contextmanager
def shown_progress(stream: IO[str] | None = None) -> Iterator[Callable[[Progress], None]]:
    """What to give `run_study` as `progress`.

    Args:
        stream: standard error where not given.
    """
    output: IO[str] = sys.stderr if stream is None else stream
    if not output.isatty():
        yield _plain(output)
        return

    from rich.console import Console
    from rich.progress import BarColumn, Progress as Bars, TextColumn

    columns = (BarColumn(bar_width=24), TextColumn("{task.description}", markup=False))
    with Bars(*columns, console=Console(file=output), transient=True) as bars:
        bar = bars.add_task("starting")
        yield lambda progress: bars.update(
            bar,
            total=progress.cells,
            completed=progress.present + progress.done,
            description=line(progress),
        )


def line(progress: Progress) -> str:
    """One line: done, failed, rate, remaining time."""
    parts = [f"{progress.present + progress.done} of {progress.cells} {progress.named}"]
    if progress.present:
        parts.append(f"{progress.present} were there")
    parts.append(f"{progress.failed} failed")
    if progress.done:
        parts.append(f"{progress.rate:.3g} a second")
    if progress.left and progress.remaining is not None:
        parts.append(f"{duration(progress.remaining)} to go")
    return ", ".join(parts)


def duration(seconds: float) -> str:
    """A time as a person says it."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _plain(stream: IO[str]) -> Callable[[Progress], None]:
    last, written = 0.0, ""

    def show(progress: Progress) -> None:
        nonlocal last, written
        if progress.seconds - last < _PLAIN_EVERY and progress.left:
            return
        counts = f"{progress.done} {progress.failed}"  # the end is reported more than once
        if counts != written:
            last, written = progress.seconds, counts
            print(line(progress), file=stream, flush=True)

    return show
