"""Progress for a person: a live line on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO

from identify.experiments.progress import Progress

_PLAIN_EVERY = 30.0
"""Seconds between plain lines."""


@contextmanager
def shown_progress(stream: IO[str] | None = None) -> Iterator[Callable[[Progress], None]]:
    """What to give `run_study` as `progress`.

    Args:
        stream: standard error where not given.
    """
    chosen: IO[str] = sys.stderr if stream is None else stream
    if chosen.isatty():
        with _live(chosen) as show:
            yield show
    else:
        yield _plain(chosen)


def line(progress: Progress) -> str:
    """One line: done, failed, rate, remaining time."""
    parts = [f"{progress.present + progress.done} of {progress.cells} cells"]
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


@contextmanager
def _live(stream: IO[str]) -> Iterator[Callable[[Progress], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bars

    columns = (BarColumn(bar_width=24), TextColumn("{task.description}", markup=False))
    with Bars(*columns, console=Console(file=stream), transient=True) as bars:
        bar = bars.add_task("starting")

        def show(progress: Progress) -> None:
            bars.update(
                bar,
                total=progress.cells,
                completed=progress.present + progress.done,
                description=line(progress),
            )

        yield show


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
