"""`identify study check`, `run`, `table` and `compare`: a study file, its run and its results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from identify.commands.command import (
    Command,
    Flag,
    Number,
    Outcome,
    Repeated,
    UsageError,
    interrupted,
    option,
    require_time_limit,
    require_workers,
)
from identify.errors import StudyError

if TYPE_CHECKING:
    import pandas as pd

    from identify.studies import Results, RunSummary, Study, TimeEstimate, Trial

_MOST_LINES = 25
"""Of one list: the rest is counted."""

_MOST_TRIALS = 1_000_000
"""Trials that are gone through: more takes minutes, and is most likely a slip."""


@dataclass(frozen=True, slots=True)
class StudyCheck(Command):
    """Check a study file: list its trials, count them, and estimate the time they will take.

    Nothing is written. A few trials are run to see how long one takes. Exit status: 2 for a file
    that is not a study, or that names what is not there.
    """

    file: Annotated[Path, Positional, option("FILE", "(required)")]
    """The study file (TOML)."""

    workers: Annotated[int | None, option("N", "(default: the cores there are)")] = None
    """Processes that will share the work."""

    only: Annotated[Repeated, option("WHAT=NAME", "(may be repeated)")] = ()
    """Only these trials: log=, perturbation= or estimator= and a name, * in it for anything."""

    def run(self, invocation: str) -> Outcome:
        """Count the trials, and time a few."""
        require_workers(self.workers, "study check")
        from identify.studies import default_workers, estimate_time, load_study

        study = load_study(self.file)
        if len(study) > _MOST_TRIALS:
            raise StudyError(
                f"{self.file}: {len(study)} trials: {len(study.logs)} logs × "
                f"{len(study.perturbations)} perturbations with {len(study.seeds)} seeds × "
                f"{len(study.estimators)} estimators; at most {_MOST_TRIALS} are checked: shorten "
                f"the lists, or the seeds"
            )
        trials = list(study.trials(self.only))
        workers = default_workers() if self.workers is None else max(1, self.workers)
        time = estimate_time(study, workers=workers, only=self.only)
        return Outcome(
            lines=[*_counts(study, trials), *_time(time)],
            document=lambda: {"study": study.name, "time": time, "seconds": time.seconds},
        )


@dataclass(frozen=True, slots=True)
class StudyRun(Command):
    """Run the trials of a study that a folder does not have yet; resumes what was interrupted.

    Writes OUT/results.parquet, one row a trial, with OUT/summary.md and summary.html. Trials that
    fail are rows with their error, and counted. Exit status: 0 with failed trials too, 2 for bad
    input, 130 when interrupted.
    """

    file: Annotated[Path, Positional, option("FILE", "(required)")]
    """The study file (TOML)."""

    output: Annotated[Path, option("OUT", "(required)", short="-o")]
    """Folder of the results, made if need be; what is there stays."""

    workers: Annotated[int | None, option("N", "(default: the cores there are)")] = None
    """Local processes; 0 runs in this one."""

    scheduler: Annotated[str | None, option("ADDRESS")] = None
    """Dask scheduler whose workers run the trials, in place of local processes: tcp://HOST:PORT."""

    only: Annotated[Repeated, option("WHAT=NAME", "(may be repeated)")] = ()
    """Only these trials: log=, perturbation= or estimator= and a name, * in it for anything."""

    retry_failed: Flag = False
    """Run trials again whose row is an error."""

    timeout: Annotated[Number, option("S", "(default: the study's)")] = None
    """Seconds a trial may take; one that takes longer is stopped, and a row that says so."""

    quiet: Flag = False
    """Print nothing but errors."""

    def run(self, invocation: str) -> Outcome:
        """Run what is missing, and write the summary."""
        require_workers(self.workers, "study run")
        if self.scheduler is not None and self.workers is not None:
            raise UsageError("study run: --workers is of local processes: leave out --scheduler")
        require_time_limit(self.timeout, "study run")
        from identify.studies import load_study, run_study
        from identify.studies.progress import display_progress

        study = load_study(self.file)
        try:
            with nullcontext() if self.quiet else display_progress() as progress:
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
        except KeyboardInterrupt:
            raise interrupted(self.output) from None
        from identify.reporting.study import StudyRows, rows_of_study, scores_text, write_summary

        rows = StudyRows(rows_of_study(self.output, study), study, done)
        paths = write_summary(rows, self.output)
        return Outcome(
            lines=[] if self.quiet else [scores_text(rows.results), *_lines(done)],
            document=lambda: {"study": study.name, "run": done},
            files=paths,
            quiet=self.quiet,
        )


@dataclass(frozen=True, slots=True)
class StudyTable(Command):
    """Print the means of a study's metrics by perturbation and estimator, or by other columns.

    Behind a mean stands its 95 % interval over trials: of means by the bootstrap, of shares Clopper
    and Pearson's. Consistent is the share of all fits that were tried; (n 37) beside a mean: of how
    many fits, where some estimates have no such value. A study that still runs, or that was
    interrupted, gives the means of what there is. Exit status: 2 where there are no results, or no
    such column.
    """

    results: Annotated[Path, Positional, option("OUT", "(required)")]
    """Folder that `identify study run` wrote to."""

    metric: Annotated[Repeated, option("NAME", "(may be repeated)")] = ()
    """Metrics, as mass_error, or a column, as covered_m. By default those that fill one column."""

    by: Annotated[Repeated, option("COLUMN", "(may be repeated)")] = ()
    """Columns to take means by: log, log_duration, … By default perturbation, then estimator."""

    code: Annotated[str | None, option("MARK")] = None
    """Rows of this code: by default those of the code that runs, or else of the last run."""

    def run(self, invocation: str) -> Outcome:
        """Make the table."""
        from identify.reporting.study import latest_rows, scores_text
        from identify.studies.results import DEFAULT_GROUPING, table

        results = latest_rows(self.results, self.code)
        columns, by = _columns(self.metric), self.by or DEFAULT_GROUPING
        text = "" if self.json else scores_text(results, columns, by)
        return Outcome(
            lines=[text, _which(results)],
            document=lambda: _record(results, table(results, columns, by=by)),
        )


@dataclass(frozen=True, slots=True)
class StudyCompare(Command):
    """Compare two estimators of a study on the same noisy logs, by perturbation and metric.

    Differences are B less A, paired, with 95 % intervals over the logs. Exit status: 2 where there
    are no results, or no such estimator or metric.
    """

    results: Annotated[Path, Positional, option("OUT", "(required)")]
    """Folder that `identify study run` wrote to."""

    first: Annotated[str, Positional, option("A", "(required)")]
    """An estimator as the tables call it."""

    second: Annotated[str, Positional, option("B", "(required)")]
    """The other."""

    metric: Annotated[Repeated, option("NAME", "(may be repeated)")] = ()
    """Metrics, as mass_error, or a column, as error_m. By default those that fill one column."""

    code: Annotated[str | None, option("MARK")] = None
    """Rows of this code: by default those of the code that runs, or else of the last run."""

    def run(self, invocation: str) -> Outcome:
        """Make the comparison."""
        from identify.reporting.study import comparison_text, latest_rows
        from identify.studies import compare

        results = latest_rows(self.results, self.code)
        frame = compare(results, self.first, self.second, _columns(self.metric))
        text = comparison_text(frame, self.first, self.second)
        return Outcome(
            lines=[text, _which(results)],
            document=lambda: _record(results, frame),
        )


def _counts(study: Study, trials: list[Trial]) -> Iterator[str]:
    """How many trials each log, perturbation and estimator has."""
    logs = Counter(trial.noisy.log.name for trial in trials)
    noisy = dict.fromkeys(
        (c.noisy.log.name, c.noisy.perturbation.label, c.noisy.seed_index) for c in trials
    )
    estimators = Counter(trial.estimator.label for trial in trials)
    yield f"{study.name}: {len(trials)} trials"
    yield f"  {len(noisy)} noisy logs ({len(logs)} logs) × {len(estimators)} estimators"
    yield from _listed("logs", Counter(name.rpartition("/")[0] or name for name in logs))
    seeds = Counter(perturbation for _, perturbation, _ in noisy)
    each = {label: count // len(logs) for label, count in seeds.items()}
    yield from _listed("perturbations: seeds of each log", each)
    yield from _listed("estimators: trials", estimators)
    yield from wrap(f"metrics: {', '.join(study.metrics)}", 80, subsequent_indent="  ")


def _listed(title: str, counts: Counter[str] | dict[str, int]) -> Iterator[str]:
    yield title
    for name, count in list(counts.items())[:_MOST_LINES]:
        yield f"  {count:>6}  {name}"
    if len(counts) > _MOST_LINES:
        yield f"  … and {len(counts) - _MOST_LINES} more"


def _workers(count: int) -> str:
    return f"{count} worker{'s' * (count != 1)}"


def _time(estimate: TimeEstimate) -> Iterator[str]:
    from identify.studies.progress import format_duration

    yield (
        f"time: about {format_duration(estimate.seconds)} with {_workers(estimate.workers)} "
        f"({format_duration(estimate.cpu_seconds)} of processor time), were nothing of it there"
    )
    yield f"  {1e3 * estimate.prepare_seconds:>9.2f} ms to prepare a noisy log"
    for label, seconds in estimate.estimator_seconds.items():
        yield f"  {1e3 * seconds:>9.2f} ms {label}"
    for failure in dict.fromkeys(estimate.failed):
        yield f"note: a trial that was tried failed: {failure}"


def _lines(done: RunSummary) -> Iterator[str]:
    from identify.studies.progress import format_duration

    yield (
        f"{done.total} trials: {done.already_done} were there, {done.done} run in "
        f"{format_duration(done.seconds)} by {_workers(done.workers)} "
        f"({100.0 * done.busy:.0f} % busy), {done.failed} failed"
    )
    if done.failed:
        yield "summary.md has the errors; --retry-failed runs these trials again"


def _columns(metrics: tuple[str, ...]) -> list[str] | None:
    """Columns of the metrics; all of them for one that fills several, as `covered` does."""
    from identify.studies.metrics import METRICS

    columns = [METRICS[name].columns if name in METRICS else (name,) for name in metrics]
    return [column for several in columns for column in several] or None


def _record(results: Results, frame: pd.DataFrame) -> dict[str, object]:
    """What the document says of a table: its lines, and the rows that they are of."""
    lines = frame.to_dict("records")
    return {"code": results.code, "trials": len(results.frame), "lines": lines}


def _which(results: Results) -> str:
    """Which rows these are, said where they are not of the code that runs."""
    from identify.studies.keys import code_fingerprint

    other = "" if results.code == code_fingerprint().short else ", not the one that is running"
    return f"{results.folder}: {len(results.frame)} trials of code {results.code}{other}"
