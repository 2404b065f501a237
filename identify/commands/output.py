"""Result files, written atomically after a check that they can be written; progress output.

estimate.json, result.npz and report.html of one fit are written together, and so is the
carrier.json of a payload on its carrier. The report stores the digests of both estimates.
"""

from __future__ import annotations

import logging
import re
import shutil
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TextIO

from identify.errors import IdentifyError
from identify.files import NOT_REGULAR_MESSAGE, digest, is_device_or_pipe, write_bytes, write_files
from identify.findings import Finding
from identify.progress import format_duration
from identify.texts import escape_unprintable

if TYPE_CHECKING:
    from rich.status import Status

    from identify.inertia import InertialParameters
    from identify.pipeline import Result


ESTIMATE = "estimate.json"
CARRIER = "carrier.json"
REPORT = "report.html"
RESULT, ARM = "result.npz", "arm.json"

_HEAD_BYTES = 4096
"""Number of bytes at the start of a report that contain the digests of estimates."""

_DIGEST_PATTERN = rb'name="(\w+)-sha256" content="([0-9a-f]{64})"'


class OutputError(IdentifyError, OSError):
    """A result cannot be written to the requested path.

    Attributes:
        path: the file or folder.
    """

    def __init__(self, path: Path, message: str) -> None:
        self.path = path
        super().__init__(f"{path}: {message}")


def require_writable(folder: Path, names: Sequence[str]) -> None:
    """Raise unless files of these names can be written to a folder, which may be missing.

    The check leaves nothing behind and does not create the folder.

    Raises `OutputError`: the folder is a file or not writable, or one of the names is a folder, a
    device or a pipe, or contains a NUL character.
    """
    try:
        if "\0" in str(folder / "".join(names)):
            raise OutputError(folder, "a file name cannot contain NUL; choose another -o")
        if folder.exists() and not folder.is_dir():
            raise OutputError(folder, "is a file; give -o the name of a folder")
        for name in names:
            if (folder / name).is_dir():
                raise OutputError(folder / name, "is a folder, but a result file has this name")
            if is_device_or_pipe(folder / name):
                raise OutputError(folder / name, NOT_REGULAR_MESSAGE)
        ancestors = (folder, *folder.absolute().parents)
        nearest = next((path for path in ancestors if path.exists()), Path.cwd())
        if not nearest.is_dir():
            raise OutputError(nearest, f"is a file, so the folder {folder} cannot be created in it")
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OutputError:
        raise
    except OSError as error:
        raise write_error(folder, error) from error


def require_writable_file(path: Path | None) -> None:
    """Raise unless the file, if given, can be written; its folder need not exist.

    Raises `OutputError`: the path is a folder, a device or a pipe, or its folder is not writable.
    """
    if path is None:
        return
    if path.parent.exists() and not path.parent.is_dir():
        raise OutputError(path.parent, f"is a file, so {path.name} cannot be created in it")
    require_writable(path.parent, (path.name,))


def write_file(path: Path, content: bytes | None) -> None:
    """Write a file atomically; None removes the file of an earlier run.

    Raises `OutputError`: the operating system refuses to write or remove it.
    """
    try:
        if content is None:
            path.unlink(missing_ok=True)
        else:
            write_bytes(path, content)
    except OSError as error:
        raise write_error(path, error) from error


def write_error(path: Path, error: OSError) -> OutputError:
    """Return the error for a file that the operating system refuses to write."""
    return OutputError(path, f"cannot be written to: {error.strerror or error}")


def print_text(*lines: object, file: TextIO | None = None) -> None:
    """Print lines with unprintable characters escaped, and flush after each."""
    for line in lines:
        print(escape_unprintable(str(line)), file=file, flush=True)


def error_lines(error: IdentifyError) -> list[str]:
    """Return the reason of an error, and below it each remedy and the override, on their lines."""
    finding = getattr(error, "finding", None)
    if not isinstance(finding, Finding):
        return str(error).splitlines()
    as_read = getattr(error, "as_read", "")
    place = f"{finding.where}: " if finding.where else ""
    lines = [f"{place}{finding.text}", *([f"  as read: {as_read}"] if as_read else [])]
    for sentence in re.split(r"(?<=[.:]) (?=Or:? )", finding.remedy) if finding.remedy else ():
        text = sentence.removeprefix("Or: ").removeprefix("Or ")
        alternative = "override" if "--apply" in text else "or"
        lines.append(f"  {alternative if sentence.startswith('Or') else 'remedy'}: {text}")
    return lines


def wrapped_lines(lines: Iterable[str], stream: TextIO) -> list[str]:
    """Wrap lines to the width of a terminal; those for a file or a pipe stay as they are."""
    if not stream.isatty():
        return list(lines)
    width = shutil.get_terminal_size().columns
    return [
        part
        for line in lines
        for part in textwrap.wrap(
            line,
            width,
            subsequent_indent=" " * (len(line) - len(line.lstrip()) + 2),
            break_long_words=False,
            break_on_hyphens=False,
        )
    ]


def write_results(
    folder: Path,
    result: Result,
    truth: InertialParameters | None,
    *,
    report: bool = True,
    others: Mapping[Path, bytes] = MappingProxyType({}),
) -> list[Path]:
    """Write all results of a fit to a folder, or none; keep other files in the folder.

    The report is renamed first: if the process dies after it, no command mistakes it for a body.
    Without a carrier in this fit, the carrier.json of the previous fit is removed. Without
    `report`, the report of the previous fit and its result.npz are removed.

    `truth`: the true body, if known.
    Returns the files written, the estimate first.
    Raises `OutputError`: the operating system refuses to write them.
    """
    from identify.pipeline.saved_result import result_bytes, result_texts

    files, stale = {}, []
    if report:
        from identify.reporting.page import report_html

        text = report_html(result, truth)
        files[folder / REPORT] = text.encode("utf-8", errors="backslashreplace")
        files[folder / RESULT] = result_bytes(result, truth)
    else:
        stale += [folder / REPORT, folder / RESULT]
    texts = {folder / name: text.encode() for name, text in result_texts(result).items()}
    if folder / CARRIER not in texts and report_matches(folder / CARRIER):
        stale.append(folder / CARRIER)
    # The estimate comes last: an interrupted fit leaves none without its report.
    write_folder(folder, {**files, **dict(reversed(texts.items())), **others}, stale)
    return [*texts, *reversed(files), *others]


def write_folder(folder: Path, files: Mapping[Path, bytes], stale: Iterable[Path] = ()) -> None:
    """Write files of a result together, and remove those of an earlier one.

    Raises `OutputError`: the operating system refuses to write or remove them.
    """
    try:
        write_files(files)
        for path in stale:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise write_error(folder, error) from error


def report_matches(estimate: Path) -> bool:
    """Return whether the folder of an estimate has a report with the estimate's digest."""
    try:
        with estimate.with_name(REPORT).open("rb") as file:
            digests = dict(re.findall(_DIGEST_PATTERN, file.read(_HEAD_BYTES)))
        return digests.get(estimate.stem.encode(), b"").decode() == digest(estimate)
    except OSError:
        return False


_LOGGER = logging.getLogger("identify")

_PROGRESS_INTERVAL = 2.0
"""Interval between lines of progress, and time of work before its remaining time is told [s]."""


class _WarningHandler(logging.Handler):
    """Log handler that prints each warning as a line on standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        print_text(f"identify: {record.levelname.lower()}: {record.getMessage()}", file=sys.stderr)


class _StageHandler(logging.Handler):
    """Log handler that prints completed stages with durations, and animates the current one."""

    def __init__(self, status: Status) -> None:
        super().__init__()
        self._status = status
        self._stage, self._began = "", 0.0

    def emit(self, record: logging.LogRecord) -> None:
        """Begin a stage on an INFO record, and update its progress on a DEBUG record."""
        from rich.text import Text

        text = escape_unprintable(record.getMessage())
        if record.levelno == logging.INFO:
            self.end()
            self._stage, self._began = text, time.perf_counter()
        if record.levelno <= logging.INFO:
            self._status.update(Text(text + time_left(record, time.perf_counter() - self._began)))

    def end(self) -> None:
        """Print the duration of the current stage."""
        from rich.text import Text

        if self._stage:
            seconds = time.perf_counter() - self._began
            self._status.console.print(Text(f"{seconds:8.2f} s  {self._stage}", style="dim"))
            self._stage = ""


class _ProgressHandler(logging.Handler):
    """Log handler that prints the progress of long work as lines on standard error."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self._began = self._printed = time.perf_counter()

    def emit(self, record: logging.LogRecord) -> None:
        """Print a DEBUG record with progress, every few seconds."""
        now = time.perf_counter()
        if record.levelno == logging.INFO:
            self._began = now
        elif hasattr(record, "progress") and now - self._printed > _PROGRESS_INTERVAL:
            self._printed = now
            text = record.getMessage() + time_left(record, now - self._began)
            print_text(f"identify: {text}", file=sys.stderr)


def time_left(record: logging.LogRecord, seconds: float) -> str:
    """Return ", … left" for a record of progress, after some seconds of work; "" before."""
    done, total = getattr(record, "progress", (0, 0))
    if not done or seconds < _PROGRESS_INTERVAL:
        return ""
    return f", {format_duration(seconds * (total - done) / done)} left"


@contextmanager
def warnings_on_stderr(*, progress: bool = False) -> Iterator[None]:
    """Print warnings of the toolkit on standard error, and the progress of long work if asked."""
    with _with_handler(_WarningHandler(logging.WARNING), logging.WARNING):
        if not progress:
            yield
            return
        with _with_handler(_ProgressHandler(), logging.DEBUG):
            yield


@contextmanager
def stages_on_terminal(*, shown: bool = True) -> Iterator[None]:
    """Show stages and their durations if standard error is a terminal."""
    if not (shown and sys.stderr.isatty()):
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status("") as status:
        stages = _StageHandler(status)
        with _with_handler(stages, logging.DEBUG):
            yield
        stages.end()


@contextmanager
def _with_handler(handler: logging.Handler, level: int) -> Iterator[None]:
    """Attach a handler to the logger, and lower the logger's level to `level` if it is higher."""
    before = _LOGGER.level
    _LOGGER.addHandler(handler)
    _LOGGER.setLevel(min(level, _LOGGER.getEffectiveLevel()))
    try:
        yield
    finally:
        _LOGGER.removeHandler(handler)
        _LOGGER.setLevel(before)
