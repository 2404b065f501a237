"""Results of a study as a pandas table: means with intervals, and paired differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, stdtrit

from identify.arrays import Array
from identify.errors import StudyError, did_you_mean
from identify.significance import CONFIDENCE_LEVEL, CONFIDENCE_QUANTILE, NORMAL_QUANTILE
from identify.studies.keys import code_fingerprint
from identify.studies.metrics import METRICS
from identify.studies.store import StoreInfo, read_info, read_rows

if TYPE_CHECKING:
    import pandas as pd


DEFAULT_GROUPING = ("perturbation", "estimator")
"""Default columns by which trials are grouped; means are taken over each group."""


@dataclass(frozen=True, slots=True, repr=False)
class Results:
    """Results of a study: one row per trial, of one version of the code or of all versions.

    Attributes:
        folder: the results folder.
        frame: one row a trial, in the order of code, log, perturbation, estimator and seed.
        info: the study, and the versions of the code.
        code: fingerprint of the code of the rows; None if there are several.
    """

    folder: Path
    frame: pd.DataFrame
    info: StoreInfo
    code: str | None

    def __repr__(self) -> str:
        return f"Results({str(self.folder)!r}, {len(self.frame)} trials, code={self.code!r})"

    @property
    def metrics(self) -> tuple[str, ...]:
        """Columns of metrics in the rows, in the registry's order."""
        columns = [column for metric in METRICS.values() for column in metric.columns]
        return tuple(column for column in columns if column in self.frame)

    def selected_metrics(self, names: Sequence[str] | None) -> list[str]:
        """Return the columns of named metrics; by default all metrics with a single column.

        Raises:
            StudyError: a column is missing; suggests the nearest.
        """
        for name in names or ():
            if name not in self.metrics:
                hint = did_you_mean(name, self.metrics) or f"; they have {', '.join(self.metrics)}"
                raise StudyError(f"{self.folder}: the results have no metric {name!r}{hint}")
        return list(default_metrics(self) if names is None else names)


def open_results(folder: Path | str, *, code: str | None = None) -> Results:
    """Read the results of a study, also while the study is running.

    If several rows have the same labels, because metrics, data, seed or settings were changed
    between runs, the row of the study that was run last counts (column `current`), or else the row
    that was finished last.

    Args:
        folder: of the results.
        code: fingerprint of the code of the rows, as in the column `code`; "all" for every row; by
            default the running code, and of its rows the trials of the study as it was last run.

    Raises:
        StudyError: no results, of another schema version, or none of that code.
    """
    folder = Path(folder)
    frame = read_rows(folder).to_pandas()
    info = read_info(folder)
    if code == "all":
        return Results(folder, frame, info, None)
    fingerprint = code or code_fingerprint().short
    subset = frame[frame["code"] == fingerprint]
    count = len(subset)
    subset = _latest(subset[subset["current"]] if code is None else subset)
    if subset.empty and count:
        raise StudyError(
            f"{folder}: no results of the present version of the code; run the study again, or "
            f"give the code {fingerprint} for the {count} rows of other versions"
        )
    if subset.empty and len(frame):
        counts = ", ".join(
            f"{name} ({n} trials)" for name, n in frame["code"].value_counts().items()
        )
        raise StudyError(
            f"{folder}: no results of {'this' if code is None else 'the'} code, {fingerprint}, "
            f"but of {counts}: give one of these, or run the study again"
        )
    if subset.empty:
        raise StudyError(f"{folder}: no results yet; run the study")
    return Results(folder, subset, info, fingerprint)


def _latest(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each label: of the current study if there is one, else the latest."""
    by_time = frame.sort_values(["current", "finished"], kind="stable")
    latest = by_time.drop_duplicates(["log", "perturbation", "estimator", "seed"], keep="last")
    return latest.sort_index().reset_index(drop=True)


def table(
    results: Results, metrics: Sequence[str] | None = None, *, by: Sequence[str] = DEFAULT_GROUPING
) -> pd.DataFrame:
    """Return the means of metrics over the trials of each group.

    Args:
        results: the rows.
        metrics: columns; by default those of metrics with a single column.
        by: columns that define the groups.

    Returns:
        One row a group, in the order of the study file; columns `by`, `cells` (number of
        trials), `failed`, and the mean of each metric over the trials that have it.

    Raises:
        StudyError: a column that the results do not have; suggests the nearest.
    """
    frame = results.frame
    for name in by:
        if name not in frame:
            hint = did_you_mean(name, frame.columns) or f"; it has {', '.join(frame.columns)}"
            raise StudyError(f"{results.folder}: no column {name!r}{hint}")
    names = results.selected_metrics(metrics)
    groups = frame.groupby(list(by), sort=False, dropna=False)
    counts = groups.agg(cells=("key", "size"), failed=("error_type", "count"))
    means = counts.join(groups[names].mean()).reset_index()
    return in_study_order(means, results.info, by)


def in_study_order(frame: pd.DataFrame, info: StoreInfo, by: Sequence[str]) -> pd.DataFrame:
    """Sort rows in the order of logs, perturbations and estimators in the study file.

    Labels that the store's description does not list come last; the first of `by` sorts first.
    """
    keys = frame[list(by)].copy()
    for name in by:
        if name in info.order:
            rank = {label: number for number, label in enumerate(info.order[name])}
            keys[name] = keys[name].map(lambda label, rank=rank: rank.get(label, len(rank)))
    order = keys.sort_values(list(by), kind="stable").index
    return frame.loc[order].reset_index(drop=True)


def default_metrics(results: Results) -> tuple[str, ...]:
    """Return the metrics with a single column that the results have."""
    single = [metric.name for metric in METRICS.values() if tuple(metric.columns) == (metric.name,)]
    return tuple(name for name in single if name in results.frame)


PAIRING_COLUMNS = ("log_data", "log", "perturbation", "noise_seed", "seed")
"""Columns that identify a noisy log; trials of two estimators with equal values are paired."""


def compare(
    results: Results, first: str, second: str, metrics: Sequence[str] | None = None
) -> pd.DataFrame:
    """Return paired differences of two estimators, second minus first, by perturbation.

    Only noisy logs count on which both have the metric. Seeds of one log are more alike than logs,
    so the interval is Student's t over the logs: the difference is averaged over the seeds of each
    log first, and the interval follows from the spread of these means. It holds for the population
    of logs. With one log it is Student's t over the seeds, and holds for that log only.

    Args:
        results: rows of one code.
        first: label of one estimator.
        second: label of the other.
        metrics: columns; by default those of metrics with a single column.

    Returns:
        One row a perturbation and metric: `first` and `second` (means over the logs), `difference`,
        its 95 % interval `low`, `high` (empty with a single pair; of shares within ±1), `better`
        (share of pairs in which the second is smaller), `identical` (whether all pairs are),
        `pairs`, `logs`, and `unpaired`: noisy logs on which only one of them, or neither, has the
        metric.

    Raises:
        StudyError: an estimator or metric that the results do not have; suggests the nearest.
    """
    import pandas as pd

    names = results.selected_metrics(metrics)
    first_rows, second_rows = (_estimator_rows(results, label, names) for label in (first, second))
    if not names or first_rows.empty or second_rows.empty:
        raise StudyError(
            f"{results.folder}: cannot compare {first!r} and {second!r}: no trial of theirs "
            f"has an estimate; see the errors in the results"
        )
    both = first_rows.add_suffix("|first").join(second_rows.add_suffix("|second"), how="outer")
    rows = [
        {"perturbation": perturbation, "metric": name, **_paired_difference(part, name)}
        for perturbation, part in both.groupby("perturbation", sort=False)
        for name in names
    ]
    return in_study_order(pd.DataFrame(rows), results.info, ["perturbation"])


def _estimator_rows(results: Results, label: str, names: Sequence[str]) -> pd.DataFrame:
    frame = results.frame
    labels = frame["estimator"].unique().tolist()
    if label not in labels:
        raise StudyError(
            f"{results.folder}: no estimator {label!r} among {', '.join(labels)}"
            f"{did_you_mean(label, labels)}"
        )
    rows = frame[frame["estimator"] == label].set_index(list(PAIRING_COLUMNS))[list(names)]
    if rows.index.has_duplicates:
        raise StudyError(
            f"{results.folder}: {label!r} has several rows for one noisy log: rows of several "
            "versions of the code or metrics cannot be compared; choose a version with code=..."
        )
    return rows


def _paired_difference(part: pd.DataFrame, name: str) -> dict[str, float]:
    pairs = part[[f"{name}|first", f"{name}|second"]].dropna().set_axis(["first", "second"], axis=1)
    by_log = pairs.groupby("log").mean()
    logs = len(by_log)
    difference = pairs["second"] - pairs["first"]
    units = difference.groupby("log").mean() if logs > 1 else difference
    mean = float(units.mean())
    quantile = stdtrit(len(units) - 1, CONFIDENCE_QUANTILE)  # NaN for fewer than two
    half = float(units.std() / np.sqrt(len(units)) * quantile)
    heading = next((of.columns[name] for of in METRICS.values() if name in of.columns), None)
    # Shares differ by at most 1, so the interval may be clipped.
    share = heading is not None and heading.display_factor == 100.0 and not heading.has_percentiles
    limit = 1.0 if share else np.inf
    return {
        "first": float(by_log["first"].mean()),
        "second": float(by_log["second"].mean()),
        "difference": mean,
        "low": float(np.clip(mean - half, -limit, limit)),
        "high": float(np.clip(mean + half, -limit, limit)),
        "better": float((difference < 0.0).mean()),
        "identical": bool(len(pairs) and (difference == 0.0).all()),
        "pairs": len(pairs),
        "logs": logs,
        "unpaired": len(part) - len(pairs),
    }


_BOOTSTRAP_DRAWS = 2000
"""Number of bootstrap samples."""

_MAX_BOOTSTRAP_TRIALS = 1000
"""Maximum number of trials with a bootstrap interval; with more, a normal interval is equal."""


class Interval(NamedTuple):
    """Lower and upper end of a 95 % confidence interval."""

    low: float
    high: float


def mean_interval(values: ArrayLike) -> Interval:
    """Return the 95 % interval of a mean by the percentile bootstrap over trials.

    The draws are the same for the same number of trials. NaN for fewer than two trials.
    Values that are not finite are ignored.
    """
    x = np.asarray(values, dtype=np.float64)
    x = x[np.isfinite(x)]
    if len(x) < 2:
        return Interval(np.nan, np.nan)
    if len(x) > _MAX_BOOTSTRAP_TRIALS:
        half = NORMAL_QUANTILE * float(x.std(ddof=1)) / np.sqrt(len(x))
        return Interval(float(x.mean() - half), float(x.mean() + half))
    tail = 0.5 * (1.0 - CONFIDENCE_LEVEL)
    low, high = np.quantile(_bootstrap_weights(len(x)) @ x, (tail, 1.0 - tail))
    return Interval(float(low), float(high))


@lru_cache(maxsize=4)
def _bootstrap_weights(count: int) -> Array:
    """Return the bootstrap weights of trials, shape (draws, count)."""
    counts = np.random.default_rng(0).multinomial(
        count, np.full(count, 1.0 / count), _BOOTSTRAP_DRAWS
    )
    return counts / count


def proportion_interval(hits: int, trials: int) -> Interval:
    """Return the 95 % interval of a binomial proportion (Clopper and Pearson 1934).

    Its ends are the shares at which so many hits or more, and so many or fewer, have a probability
    of 2.5 %: quantiles of beta distributions. NaN without trials.
    """
    if trials == 0:
        return Interval(np.nan, np.nan)
    tail = 0.5 * (1.0 - CONFIDENCE_LEVEL)
    low = betaincinv(hits, trials - hits + 1, tail) if hits else 0.0
    high = betaincinv(hits + 1, trials - hits, 1.0 - tail) if hits < trials else 1.0
    return Interval(float(low), float(high))


def hit_counts_within(trials: int, low: float, high: float) -> range:
    """Return the hit counts whose proportion of the trials lies between two limits."""
    return range(int(np.ceil(low * trials - 1e-9)), int(np.floor(high * trials + 1e-9)) + 1)
