"""`identify study check`, `run`, `table` and `compare`: check and run a study, show its results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from textwrap import wrap
from threading import Thread
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from identify.commands.command import (
    Command,
    Flag,
    Number,
    Outcome,
    Repeated,
    UsageError,
    option,
    progress_of_run,
    require_time_limit,
    require_workers,
)
from identify.errors import StudyError

if TYPE_CHECKING:
    import pandas as pd

    from identify.studies import Results, RunSummary, Study, TimeEstimate, Trial

_MAX_LINES = 25
"""Maximum number of printed entries of a list; further entries are counted."""

_MAX_TRIALS = 1_000_000
"""Maximum number of trials that `study check` lists; more are probably a mistake."""


@dataclass(frozen=True, slots=True)
class StudyCheck(Command):
    """Check a study file: list and count its trials, and estimate their time.

    Nothing is written. A few trials are run to measure their time. Exit status: 2 for a file that
    is not a study, or that names missing logs, perturbations or estimators.
    """

    file: Annotated[Path, Positional, option("FILE", "(required)")]
    """Study file (TOML)."""

    workers: Annotated[int | None, option("N", "(default: number of cores)")] = None
    """Number of processes assumed for the estimated time."""

    only: Annotated[Repeated, option("WHAT=NAME", "(may be repeated)")] = ()
    """Select trials by log=NAME, perturbation=NAME or estimator=NAME; * is a wildcard."""

    def run(self, invocation: str) -> Outcome:
        """Count the trials, and measure the run time of a few."""
        require_workers(self.workers, "study check")
        from identify.studies import default_workers, estimate_time, load_study

        study = load_study(self.file)
        if len(study) > _MAX_TRIALS:
            raise StudyError(
                f"{self.file}: {len(study)} trials: {len(study.logs)} logs × "
                f"{len(study.perturbations)} perturbations with {len(study.seeds)} seeds × "
                f"{len(study.estimators)} estimators; expected at most {_MAX_TRIALS}: shorten "
                f"the lists or the seeds"
            )
        trials = list(study.trials(self.only))
        workers = default_workers() if self.workers is None else max(1, self.workers)
        time = estimate_time(study, workers=workers, only=self.only)
        return Outcome(
            lines=[*_count_lines(study, trials), *_time_lines(time)],
            document=lambda: {"study": study.name, "time": time, "seconds": time.seconds},
        )


@dataclass(frozen=True, slots=True)
class StudyRun(Command):
    """Run a study, or resume it: only trials without a result row are run.

    Writes OUT/results.parquet with one row per trial, OUT/summary.md and OUT/summary.html. Failed
    trials are rows with their error, and are counted. Exit status: 0 even if trials failed, 2 for
    bad input, 130 when interrupted.
    """

    file: Annotated[Path, Positional, option("FILE", "(required)")]
    """Study file (TOML)."""

    output: Annotated[Path, option("OUT", "(required)", short="-o")]
    """Result folder, created if it does not exist; existing rows are kept."""

    workers: Annotated[int | None, option("N", "(default: number of cores)")] = None
    """Number of local processes; 0 uses this process."""

    scheduler: Annotated[str | None, option("ADDRESS")] = None
    """Dask scheduler (tcp://HOST:PORT) to use instead of local processes."""

    only: Annotated[Repeated, option("WHAT=NAME", "(may be repeated)")] = ()
    """Select trials by log=NAME, perturbation=NAME or estimator=NAME; * is a wildcard."""

    retry_failed: Flag = False
    """Run trials again that failed before."""

    timeout: Annotated[Number, option("S", "(default: the study's)")] = None
    """Time limit per trial [s]; slower trials are recorded as failed."""

    quiet: Flag = False
    """Print nothing but errors."""

    def run(self, invocation: str) -> Outcome:
        """Run the missing trials, and write the summary."""
        require_workers(self.workers, "study run")
        if self.scheduler is not None and self.workers is not None:
            raise UsageError("study run: --workers cannot be combined with --scheduler")
        require_time_limit(self.timeout, "study run")
        from identify.studies.worker_server import start_worker_server

        if self.workers != 0 and self.scheduler is None:
            start_worker_server()
        from identify.studies import load_study, run_study

        study = load_study(self.file)
        Thread(target=_load_summary_libraries).start()
        with progress_of_run(self.output, quiet=self.quiet) as progress:
            done = run_study(
                study,
                self.output,
                workers=self.workers,
                scheduler=self.scheduler,
                only=self.only,
                retry_failed=self.retry_failed,
                timeout=self.timeout,
                progress=progress,
            )
        from identify.reporting.study import StudyRows, rows_of_study, scores_text, write_summary

        rows = StudyRows(rows_of_study(self.output, study), study, done)
        paths = write_summary(rows, self.output)
        return Outcome(
            lines=[] if self.quiet else [scores_text(rows.results), *_run_lines(done)],
            document=lambda: {"study": study.name, "run": done},
            files=paths,
            quiet=self.quiet,
        )


def _load_summary_libraries() -> None:
    """Load what a summary needs, while workers start and run trials."""
    for name in ("pandas", "matplotlib.figure", "identify.reporting.study"):
        import_module(name)


@dataclass(frozen=True, slots=True)
class StudyTable(Command):
    """Print the means of a study's metrics by perturbation and estimator, or by other columns.

    Each mean is followed by its 95 % interval over trials: by the bootstrap for means, by Clopper
    and Pearson for proportions. `consistent` is the proportion of all attempted fits; (n 37) after
    a mean is the number of fits, if some estimates lack the value. For an unfinished study, the
    means are over its rows so far. Exit status: 2 if there are no results, or no such column.
    """

    results: Annotated[Path, Positional, option("OUT", "(required)")]
    """Result folder of `identify study run`."""

    metric: Annotated[Repeated, option("NAME", "(may be repeated)")] = ()
    """Metric, as mass_error, or its column, as covered_m; by default all with one column."""

    by: Annotated[Repeated, option("COLUMN", "(may be repeated)")] = ()
    """Column to group means by, as log; by default perturbation and estimator."""

    code: Annotated[str | None, option("FINGERPRINT")] = None
    """Select rows by code fingerprint; by default that of this code, else of the last run."""

    def run(self, invocation: str) -> Outcome:
        """Print the table of means."""
        from identify.reporting.study import latest_rows, scores_text
        from identify.studies.results import DEFAULT_GROUPING, table

        results = latest_rows(self.results, self.code)
        columns, by = _columns(self.metric), self.by or DEFAULT_GROUPING
        text = "" if self.json else scores_text(results, columns, by)
        return Outcome(
            lines=[text, _results_source(results)],
            document=lambda: _record(results, table(results, columns, by=by)),
        )


@dataclass(frozen=True, slots=True)
class StudyCompare(Command):
    """Compare two estimators of a study on the same noisy logs, by perturbation and metric.

    Differences are B − A, paired, with 95 % intervals over the logs. Exit status: 2 if there are no
    results, or no such estimator or metric.
    """

    results: Annotated[Path, Positional, option("OUT", "(required)")]
    """Result folder of `identify study run`."""

    first: Annotated[str, Positional, option("A", "(required)")]
    """Name of an estimator, as in the tables."""

    second: Annotated[str, Positional, option("B", "(required)")]
    """Name of the other estimator."""

    metric: Annotated[Repeated, option("NAME", "(may be repeated)")] = ()
    """Metric, as mass_error, or its column, as error_m; by default all with one column."""

    code: Annotated[str | None, option("FINGERPRINT")] = None
    """Select rows by code fingerprint; by default that of this code, else of the last run."""

    def run(self, invocation: str) -> Outcome:
        """Print the comparison of the estimators."""
        from identify.reporting.study import comparison_text, latest_rows
        from identify.studies import compare

        results = latest_rows(self.results, self.code)
        frame = compare(results, self.first, self.second, _columns(self.metric))
        text = comparison_text(frame, self.first, self.second)
        return Outcome(
            lines=[text, _results_source(results)],
            document=lambda: _record(results, frame),
        )


def _count_lines(study: Study, trials: list[Trial]) -> Iterator[str]:
    """Format the numbers of trials by log, perturbation and estimator."""
    logs = Counter(trial.noisy.log.name for trial in trials)
    noisy = dict.fromkeys(
        (trial.noisy.log.name, trial.noisy.perturbation.label, trial.noisy.seed_index)
        for trial in trials
    )
    estimators = Counter(trial.estimator.label for trial in trials)
    yield f"{study.name}: {len(trials)} trials"
    yield f"  {len(noisy)} noisy logs ({len(logs)} logs) × {len(estimators)} estimators"
    yield from _truncated_list("logs", Counter(name.rpartition("/")[0] or name for name in logs))
    seeds = Counter(perturbation for _, perturbation, _ in noisy)
    seeds_per_log = {label: count // len(logs) for label, count in seeds.items()}
    yield from _truncated_list("perturbations: seeds per log", seeds_per_log)
    yield from _truncated_list("estimators: trials", estimators)
    yield from wrap(f"metrics: {', '.join(study.metrics)}", 80, subsequent_indent="  ")


def _truncated_list(title: str, counts: Counter[str] | dict[str, int]) -> Iterator[str]:
    yield title
    for name, count in list(counts.items())[:_MAX_LINES]:
        yield f"  {count:>6}  {name}"
    if len(counts) > _MAX_LINES:
        yield f"  … and {len(counts) - _MAX_LINES} more"


def _workers(count: int) -> str:
    return f"{count} worker{'s' * (count != 1)}"


def _time_lines(estimate: TimeEstimate) -> Iterator[str]:
    from identify.progress import format_duration

    yield (
        f"time: about {format_duration(estimate.seconds)} with {_workers(estimate.workers)} "
        f"({format_duration(estimate.cpu_seconds)} of processor time), without existing results"
    )
    yield f"  {1e3 * estimate.prepare_seconds:>9.2f} ms to prepare a noisy log"
    for label, seconds in estimate.estimator_seconds.items():
        yield f"  {1e3 * seconds:>9.2f} ms {label}"
    for failure in dict.fromkeys(estimate.failed):
        yield f"note: a test trial failed: {failure}"


def _run_lines(done: RunSummary) -> Iterator[str]:
    from identify.progress import format_duration

    yield (
        f"{done.total} trials: {done.already_done} cached, {done.done} run in "
        f"{format_duration(done.seconds)} by {_workers(done.workers)} "
        f"({100.0 * done.busy:.0f} % busy), {done.failed} failed"
    )
    if done.failed:
        yield "summary.md lists the errors; --retry-failed runs these trials again"


def _columns(metrics: tuple[str, ...]) -> list[str] | None:
    """Return the result columns of the metrics; some, such as `covered`, have several."""
    from identify.studies.metrics import METRICS

    columns = [METRICS[name].columns if name in METRICS else (name,) for name in metrics]
    return [column for metric_columns in columns for column in metric_columns] or None


def _record(results: Results, frame: pd.DataFrame) -> dict[str, object]:
    """Return the JSON document of a table: its lines, code fingerprint and number of trials."""
    lines = frame.to_dict("records")
    return {"code": results.code, "trials": len(results.frame), "lines": lines}


def _results_source(results: Results) -> str:
    """Describe the source of a table's rows, with a note on another code version."""
    from identify.studies.keys import code_fingerprint

    other = "" if results.code == code_fingerprint().short else ", not the running version"
    return f"{results.folder}: {len(results.frame)} trials of code {results.code}{other}"
