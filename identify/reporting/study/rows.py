"""Selection of the rows of a results folder for tables and figures, and names of columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from identify.errors import StudyError
from identify.estimation.intervals import NAMES
from identify.reporting.rounding import significant
from identify.studies import Results, RunSummary, Study, open_results
from identify.studies.keys import code_fingerprint
from identify.studies.metrics import METRICS, find_heading
from identify.studies.results import default_metrics
from identify.studies.rows import COLUMNS

if TYPE_CHECKING:
    import pandas as pd


_ERRORS = ("mass_error", "first_moment_error", "relative_inertia_error", "inertia_error")


@dataclass(frozen=True)
class StudyRows:
    """The rows of a study, and what ran.

    Attributes:
        results: rows of one code, each trial once.
        study: what was to run, where it is at hand.
        run: of the run that was just done, where there was one.
    """

    results: Results
    study: Study | None = None
    run: RunSummary | None = None

    @property
    def seconds(self) -> float:
        """Wall time of all runs of the code that made the rows [s]; 0 where it is not known."""
        return float(self.results.info.codes.get(self.results.code or "", {}).get("seconds", 0.0))

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The rows as a pandas table; a failed fit is one that is not consistent."""
        return failures_counted(self.results.frame)

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """Metrics of a single column that some row has."""
        frame = self.results.frame
        return tuple(name for name in default_metrics(self.results) if frame[name].notna().any())

    @cached_property
    def drawn(self) -> tuple[str, ...]:
        """Metrics that have a panel in figures, from the top."""
        return tuple(name for name in self.metrics if find_heading(name).drawn)

    @cached_property
    def errors(self) -> tuple[str, ...]:
        """The errors that tables by log have room for: three, a published inertia first."""
        names = [name for name in _ERRORS if name in self.metrics]
        published = None if self.study is None else self.study.published
        if published is not None and {"inertia_error"} <= published.metrics.keys() & set(names):
            names = [name for name in names if name != "relative_inertia_error"]
        return tuple(names[:3])

    @cached_property
    def swept(self) -> tuple[str, ...]:
        """Columns of the options that vary; only the first of several that vary together."""
        frame: pd.DataFrame = self.results.frame
        varied: list[str] = []
        for name in frame.columns:
            values = frame[name]
            varies = is_setting(name) and values.dtype.kind in "fiu" and values.nunique() > 1
            if varies and not any(_part_alike(values, frame[other]) for other in varied):
                varied.append(name)
        return tuple(varied)

    @cached_property
    def interval_names(self) -> tuple[str, ...]:
        """Parameters that some row has an interval and a truth for."""
        frame = self.frame
        columns = ((name, f"covered_{name}") for name in NAMES)
        return tuple(name for name, one in columns if one in frame and frame[one].notna().any())

    def labels(self, column: str) -> list[str]:
        """Logs, perturbations or estimators that have rows, in the order of the study file."""
        present = dict.fromkeys(map(str, self.frame[column].unique()))
        listed = [label for label in self.results.info.order.get(column, ()) if label in present]
        return list(dict.fromkeys([*listed, *present]))

    def parts(
        self, column: str, within: pd.DataFrame | None = None
    ) -> Iterator[tuple[str, pd.DataFrame]]:
        """The labels of a column that have rows, in the order of the study file, with those rows.

        Args:
            column: "log", "perturbation" or "estimator".
            within: some of the rows; all where not given.
        """
        groups = dict(iter((self.frame if within is None else within).groupby(column)))
        return ((label, groups[label]) for label in self.labels(column) if label in groups)

    @property
    def noisy(self) -> list[str]:
        """The perturbations, without `none` where there are others."""
        labels = self.labels("perturbation")
        return [label for label in labels if label != "none"] or labels


def rows_of_study(folder: Path, study: Study) -> Results:
    """The rows of a study's trials, as this code makes them; those of other settings are left out.

    Raises:
        StudyError: there is none.
    """
    results = open_results(folder)
    keys = [trial.key for trial in study.trials()]
    frame: pd.DataFrame = results.frame
    subset = frame[frame["key"].isin(keys)]
    if subset.empty:
        raise StudyError(f"{folder}: none of the rows there is of the study {study.name!r}")
    return replace(results, frame=subset.reset_index(drop=True))


def latest_rows(folder: Path, code: str | None = None) -> Results:
    """The rows of one code, each trial once.

    Args:
        folder: of the results.
        code: fingerprint of the code; where not given, this one if it has any rows, else the last
            that wrote some.

    Raises:
        StudyError: no results, of another schema version, or none of that code.
    """
    if code is None:
        frame: pd.DataFrame = open_results(folder, code="all").frame
        if not (frame.empty or (frame["code"] == code_fingerprint().short).any()):
            code = str(frame["code"].iloc[frame["finished"].argmax()])
    return open_results(folder, code=code)


def is_setting(column: str) -> bool:
    """Whether a column is an option of a log or a perturbation."""
    metrics = (name for metric in METRICS.values() for name in metric.columns)
    return not (column in {*COLUMNS, *metrics, "log_body"} or column.startswith("estimator_"))


def of_logs(column: str) -> bool:
    """Whether it is an option of the logs, not of a perturbation."""
    return column.startswith("log_")


def _part_alike(first: pd.Series, second: pd.Series) -> bool:
    """Whether two columns part the rows alike."""
    pairs = first.astype(str) + "\n" + second.astype(str)
    return pairs.nunique() == first.nunique(dropna=False) == second.nunique(dropna=False)


def failures_counted(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows, those without an estimate as not consistent: the share is of all fits tried."""
    if "consistent" not in frame:
        return frame
    fitted = frame["error_type"].isna()
    return frame.assign(consistent=frame["consistent"].where(fitted, 0.0).astype(float))


def partial_metrics(frame: pd.DataFrame, metrics: Sequence[str]) -> frozenset[str]:
    """Metrics that some estimates lack, as inconsistent ones have no Riemannian distance.

    Their means are of selected fits: they are shown with how many these are.
    """
    fitted = frame[frame["error_type"].isna()]
    return frozenset(name for name in metrics if fitted[name].isna().any())


def failed(part: pd.DataFrame) -> str:
    """Return the number of rows without an estimate."""
    return str(int(part["error_type"].notna().sum()))


def counted(shown: str, count: int) -> str:
    """Append the number of fits to a mean."""
    return f"{shown} (n {count})" if count else shown


def shown(metric: str, value: float | None) -> str:
    """Format a value of a metric for tables."""
    return number(None if value is None else find_heading(metric).factor * value)


def shown_narrowly(metric: str, value: float) -> str:
    """Format a value of a metric in at most eight characters."""
    scaled = find_heading(metric).factor * value
    if scaled != scaled:
        return "–"
    if scaled == 0.0 or 1e-4 <= abs(scaled) < 1e6:
        return number(scaled)
    mantissa, exponent = f"{scaled:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def number(value: float | None, digits: int = 3) -> str:
    """A number with a few significant digits, a dash where there is none."""
    if value is None or value != value:
        return "–"
    return significant(value, digits)


def percent(share: float | None) -> str:
    """A share in per cent, to a tenth; 100 only where it is all."""
    if share is None or share != share:
        return "–"
    text = f"{100.0 * share:.1f}".removesuffix(".0")
    return "99.9" if text == "100" and share < 1.0 else text


_SETTINGS = {
    "log_duration": "duration of the log [s]",
    "log_excitation": "excitation (factor on the motion)",
    "log_mass": "mass [kg]",
    "log_rate_hz": "samples a second [Hz]",
    "log_bandwidth_hz": "fastest sine of the motion [Hz]",
    "noise_scale": "noise (factor on all sigmas)",
    "noise_force": "noise of the force, 1 σ [N]",
    "noise_torque": "noise of the torque, 1 σ [N m]",
    "delay_wrench": "delay of the wrench [s]",
    "decimation_every": "rows of which one is kept",
    "dropped_rows_share": "share of rows dropped",
}


def setting(column: str) -> str:
    """A column of an option as words: `log_duration` is the duration of the logs."""
    return _SETTINGS.get(column, column.replace("_", " "))


def code(text: str) -> str:
    """A name or message as it was written, on one line."""
    words = " ".join(text.split()).replace("`", "'")
    return f"`{words}`"
