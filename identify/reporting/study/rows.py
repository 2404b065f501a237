"""Rows of a results folder for tables and figures, and descriptions of their columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from identify.errors import StudyError
from identify.estimation.intervals import ESTIMATED_QUANTITIES
from identify.reporting.rounding import format_significant
from identify.studies import Results, RunSummary, Study, open_results
from identify.studies.keys import code_fingerprint
from identify.studies.metrics import METRICS, find_heading
from identify.studies.results import default_metrics
from identify.studies.rows import COLUMN_TYPES

if TYPE_CHECKING:
    import pandas as pd


_ERROR_METRICS = ("mass_error", "first_moment_error", "relative_inertia_error", "inertia_error")


@dataclass(frozen=True)
class StudyRows:
    """Rows of a study's results, with the study and a summary of its run.

    Attributes:
        results: rows of one code version, each trial once.
        study: the study, if available.
        run: summary of the run just finished, if any.
    """

    results: Results
    study: Study | None = None
    run: RunSummary | None = None

    @property
    def seconds(self) -> float:
        """Wall time of all runs by the version of the code of these rows [s]; 0 if unknown."""
        return float(self.results.info.codes.get(self.results.code or "", {}).get("seconds", 0.0))

    @cached_property
    def frame(self) -> pd.DataFrame:
        """Rows as a pandas table; a failed fit counts as not consistent."""
        return with_failures_as_inconsistent(self.results.frame)

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """Metrics with a single column and at least one value."""
        frame = self.results.frame
        return tuple(name for name in default_metrics(self.results) if frame[name].notna().any())

    @cached_property
    def plotted_metrics(self) -> tuple[str, ...]:
        """Metrics that have a panel in the figures of a study, from the top."""
        return tuple(name for name in self.metrics if find_heading(name).has_panel)

    @cached_property
    def error_metrics(self) -> tuple[str, ...]:
        """At most three error metrics shown in tables by log; a published error comes first."""
        names = [name for name in _ERROR_METRICS if name in self.metrics]
        published = None if self.study is None else self.study.published
        if published is not None and {"inertia_error"} <= published.metrics.keys() & set(names):
            names = [name for name in names if name != "relative_inertia_error"]
        return tuple(names[:3])

    @cached_property
    def varied_options(self) -> tuple[str, ...]:
        """Columns of options that vary in a study; of several that vary together only the first."""
        frame: pd.DataFrame = self.results.frame
        columns: list[str] = []
        for name in frame.columns:
            values = frame[name]
            varies = is_option_column(name) and values.dtype.kind in "fiu" and values.nunique() > 1
            if varies and not any(_same_partition(values, frame[other]) for other in columns):
                columns.append(name)
        return tuple(columns)

    @property
    def log_options(self) -> tuple[str, ...]:
        """Columns of options of the logs that vary, with those whose values are texts."""
        frame: pd.DataFrame = self.results.frame
        texts = (
            name
            for name in filter(is_option_column, frame.columns)
            if frame[name].dtype.kind not in "fiub" and frame[name].nunique() > 1
        )
        return tuple(name for name in (*self.varied_options, *texts) if name.startswith("log_"))

    @cached_property
    def interval_names(self) -> tuple[str, ...]:
        """Parameters with an interval and a true value in at least one row."""
        frame = self.frame
        columns = ((name, f"covered_{name}") for name in ESTIMATED_QUANTITIES)
        return tuple(
            name for name, column in columns if column in frame and frame[column].notna().any()
        )

    def labels(self, column: str) -> list[str]:
        """Return the logs, perturbations or estimators that have rows, in the study's order."""
        present = dict.fromkeys(map(str, self.frame[column].unique()))
        listed = [label for label in self.results.info.order.get(column, ()) if label in present]
        return list(dict.fromkeys([*listed, *present]))

    def rows_by_label(
        self, column: str, within: pd.DataFrame | None = None
    ) -> Iterator[tuple[str, pd.DataFrame]]:
        """Yield each label of a column with its rows, in the order of the study file.

        `column`: "log", "perturbation" or "estimator"; `within`: some of the rows, by default all.
        """
        groups = dict(iter((self.frame if within is None else within).groupby(column)))
        return ((label, groups[label]) for label in self.labels(column) if label in groups)

    @property
    def perturbation_labels(self) -> list[str]:
        """Labels of the perturbations, without `none` unless it is the only one."""
        labels = self.labels("perturbation")
        return [label for label in labels if label != "none"] or labels


def rows_of_study(folder: Path, study: Study) -> Results:
    """Return the rows of a study's trials, for the current code and settings.

    Raises `StudyError`: the folder has no such row.
    """
    results = open_results(folder)
    keys = [trial.key for trial in study.trials()]
    frame: pd.DataFrame = results.frame
    subset = frame[frame["key"].isin(keys)]
    if subset.empty:
        raise StudyError(f"{folder}: no row belongs to the study {study.name!r}")
    return replace(results, frame=subset.reset_index(drop=True))


def latest_rows(folder: Path, code: str | None = None) -> Results:
    """Return the rows of one version of the code, each trial once.

    `code`: its fingerprint; by default the current one if it has rows, else that of the latest row.
    Raises `StudyError`: no results, results of another schema version, or no row of that code.
    """
    if code is None:
        frame: pd.DataFrame = open_results(folder, code="all").frame
        if not (frame.empty or (frame["code"] == code_fingerprint().short).any()):
            code = str(frame["code"].iloc[frame["finished"].argmax()])
    return open_results(folder, code=code)


def is_option_column(column: str) -> bool:
    """Return whether a column is an option of a log or a perturbation."""
    metrics = (name for metric in METRICS.values() for name in metric.columns)
    return not (column in {*COLUMN_TYPES, *metrics, "log_body"} or column.startswith("estimator_"))


def _same_partition(first: pd.Series, second: pd.Series) -> bool:
    """Return whether two columns partition the rows in the same way."""
    pairs = first.astype(str) + "\n" + second.astype(str)
    return pairs.nunique() == first.nunique(dropna=False) == second.nunique(dropna=False)


def with_failures_as_inconsistent(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with failed fits counted as physically inconsistent."""
    if "consistent" not in frame:
        return frame
    fitted = frame["error_type"].isna()
    return frame.assign(consistent=frame["consistent"].where(fitted, 0.0).astype(float))


def partial_metrics(frame: pd.DataFrame, metrics: Sequence[str]) -> frozenset[str]:
    """Return metrics that some estimates lack, such as the Riemannian distance.

    Their means are over a subset of the fits and are shown with the number of these.
    """
    fitted = frame[frame["error_type"].isna()]
    return frozenset(name for name in metrics if fitted[name].isna().any())


def failure_count(part: pd.DataFrame) -> str:
    """Return the number of rows without an estimate."""
    return str(int(part["error_type"].notna().sum()))


def with_count(shown: str, count: int) -> str:
    """Append the number of fits to the text of a mean."""
    return f"{shown} (n {count})" if count else shown


def format_metric(metric: str, value: float | None) -> str:
    """Format a value of a metric for tables."""
    return format_number(None if value is None else find_heading(metric).display_factor * value)


def format_metric_narrow(metric: str, value: float) -> str:
    """Format a value of a metric in at most eight characters."""
    scaled = find_heading(metric).display_factor * value
    if scaled != scaled:
        return "–"
    if scaled == 0.0 or 1e-4 <= abs(scaled) < 1e6:
        return format_number(scaled)
    mantissa, exponent = f"{scaled:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def format_number(value: float | None, digits: int = 3) -> str:
    """Format a number with a few significant digits; a dash for a missing one."""
    if value is None or value != value:
        return "–"
    return format_significant(value, digits)


def format_percent(fraction: float | None) -> str:
    """Format a fraction in per cent, to a tenth; 100 only if it is exactly 1."""
    if fraction is None or fraction != fraction:
        return "–"
    text = f"{100.0 * fraction:.1f}".removesuffix(".0")
    return "99.9" if text == "100" and fraction < 1.0 else text


_OPTION_DESCRIPTIONS = {
    "log_duration": "duration of the log [s]",
    "log_excitation": "excitation (factor on the motion)",
    "log_mass": "mass [kg]",
    "log_rate_hz": "sampling rate [Hz]",
    "log_bandwidth_hz": "bandwidth of the motion [Hz]",
    "noise_scale": "noise (factor on all sigmas)",
    "noise_force": "noise of the force, 1 σ [N]",
    "noise_torque": "noise of the torque, 1 σ [N m]",
    "delay_wrench": "delay of the wrench [s]",
    "decimation_every": "decimation factor",
    "dropped_rows_share": "share of dropped rows",
}


def describe_option(column: str) -> str:
    """Return the description of the column of an option, such as `log_duration`."""
    return _OPTION_DESCRIPTIONS.get(column, column.replace("_", " "))


def inline_code(text: str) -> str:
    """Format a name or message as inline code, on one line."""
    words = " ".join(text.split()).replace("`", "'")
    return f"`{words}`"
