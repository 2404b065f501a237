"""`identify study run`: a study through its estimators, its results and their summary."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from identify.commands.command import Command, Flag, Repeated, UsageError, option
from identify.commands.study_check import require_workers
from identify.commands.terminal import printable

if TYPE_CHECKING:
    from identify.experiments import Progress, RunSummary, Study

_INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class StudyRun(Command):
    """Run the cells of a study that a folder does not have yet; resumes what was interrupted.

    Writes OUT/results.parquet, one row a cell, and OUT/summary.md with figures. Cells that fail are
    rows with their error, and counted. Exit status: 0 with failed cells too, 2 for bad input, 130
    when interrupted.
    """

    file: Annotated[Path, Positional, option("FILE", "(required)")]
    """The study file (TOML)."""

    output: Annotated[Path, option("OUT", "(required)", short="-o")]
    """Folder of the results, made if need be; what is there stays."""

    workers: Annotated[int | None, option("N", "(default: the cores there are)")] = None
    """Local processes; 0 runs in this one."""

    scheduler: Annotated[str | None, option("ADDRESS")] = None
    """Dask scheduler whose workers run the cells, in place of local processes: tcp://HOST:PORT."""

    only: Annotated[Repeated, option("WHAT=NAME", "(may be repeated)")] = ()
    """Only these cells: log=, perturbation= or estimator= and a name, * in it for anything."""

    retry_failed: Flag = False
    """Run cells again whose row is an error."""

    quiet: Flag = False
    """Print nothing but errors."""

    def run(self, invocation: str) -> int:
        """Run what is missing, write the summary, print the table."""
        require_workers(self.workers, "study run")
        if self.scheduler is not None and self.workers is not None:
            raise UsageError("study run: --workers is of local processes: leave out --scheduler")
        from identify.experiments import load_study

        study = load_study(self.file)
        try:
            done = self._run(study)
        except KeyboardInterrupt:
            message = f"identify: interrupted; {self.output} keeps what was done, and the same"
            print(printable(f"{message} command takes it up"), file=sys.stderr, flush=True)
            return _INTERRUPTED
        self._tell(study, done)
        return 0

    def _run(self, study: Study) -> RunSummary:
        from identify.experiments import run_study

        with self._progress() as progress:
            return run_study(
                study,
                self.output,
                workers=self.workers,
                scheduler=self.scheduler,
                only=self.only,
                retry_failed=self.retry_failed,
                progress=progress,
            )

    def _progress(self) -> AbstractContextManager[Callable[[Progress], None] | None]:
        from identify.experiments.progress import shown_progress

        return nullcontext() if self.quiet else shown_progress()

    def _tell(self, study: Study, done: RunSummary) -> None:
        from identify.reporting.study import StudyRows, rows_of_study, scores_text, write_summary

        rows = StudyRows(rows_of_study(self.output, study), study, done)
        paths = write_summary(rows, self.output)
        if self.quiet:
            return
        print(printable(scores_text(rows.results)))
        for line in _lines(done):
            print(line)
        for path in paths:
            print(printable(str(path)))


def _lines(done: RunSummary) -> Iterator[str]:
    from identify.experiments.progress import duration

    yield (
        f"{done.cells} cells: {done.present} were there, {done.done} run in "
        f"{duration(done.seconds)} by {done.workers} workers ({100.0 * done.busy:.0f} % busy), "
        f"{done.failed} failed"
    )
    if done.failed:
        yield "summary.md has the errors; --retry-failed runs these cells again"
