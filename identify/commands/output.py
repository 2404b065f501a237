"""Where results go: tried before the work starts, and written whole or not at all.

estimate.json, result.npz and report.html of one fit are written together, and so is the
carrier.json of a payload on its carrier. The report names the digests of both estimates.
"""

from __future__ import annotations

import logging
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from identify.errors import IdentifyError
from identify.files import NOT_REGULAR, digest, is_device_or_pipe, write_bytes, write_together
from identify.texts import printable

if TYPE_CHECKING:
    from rich.status import Status

    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult


ESTIMATE, CARRIER, REPORT = "estimate.json", "carrier.json", "report.html"
RESULT = "result.npz"

_HEAD_BYTES = 4096
"""Bytes of a report that are read for the digests of its estimates."""

_DIGEST = rb'name="(\w+)-sha256" content="([0-9a-f]{64})"'


class OutputError(IdentifyError, OSError):
    """A result cannot be written where it was asked for.

    Attributes:
        path: where.
    """

    def __init__(self, path: Path, message: str) -> None:
        self.path = path
        super().__init__(f"{path}: {message}")


def require_writable(folder: Path, names: Sequence[str]) -> None:
    """Raise unless files of these names can be written to a folder, which need not exist yet.

    Nothing is left behind: a folder that does not exist is not made.

    Raises:
        OutputError: it is a file, or cannot be written to, or one of the names is a folder,
            a device or a pipe or has a NUL in it.
    """
    try:
        if "\0" in str(folder / "".join(names)):
            raise OutputError(folder, "no file can have a name with a NUL in it; give -o another")
        if folder.exists() and not folder.is_dir():
            raise OutputError(folder, "is a file; give -o the name of a folder")
        for name in names:
            if (folder / name).is_dir():
                raise OutputError(folder / name, "is a folder, and would be a file of the results")
            if is_device_or_pipe(folder / name):
                raise OutputError(folder / name, NOT_REGULAR)
        places = (folder, *folder.absolute().parents)
        nearest = next((place for place in places if place.exists()), Path.cwd())
        if not nearest.is_dir():
            raise OutputError(nearest, f"is a file, so the folder {folder} cannot be made in it")
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OutputError:
        raise
    except OSError as error:
        raise unwritable(folder, error) from error


def require_writable_file(path: Path | None) -> None:
    """Raise unless a file of this name, if one is given, can be written; its folder need not exist.

    Raises:
        OutputError: it is a folder, a device or a pipe, or the folder cannot be written to.
    """
    if path is not None:
        require_writable(path.parent, (path.name,))


def write_file(path: Path, content: bytes | None) -> None:
    """Write a file, whole or not at all, or take away what an earlier run left there.

    Raises:
        OutputError: the system does not let it be written or removed.
    """
    try:
        if content is None:
            path.unlink(missing_ok=True)
        else:
            write_bytes(path, content)
    except OSError as error:
        raise unwritable(path, error) from error


def unwritable(path: Path, error: OSError) -> OutputError:
    """The error of a file that the system does not let one write."""
    return OutputError(path, f"cannot be written to: {error.strerror or error}")


def print_text(*lines: object, file: TextIO | None = None) -> None:
    """Print lines, whatever they hold, to standard output or to another file, at once."""
    for line in lines:
        print(printable(str(line)), file=file, flush=True)


def write_pair(
    folder: Path, result: FitResult, truth: InertialParameters | None, *, report: bool = True
) -> None:
    """Write all results of a fit to a folder, or none; what else is in it stays.

    The report comes first: half of a first pair is a report, and no command takes it for a body.
    Where this fit has no carrier, the carrier.json that the report before names goes with it, and
    without `report` the report of an earlier fit and its result.npz, which is to make it anew.

    Raises:
        OutputError: the system does not let them be written.
    """
    from identify.exchange.estimate_json import estimate_text

    files, stale = {}, []
    if report:
        from identify.pipeline.saved_result import result_bytes
        from identify.reporting.page import report_html

        text = report_html(result, truth)
        files[folder / REPORT] = text.encode("utf-8", errors="backslashreplace")
        files[folder / RESULT] = result_bytes(result, truth)
    else:
        stale += [folder / REPORT, folder / RESULT]
    if result.carrier is not None:
        files[folder / CARRIER] = estimate_text(result.carrier.estimate).encode()
    elif report_is_of(folder / CARRIER):
        stale.append(folder / CARRIER)
    files[folder / ESTIMATE] = estimate_text(result.estimate).encode()
    try:
        write_together(files)
        for path in stale:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error


def report_is_of(estimate: Path) -> bool:
    """Whether there is a report beside an estimate, and names its digest."""
    try:
        with estimate.with_name(REPORT).open("rb") as file:
            named = dict(re.findall(_DIGEST, file.read(_HEAD_BYTES)))
        return named.get(estimate.stem.encode(), b"").decode() == digest(estimate)
    except OSError:
        return False


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
