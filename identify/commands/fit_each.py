"""`identify fit --each`: every log for itself, one table, and whether they agree.

The studies' runner does it: rows are in OUT/.fits, a log's files in OUT/NAME, written together
before its row. What lacks a row, or the files that the row names, is what a run does.
"""

from __future__ import annotations

import glob
import os
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from os.path import commonpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from identify.commands.bodies import NOT_TO_BE_USED, reasons_of
from identify.commands.command import Outcome, UsageError, interrupted
from identify.commands.output import (
    CARRIER,
    ESTIMATE,
    REPORT,
    RESULT,
    OutputError,
    report_is_of,
    require_writable,
    unwritable,
    write_pair,
)
from identify.errors import IdentifyError, LogError
from identify.exchange import read_estimate
from identify.files import digest, require_file, write_together
from identify.logs import Schema, read_log
from identify.logs.readers import READERS
from identify.pipeline import FitSettings, fit
from identify.studies.executor import limit_blas_threads
from identify.studies.keys import code_fingerprint, fields_except, key_of
from identify.studies.progress import display_progress
from identify.studies.rows import Row, failure_columns, now
from identify.studies.runner import JobSet, choose_executor, run_work
from identify.studies.sources import is_folder_log, source_files
from identify.studies.store import FolderInUse, Store, StoreInfo
from identify.studies.work import raise_if_interrupted
from identify.texts import plain_name

if TYPE_CHECKING:
    import pandas as pd

    from identify.inertia import InertialParameters
    from identify.reporting.comparison import Comparison, FittedLog

EACH_STORE = ".fits"
"""Folder of the rows, in that of the results."""

RESERVED = ("table.parquet", "table.csv", "comparison.html")
"""Names in the folder of the results that no log's folder has."""

_DATA = (".csv", ".tsv", ".txt", ".dat", ".log", *READERS)
"""Suffixes of the files that a folder is searched for; a pattern or a name says what it means."""

_LONGEST_FOLDER_NAME = 200

_STUDY = "fit --each"
_NOT_OF_AN_ESTIMATE = ("output", "report", "invocation")
"""Fields of an `EachFit` that do not change an estimate. All others count in the key of a log."""

_BUG, _CANNOT = 1, 3
"""Statuses of a log: of an error that nobody raised on purpose; of one that came to no end."""


@dataclass(frozen=True, slots=True)
class LogJob:
    """A log to fit for itself.

    Attributes:
        key: the same for what gives the same estimate: data, name and all that was asked for.
        name: of its folder, and in tables.
        path: of the log.
        files: the files that it is read from, with their sha256; none where that is not known.
    """

    key: str
    name: str
    path: Path
    files: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class EachFit:
    """What is asked of every log.

    Attributes:
        schema: of the columns.
        settings: of the fit.
        truth: the true body, if it is known, for the reports.
        output: folder of the results.
        report: whether each log gets a report.
        invocation: the command line, for the provenance.
    """

    schema: Schema
    settings: FitSettings
    truth: InertialParameters | None
    output: Path
    report: bool
    invocation: str

    def key(self) -> str:
        """The same where the same estimate comes of the same data, by this code."""
        return key_of(fields_except(self, *_NOT_OF_AN_ESTIMATE), code_fingerprint().short)


def fit_each(
    words: Sequence[Path],
    schema_path: Path,
    asked: EachFit,
    *,
    workers: int | None,
    timeout: float | None,
    retry_failed: bool,
    quiet: bool,
) -> Outcome:
    """Fit the logs that words name, and write table and page.

    Raises:
        UsageError: a word names no log.
        OutputError: the folder holds something else, another process fits into it, or it cannot be
            written to: no row is of a disk that is full.
        StudyError: rows cannot be written, or workers cannot be had.
    """
    output = asked.output
    _require_own(output)
    jobs, same = find_logs(words, asked.schema, schema_path, output, asked.key())
    require_writable(output, RESERVED)
    own = [job for job in jobs if job.name not in same]
    try:
        with _opened(output, own) as store:
            store.mark_current(job.key for job in own)
            work = JobSet(
                items=lambda: iter(own),
                is_missing=lambda job: _is_missing(job, store, asked, retry_failed),
                batches=lambda some: ((job,) for job in some),
                run=partial(fit_logs, asked=asked),
                failed_rows=_failed,
                unit_name="logs",
            )
            with nullcontext() if quiet else display_progress() as progress:
                run_work(work, store, partial(choose_executor, workers, None, timeout), progress)
            rows = {job.name: store.row(job.key) or {} for job in own}
            comparison = _compared(jobs, same, rows, asked)
            _write(comparison, output)
    except KeyboardInterrupt:
        raise interrupted(output) from None
    from identify.reporting.comparison import comparison_lines

    status, messages = _status(comparison, quiet=quiet)
    return Outcome(
        lines=comparison_lines(comparison),
        messages=messages,
        document=lambda: {"logs": comparison.frame().to_dict("records")},
        files=[output / name for name in RESERVED],
        status=status,
        quiet=quiet,
    )


def find_logs(
    words: Sequence[Path], schema: Schema, schema_path: Path, output: Path, asked: str
) -> tuple[list[LogJob], dict[str, str]]:
    """The logs that words name, sorted by path, each once.

    Args:
        words: logs; patterns with `*`, `?`, `[` or `**`; folders of logs, unless the schema names
            the files of a log, which a folder then is.
        schema: of all of them.
        schema_path: its file, which no pattern means.
        output: folder of the results, in which no pattern looks.
        asked: the same where the same is asked of a log, by the same code.

    Returns:
        The logs, and names of those with the data of an earlier one, with that one's name.

    Raises:
        UsageError: a word names nothing.
    """
    whole = is_folder_log(schema)
    named: dict[Path, Path] = {}
    for word in words:
        for path in _named(word, whole):
            place = Path(os.path.realpath(path))  # of a link to itself too, unlike resolve()
            if place != schema_path.resolve() and output.resolve() not in (place, *place.parents):
                named.setdefault(place, path)
    if not named:
        raise UsageError(f"fit --each: {', '.join(map(str, words))}: no logs in it")
    paths = sorted(named.values())
    jobs: list[LogJob] = []
    same: dict[str, str] = {}
    seen: dict[tuple[str, ...], str] = {}
    for path, name in zip(paths, names_of(paths), strict=True):
        files = _digests(path, schema)
        job = LogJob(_key(name, path, files, asked), name, path, files)
        jobs.append(job)
        content = tuple(sha256 for _, sha256 in files)
        if content and content in seen:
            same[name] = seen[content]
        seen.setdefault(content, name)
    return jobs, same


def names_of(paths: Sequence[Path]) -> list[str]:
    """A name for each log: its path below the folder of all, without suffix where that is enough.

    Raises:
        UsageError: two logs have the same name.
    """
    top = Path(commonpath([path.absolute().parent for path in paths]))
    full = ["-".join(path.absolute().relative_to(top).parts) for path in paths]
    short = [
        name.removesuffix(
            "".join(path.suffixes[-2:] if path.suffix == ".gz" else path.suffixes[-1:])
        )
        for name, path in zip(full, paths, strict=True)
    ]
    names = [plain_name(name, _LONGEST_FOLDER_NAME).lstrip(".") or "log" for name in short]
    counts = Counter(name.casefold() for name in (*names, *RESERVED))
    names = [
        name
        if counts[name.casefold()] == 1
        else plain_name(whole, _LONGEST_FOLDER_NAME).lstrip(".")
        for name, whole in zip(names, full, strict=True)
    ]
    counts = Counter(name.casefold() for name in (*names, *RESERVED))
    for path, name in zip(paths, names, strict=True):
        if counts[name.casefold()] > 1:
            raise UsageError(
                f"fit --each: {path}: another log would also be written to OUT/{name}; rename one "
                "of them"
            )
    return names


def _named(word: Path, whole: bool) -> Iterator[Path]:
    """The logs that a word names.

    Raises:
        UsageError: it is a pattern, or a folder, without any.
        MissingFile: there is no such file.
    """
    if word.is_dir() and not whole:
        found = [path for path in sorted(word.iterdir()) if _is_data(path)]
        if not found:
            raise UsageError(
                f"fit --each: {word}: a folder without logs ({', '.join(_DATA)}); name the files "
                f"with a pattern, as '{word}/*.out'"
            )
        yield from found
    elif word.exists() or not glob.has_magic(str(word)):
        if not word.is_dir():
            require_file(word)
        yield word
    else:
        matches = map(Path, sorted(glob.glob(str(word), recursive=True)))
        found = [path for path in matches if path.is_dir() == whole]
        if not found:
            kind = "folder (the schema names the files of a log)" if whole else "file"
            raise UsageError(f"fit --each: {word}: no {kind} matches the pattern")
        yield from found


def _is_data(path: Path) -> bool:
    suffix = Path(path.stem).suffix if path.suffix.lower() == ".gz" else path.suffix
    return path.is_file() and not path.name.startswith(".") and suffix.lower() in _DATA


def _digests(log: Path, schema: Schema) -> tuple[tuple[str, str], ...]:
    """The files of a log with their sha256; none where it cannot be said, as its fit will say."""
    try:
        files = source_files(log, schema)
        return tuple((str(file.path.absolute()), file.sha256) for file in files)
    except (IdentifyError, OSError):
        return ()


def _key(name: str, path: Path, files: tuple[tuple[str, str], ...], asked: str) -> str:
    return key_of(name, [sha256 for _, sha256 in files] or str(path.absolute()), asked)


def _opened(output: Path, jobs: Sequence[LogJob]) -> Store:
    """The rows of a folder, which is this process's from now on."""
    try:
        return Store(output / EACH_STORE, StoreInfo(_STUDY, {"log": [job.name for job in jobs]}))
    except FolderInUse as error:
        raise OutputError(
            output, f"{error.owner} is fitting logs into it; wait for it, or give -o another folder"
        ) from error


def fit_logs(jobs: Sequence[LogJob], *, asked: EachFit) -> tuple[list[Row], float]:
    """Fit logs, each for itself, on a worker; whatever one raises becomes part of its row.

    Returns:
        Rows in the order of the logs, and the processor time they took [s].

    Raises:
        OutputError: the results of one cannot be written, which says nothing of the log.
    """
    limit_blas_threads()
    began = time.thread_time()
    return [_row(job, asked) for job in jobs], time.thread_time() - began


def _row(job: LogJob, asked: EachFit) -> Row:
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            outcome = _fitted(job, asked)
        except OutputError:
            raise
        except BaseException as error:  # noqa: BLE001 - what a log raises is its row
            raise_if_interrupted(error)
            outcome = failure_columns(type(error).__name__, _message(error))
            outcome["exit_code"] = _exit_code(error)
    said = "; ".join(dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in caught))
    seconds = time.perf_counter() - began
    return _name(job) | outcome | {"warnings": said or None, "seconds": seconds}


def _fitted(job: LogJob, asked: EachFit) -> Row:
    """Fit a log and write its files; the part of its row that says what came of it."""
    recording = read_log(job.path, asked.schema)
    read = {str(source.path.absolute()): source.sha256 for source in recording.sources}
    if job.files and read != dict(job.files):
        raise LogError(f"{job.path}: changed while the logs were fitted; fit again", path=job.path)
    result = fit(recording, asked.settings, command=asked.invocation, truth=asked.truth)
    folder = asked.output / job.name
    try:
        write_pair(folder, result, asked.truth, report=asked.report)
        sha256 = digest(folder / ESTIMATE)
    except OutputError:
        raise
    except (OSError, LogError) as error:
        raise OutputError(folder, f"cannot be written to: {error}") from error
    logs: Any = result.to_dict()["logs"]
    return {
        "status": "fitted",
        "estimate_sha256": sha256,
        "rows": logs[0]["rows"],
        "duration": logs[0]["duration"],
        "finished": now(),
    }


def _message(error: BaseException) -> str:
    if isinstance(error, IdentifyError):
        return str(error)
    if isinstance(error, MemoryError):
        return "there was too little memory to fit it; a later run tries it again"
    return f"this is a bug ({type(error).__name__}: {error}); fit this log alone to see where"


def _exit_code(error: BaseException) -> int:
    return _CANNOT if isinstance(error, MemoryError) else getattr(error, "exit_code", _BUG)


def _name(job: LogJob) -> Row:
    """The columns that say which log it is."""
    return {
        "key": job.key,
        "code": code_fingerprint().short,
        "study": _STUDY,
        "log": job.name,
        "log_data": " ".join(sha256 for _, sha256 in job.files),
    }


def _failed(jobs: Sequence[LogJob], kind: str, message: str) -> list[Row]:
    return [_name(job) | failure_columns(kind, message) | {"exit_code": _CANNOT} for job in jobs]


def _is_missing(job: LogJob, store: Store, asked: EachFit, retry_failed: bool) -> bool:
    """Whether a log is to be fitted: it has no row, or not the files that the row is of."""
    if not store.has(job.key, retry_failed=retry_failed):
        return True
    row = store.row(job.key)
    if row is None or row.get("status") != "fitted":
        return row is None
    estimate = asked.output / job.name / ESTIMATE
    if not estimate.is_file() or digest(estimate) != row["estimate_sha256"]:
        return True
    return asked.report and not report_is_of(estimate)


def _require_own(output: Path) -> None:
    """Raise unless a folder is empty, or that of an earlier run of this command."""
    if not output.is_dir() or (output / EACH_STORE).is_dir():
        return
    others = sorted(path.name for path in output.iterdir() if not path.name.startswith("."))
    if others:
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        raise OutputError(
            output,
            f"holds {', '.join(others[:3])}{more}; give -o a new folder, an empty one, or that of "
            "an earlier fit --each",
        )


def _compared(
    jobs: Sequence[LogJob], same: Mapping[str, str], rows: Mapping[str, Row], asked: EachFit
) -> Comparison:
    """All logs with what came of them; what an earlier run left of one that failed now goes."""
    from identify.reporting.comparison import Comparison, FittedLog

    def fitted(job: LogJob) -> FittedLog:
        name, file = job.name, plain_name(str(job.path))
        folder = asked.output / name
        row: dict[str, Any] = dict(rows.get(name, {}))
        if row.get("status") == "fitted":
            if digest(folder / ESTIMATE) != row["estimate_sha256"]:
                raise OutputError(
                    folder / ESTIMATE, "changed while the logs were fitted; run it again"
                )
            return FittedLog(
                name,
                file,
                "fitted",
                read_estimate(folder / ESTIMATE),
                rows=row["rows"],
                duration=row["duration"],
                report=report_is_of(folder / ESTIMATE),
            )
        for left in (ESTIMATE, CARRIER, REPORT, RESULT):
            (folder / left).unlink(missing_ok=True)
        if name in same:
            return FittedLog(name, file, "duplicate", error=f"the same data as {same[name]}")
        kind, message = str(row.get("error_type")), str(row.get("error"))
        return FittedLog(
            name, file, "failed", error_type=kind, error=message, exit_code=row["exit_code"]
        )

    logs = tuple(sorted(map(fitted, jobs), key=lambda log: log.name))
    there = {path.parent.name for path in asked.output.glob(f"*/{ESTIMATE}")}
    return Comparison(logs, dropped=tuple(sorted(there.difference(log.name for log in logs))))


def _write(comparison: Comparison, output: Path) -> None:
    """Write both tables and the page, all of them or none."""
    from identify.reporting.comparison_page import comparison_html

    frame, parquet = comparison.frame(), BytesIO()
    frame.to_parquet(parquet, index=False, write_page_checksum=True)
    contents = (
        parquet.getvalue(),
        _plain(frame).to_csv(index=False).encode("utf-8", "backslashreplace"),
        comparison_html(comparison, folder=str(output)).encode("utf-8", "backslashreplace"),
    )
    try:
        write_together(
            {output / name: content for name, content in zip(RESERVED, contents, strict=True)}
        )
    except OSError as error:
        raise unwritable(output, error) from error


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    """A table for other programs, whose cells are text or numbers and no formulas."""
    return frame.map(lambda cell: plain_name(cell) if isinstance(cell, str) else cell)


def _status(comparison: Comparison, *, quiet: bool) -> tuple[int, list[str]]:
    """The least status of the logs that is not 0, and what to say of it on standard error."""
    failed = comparison.of_status("failed")
    fitted = len(comparison.logs) - len(comparison.of_status("duplicate"))
    unusable = [log for log in comparison.logs if log.usable == "no"]
    messages = []
    if quiet:
        messages += [f"{log.name}: {log.error}" for log in failed]
        reasons = ((log.name, reasons_of(log.estimate)) for log in unusable if log.estimate)
        messages += [f"{name}: {reason}" for name, of in reasons for reason in of]
    if failed:
        messages.append(f"error: {len(failed)} of {fitted} logs failed; see table.csv")
    if unusable:
        count = f"{len(unusable)} of {fitted - len(failed)}"
        messages.append(f"error: {count} estimates are not to be used")
    codes = [*(log.exit_code for log in failed), *[NOT_TO_BE_USED] * bool(unusable)]
    return min(codes, default=0), messages
