"""What the logger "identify" says, as the terminal shows it: warnings, and stages with their times.

The toolkit configures no handler; these are of the program, for as long as a command runs.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from identify.commands.output import print_text
from identify.texts import printable

if TYPE_CHECKING:
    from rich.status import Status

_LOGGER = logging.getLogger("identify")


class _Warnings(logging.Handler):
    """A line on standard error for each warning."""

    def emit(self, record: logging.LogRecord) -> None:
        print_text(f"identify: {record.levelname.lower()}: {record.getMessage()}", file=sys.stderr)


class _Stages(logging.Handler):
    """A line for each stage that is done, with its time, and one that moves for what goes on."""

    def __init__(self, status: Status) -> None:
        super().__init__()
        self._status = status
        self._stage, self._began = "", 0.0

    def emit(self, record: logging.LogRecord) -> None:
        """INFO begins a stage, DEBUG says how far it is."""
        from rich.text import Text

        text = printable(record.getMessage())
        if record.levelno == logging.INFO:
            self.end()
            self._stage, self._began = text, time.perf_counter()
        if record.levelno <= logging.INFO:
            self._status.update(Text(text))

    def end(self) -> None:
        """Say how long the stage took that was going on."""
        from rich.text import Text

        if self._stage:
            seconds = time.perf_counter() - self._began
            self._status.console.print(Text(f"{seconds:8.2f} s  {self._stage}", style="dim"))
            self._stage = ""


@contextmanager
def shown_warnings() -> Iterator[None]:
    """Print warnings of the toolkit on standard error."""
    with _handled(_Warnings(logging.WARNING), logging.WARNING):
        yield


@contextmanager
def shown_stages(*, shown: bool = True) -> Iterator[None]:
    """Show stages and their times where somebody watches; in color unless NO_COLOR is set."""
    if not (shown and sys.stderr.isatty()):
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status("") as status:
        stages = _Stages(status)
        with _handled(stages, logging.DEBUG):
            yield
        stages.end()


@contextmanager
def _handled(handler: logging.Handler, level: int) -> Iterator[None]:
    """Have the logger give at least a level to a handler."""
    before = _LOGGER.level
    _LOGGER.addHandler(handler)
    _LOGGER.setLevel(min(level, _LOGGER.getEffectiveLevel()))
    try:
        yield
    finally:
        _LOGGER.removeHandler(handler)
        _LOGGER.setLevel(before)
