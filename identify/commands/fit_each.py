"""`identify fit --each`: fit many logs separately, and test whether they agree.

The runner of studies does the work: rows are in OUT/.fits, a log's files in OUT/NAME, written
together before its row. A run fits the logs that lack a row, or files named by their row.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from identify.commands.bodies import UNUSABLE_STATUS, verdict_messages
from identify.commands.command import Outcome, progress_of_run
from identify.commands.drafting import SCHEMA
from identify.commands.log_jobs import RESERVED_NAMES, LogJob, find_logs
from identify.commands.output import (
    CARRIER,
    ESTIMATE,
    REPORT,
    RESULT,
    OutputError,
    report_matches,
    require_writable,
    write_error,
    write_results,
)
from identify.errors import IdentifyError, LogError
from identify.exchange import read_estimate
from identify.files import digest, write_files
from identify.logs import Schema, read_log
from identify.pipeline import FitSettings, fit
from identify.studies.executor import limit_blas_threads
from identify.studies.keys import code_fingerprint, fields_except, result_key
from identify.studies.rows import Row, current_time_text, failure_columns
from identify.studies.runner import JobSet, choose_executor, run_work
from identify.studies.store import FolderInUse, Store, StoreInfo
from identify.studies.work import raise_if_interrupted
from identify.texts import plain_name

if TYPE_CHECKING:
    from identify.inertia import InertialParameters
    from identify.reporting.comparison import Comparison, FittedLog

RESULTS_FOLDER = ".fits"
"""Name of the folder of the result rows, within the output folder."""

_STUDY_NAME = "fit --each"
_FIELDS_WITHOUT_EFFECT = ("output", "report", "invocation")
"""Fields of `BatchFitSettings` that do not change an estimate; all others are in a log's key."""

_BUG, _UNFINISHED_STATUS = 1, 3
"""Exit statuses of a log: after an unexpected exception; after a timeout or a lost process."""


@dataclass(frozen=True, slots=True)
class BatchFitSettings:
    """Settings shared by the fits of all logs.

    Attributes:
        schema: schema of the logs.
        sensor: sensor of the logs.
        settings: settings of each fit.
        truth: reference body for the reports, if it is known.
        output: output folder.
        report: whether each log gets a report.
        invocation: the command line, for the provenance.
    """

    schema: Schema
    sensor: str
    settings: FitSettings
    truth: InertialParameters | None
    output: Path
    report: bool
    invocation: str

    def key(self) -> str:
        """Cache key of the settings, the robot's files and the code that affect an estimate."""
        joints = self.settings.joints
        files = (self.schema.robot_file, joints.robot, joints.arm)
        digests = [None if file is None else digest(Path(str(file))) for file in files]
        settings = replace(self.settings, joints=replace(joints, robot=None, arm=None))
        parts = {**fields_except(self, *_FIELDS_WITHOUT_EFFECT), "settings": settings}
        return result_key(parts, digests, code_fingerprint().short)


def fit_each(
    words: Sequence[Path],
    schema_path: Path,
    batch: BatchFitSettings,
    *,
    workers: int | None,
    timeout: float | None,
    retry_failed: bool,
    quiet: bool,
) -> Outcome:
    """Fit the logs named by paths, folders or patterns, and write table and page.

    Raises `UsageError`: a path or pattern matches no log; `OutputError`: the folder contains other
    files, another process writes to it, or it is not writable, for example because the disk is
    full; `StudyError`: rows cannot be written, or workers cannot be started.
    """
    output = batch.output
    _require_batch_folder(output)
    schema = batch.schema.joints_schema if batch.sensor == "joints" else batch.schema
    jobs, duplicates = find_logs(words, schema, schema_path, output, batch.key())
    require_writable(output, RESERVED_NAMES)
    unique = [job for job in jobs if job.name not in duplicates]
    with (
        progress_of_run(output, quiet=quiet) as progress,
        _open_store(output, unique) as store,
    ):
        store.mark_current(job.key for job in unique)
        work = JobSet(
            items=lambda: iter(unique),
            is_missing=lambda job: _is_missing(job, store, batch, retry_failed),
            batches=lambda some: ((job,) for job in some),
            run=partial(fit_logs, batch=batch),
            failed_rows=_failed_rows,
            unit_name="logs",
        )
        run_work(work, store, partial(choose_executor, workers, None, timeout), progress)
        rows = {job.name: store.row(job.key) or {} for job in unique}
        comparison = _collect_comparison(jobs, duplicates, rows, batch)
        _write_comparison(comparison, output)
    from identify.reporting.comparison import comparison_lines

    status, messages = _status_and_messages(comparison, quiet=quiet)
    return Outcome(
        lines=comparison_lines(comparison),
        messages=messages,
        document=lambda: {"logs": comparison.frame().to_dict("records")},
        files=[output / name for name in RESERVED_NAMES],
        status=status,
        quiet=quiet,
    )


def _open_store(output: Path, jobs: Sequence[LogJob]) -> Store:
    """Open the result rows of a folder, and lock it for this process."""
    try:
        return Store(
            output / RESULTS_FOLDER, StoreInfo(_STUDY_NAME, {"log": [job.name for job in jobs]})
        )
    except FolderInUse as error:
        raise OutputError(
            output, f"{error.owner} is writing to it; wait for it, or choose another folder with -o"
        ) from error


def fit_logs(jobs: Sequence[LogJob], *, batch: BatchFitSettings) -> tuple[list[Row], float]:
    """Fit logs separately on a worker; an exception becomes part of the log's row.

    Returns rows in the order of the logs, and their processor time [s].
    Raises `OutputError`: results cannot be written, which is not a fault of the log.
    """
    limit_blas_threads()
    began = time.thread_time()
    return [_result_row(job, batch) for job in jobs], time.thread_time() - began


def _result_row(job: LogJob, batch: BatchFitSettings) -> Row:
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            outcome = _fit_and_write(job, batch)
        except OutputError:
            raise
        except BaseException as error:  # noqa: BLE001 - what a log raises is its row
            raise_if_interrupted(error)
            outcome = failure_columns(type(error).__name__, _error_message(error))
            unfinished = isinstance(error, MemoryError)
            status = _UNFINISHED_STATUS if unfinished else getattr(error, "exit_code", _BUG)
            outcome["exit_code"] = status
    text = "; ".join(dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in caught))
    seconds = time.perf_counter() - began
    return _log_columns(job) | outcome | {"warnings": text or None, "seconds": seconds}


def _fit_and_write(job: LogJob, batch: BatchFitSettings) -> Row:
    """Fit a log, write its files, and return the result columns of its row."""
    recording = read_log(job.path, batch.schema, batch.sensor)
    read = {str(source.path.absolute()): source.sha256 for source in recording.sources}
    if job.files and read != dict(job.files):
        raise LogError(f"{job.path}: changed during the run; fit again", path=job.path)
    result = fit(recording, batch.settings, command=batch.invocation, truth=batch.truth)
    folder = batch.output / job.name
    try:
        write_results(folder, result, batch.truth, report=batch.report)
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
        "finished": current_time_text(),
    }


def _error_message(error: BaseException) -> str:
    if isinstance(error, IdentifyError):
        return str(error)
    if isinstance(error, MemoryError):
        return "out of memory; the next run tries this log again"
    return f"this is a bug ({type(error).__name__}: {error}); fit this log alone for the traceback"


def _log_columns(job: LogJob) -> Row:
    """Columns of a row that identify the log."""
    return {
        "key": job.key,
        "code": code_fingerprint().short,
        "study": _STUDY_NAME,
        "log": job.name,
        "log_data": " ".join(sha256 for _, sha256 in job.files),
    }


def _failed_rows(jobs: Sequence[LogJob], error_type: str, message: str) -> list[Row]:
    return [
        _log_columns(job) | failure_columns(error_type, message) | {"exit_code": _UNFINISHED_STATUS}
        for job in jobs
    ]


def _is_missing(job: LogJob, store: Store, batch: BatchFitSettings, retry_failed: bool) -> bool:
    """Return whether a log must be fitted: its row or the files of its row are missing."""
    if not store.has_result(job.key, retry_failed=retry_failed):
        return True
    row = store.row(job.key)
    if row is None:
        return True
    if row.get("status") != "fitted":  # a failed or repeated log has a row alone
        return False
    estimate = batch.output / job.name / ESTIMATE
    if not estimate.is_file() or digest(estimate) != row["estimate_sha256"]:
        return True
    return batch.report and not report_matches(estimate)


def _require_batch_folder(output: Path) -> None:
    """Raise unless the folder is new, empty, or of an earlier run of this command."""
    if not output.is_dir() or (output / RESULTS_FOLDER).is_dir():
        return
    names = {path.name for path in output.iterdir() if not path.name.startswith(".")}
    others = sorted(names - {SCHEMA})
    if others:
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        raise OutputError(
            output,
            f"contains {', '.join(others[:3])}{more}; choose with -o a new or empty folder, or "
            "that of an earlier fit --each",
        )


def _collect_comparison(
    jobs: Sequence[LogJob],
    duplicates: Mapping[str, str],
    rows: Mapping[str, Row],
    batch: BatchFitSettings,
) -> Comparison:
    """Collect the results of all logs; delete stale files of logs that failed."""
    from identify.reporting.comparison import Comparison, FittedLog

    def fitted(job: LogJob) -> FittedLog:
        name, file = job.name, plain_name(str(job.path))
        folder = batch.output / name
        row: dict[str, Any] = dict(rows.get(name, {}))
        if row.get("status") == "fitted":
            if digest(folder / ESTIMATE) != row["estimate_sha256"]:
                raise OutputError(
                    folder / ESTIMATE, "changed during the run; run the same command again"
                )
            return FittedLog(
                name,
                file,
                "fitted",
                read_estimate(folder / ESTIMATE),
                rows=row["rows"],
                duration=row["duration"],
                report=report_matches(folder / ESTIMATE),
            )
        for stale in (ESTIMATE, CARRIER, REPORT, RESULT):
            (folder / stale).unlink(missing_ok=True)
        if name in duplicates:
            return FittedLog(name, file, "duplicate", error=f"the same data as {duplicates[name]}")
        kind, message = str(row.get("error_type")), str(row.get("error"))
        return FittedLog(
            name, file, "failed", error_type=kind, error=message, exit_code=row["exit_code"]
        )

    logs = tuple(sorted(map(fitted, jobs), key=lambda log: log.name))
    existing = {path.parent.name for path in batch.output.glob(f"*/{ESTIMATE}")}
    return Comparison(
        logs, stale_folders=tuple(sorted(existing.difference(log.name for log in logs)))
    )


def _write_comparison(comparison: Comparison, output: Path) -> None:
    """Write both tables and the page, all of them or none."""
    from identify.reporting.comparison_page import comparison_html

    frame, parquet = comparison.frame(), BytesIO()
    # Texts that spreadsheets do not take for formulas.
    plain = frame.map(lambda cell: plain_name(cell) if isinstance(cell, str) else cell)
    frame.to_parquet(parquet, index=False, write_page_checksum=True)
    contents = (
        parquet.getvalue(),
        plain.to_csv(index=False).encode("utf-8", "backslashreplace"),
        comparison_html(comparison, folder=str(output)).encode("utf-8", "backslashreplace"),
    )
    try:
        write_files(
            {output / name: content for name, content in zip(RESERVED_NAMES, contents, strict=True)}
        )
    except OSError as error:
        raise write_error(output, error) from error


def _status_and_messages(comparison: Comparison, *, quiet: bool) -> tuple[int, list[str]]:
    """Lowest non-zero status of the logs, and the messages for standard error."""
    failed = comparison.logs_with_status("failed")
    fitted = len(comparison.logs) - len(comparison.logs_with_status("duplicate"))
    unusable = [log for log in comparison.logs if log.usable == "no"]
    messages = []
    if quiet:
        messages += [f"{log.name}: {log.error}" for log in failed]
        reasons = ((log.name, verdict_messages(log.estimate)) for log in unusable if log.estimate)
        messages += [f"{name}: {reason}" for name, of in reasons for reason in of]
    if failed:
        messages.append(f"error: {len(failed)} of {fitted} logs failed; see table.csv")
    if unusable:
        count = f"{len(unusable)} of {fitted - len(failed)}"
        messages.append(f"error: {count} estimates must not be used")
    codes = [*(log.exit_code for log in failed), *[UNUSABLE_STATUS] * bool(unusable)]
    return min(codes, default=0), messages
