"""`identify study table` and `identify study compare`: what the results of a study say."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional

from identify.commands.answer import answer
from identify.commands.command import Command, Repeated, option
from identify.commands.terminal import say

if TYPE_CHECKING:
    from identify.studies import Results


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

    def run(self, invocation: str) -> int:
        """Print the table."""
        from identify.reporting.study import latest_rows, scores_text
        from identify.studies.results import BY, table

        results = latest_rows(self.results, self.code)
        answer(lambda: _record(results, table(results, _columns(self.metric), by=self.by or BY)))
        say(scores_text(results, _columns(self.metric), self.by or BY), _which(results))
        return 0


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

    def run(self, invocation: str) -> int:
        """Print the comparison."""
        from identify.reporting.study import comparison_text, latest_rows
        from identify.studies import compare

        results = latest_rows(self.results, self.code)
        frame = compare(results, self.first, self.second, _columns(self.metric))
        answer(lambda: _record(results, frame))
        say(comparison_text(frame, self.first, self.second), _which(results))
        return 0


def _columns(metrics: tuple[str, ...]) -> list[str] | None:
    """Columns of the metrics; all of them for one that fills several, as `covered` does."""
    from identify.studies.metrics import METRICS

    columns = [METRICS[name].columns if name in METRICS else (name,) for name in metrics]
    return [column for several in columns for column in several] or None


def _record(results: Results, frame: Any) -> dict[str, object]:
    """What the document says of a table: its lines, and the rows that they are of."""
    lines = frame.to_dict("records")
    return {"code": results.code, "trials": len(results.frame), "lines": lines}


def _which(results: Results) -> str:
    """Which rows these are, said where they are not of the code that runs."""
    from identify.studies.keys import code_fingerprint

    other = "" if results.code == code_fingerprint().short else ", not the one that is running"
    return f"{results.folder}: {len(results.frame)} trials of code {results.code}{other}"
