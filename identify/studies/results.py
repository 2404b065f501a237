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


BY = ("perturbation", "estimator")
"""What means are taken by, unless said otherwise."""


@dataclass(frozen=True, slots=True, repr=False)
class Results:
    """Rows of a results folder that one code made, or all of them.

    Attributes:
        folder: where they are.
        frame: one row a trial, in the order of code, log, perturbation, estimator and seed.
        info: which study, and which codes there are.
        code: fingerprint of the code that made the rows; None where they are of several.
    """

    folder: Path
    frame: pd.DataFrame
    info: StoreInfo
    code: str | None

    def __repr__(self) -> str:
        return f"Results({str(self.folder)!r}, {len(self.frame)} trials, code={self.code!r})"

    @property
    def metrics(self) -> tuple[str, ...]:
        """Columns of the metrics that the rows have, in the registry's order."""
        columns = [column for metric in METRICS.values() for column in metric.columns]
        return tuple(column for column in columns if column in self.frame)

    def asked(self, names: Sequence[str] | None) -> list[str]:
        """The columns of these names; where none are given, the metrics that fill a single column.

        Raises:
            StudyError: one is not there; the nearest is named.
        """
        for name in names or ():
            if name not in self.metrics:
                hint = did_you_mean(name, self.metrics) or f"; they have {', '.join(self.metrics)}"
                raise StudyError(f"{self.folder}: the results have no metric {name!r}{hint}")
        return list(default_metrics(self) if names is None else names)


def open_results(folder: Path | str, *, code: str | None = None) -> Results:
    """The results of a study; a run that is writing them may go on.

    Where there are several rows of the same labels, because metrics, data, seed or settings were
    changed between runs, the one of the study that was run last counts (column `current`); where
    none is, the one that was finished last.

    Args:
        folder: of the results.
        code: fingerprint of the code whose rows are wanted, as in the column `code`; "all" for
            every row there is; where not given, those of the code that is running, and of them the
            trials that the study had when it was last run.

    Raises:
        StudyError: no results, of another schema version, or none of that code.
    """
    folder = Path(folder)
    frame = read_rows(folder).to_pandas()
    info = read_info(folder)
    if code == "all":
        return Results(folder, frame, info, None)
    wanted = code or code_fingerprint().short
    subset = frame[frame["code"] == wanted]
    of_code = len(subset)
    subset = _latest(subset[subset["current"]] if code is None else subset)
    if subset.empty and of_code:
        raise StudyError(
            f"{folder}: no results yet of the study that was run last; run it again, or name "
            f"the code {wanted} for the {of_code} rows of others"
        )
    if subset.empty and len(frame):
        counts = ", ".join(
            f"{name} ({n} trials)" for name, n in frame["code"].value_counts().items()
        )
        raise StudyError(
            f"{folder}: no results of {'this' if code is None else 'the'} code, {wanted}; there "
            f"are those of {counts}: name one of them, or run the study again"
        )
    if subset.empty:
        raise StudyError(f"{folder}: no results yet; run the study")
    return Results(folder, subset, info, wanted)


def _latest(frame: pd.DataFrame) -> pd.DataFrame:
    """Of rows with the same labels, the one of the last study, else that was finished last."""
    by_time = frame.sort_values(["current", "finished"], kind="stable")
    kept = by_time.drop_duplicates(["log", "perturbation", "estimator", "seed"], keep="last")
    return kept.sort_index().reset_index(drop=True)


def table(
    results: Results, metrics: Sequence[str] | None = None, *, by: Sequence[str] = BY
) -> pd.DataFrame:
    """Means of the metrics over all trials of a kind.

    Args:
        results: the rows.
        metrics: columns; where not given, those of metrics that fill a single column.
        by: columns that make a kind.

    Returns:
        One row a kind, in the order of the study file; columns `by`, `cells` (how many
        trials), `failed`, and the mean of each metric over the trials that have it.

    Raises:
        StudyError: a column that the results do not have; the nearest is named.
    """
    frame = results.frame
    for name in by:
        if name not in frame:
            hint = did_you_mean(name, frame.columns) or f"; there are {', '.join(frame.columns)}"
            raise StudyError(f"{results.folder}: no column {name!r}{hint}")
    names = results.asked(metrics)
    groups = frame.groupby(list(by), sort=False, dropna=False)
    counts = groups.agg(cells=("key", "size"), failed=("error_type", "count"))
    means = counts.join(groups[names].mean()).reset_index()
    return in_order(means, results.info, by)


def in_order(frame: pd.DataFrame, info: StoreInfo, by: Sequence[str]) -> pd.DataFrame:
    """Rows in the order that the study file gives to logs, perturbations and estimators.

    What the store's description does not list comes last; the first of `by` counts most.
    """
    keys = frame[list(by)].copy()
    for name in by:
        if name in info.order:
            place = {label: number for number, label in enumerate(info.order[name])}
            keys[name] = keys[name].map(lambda label, place=place: place.get(label, len(place)))
    order = keys.sort_values(list(by), kind="stable").index
    return frame.loc[order].reset_index(drop=True)


def default_metrics(results: Results) -> tuple[str, ...]:
    """The metrics that fill a single column."""
    single = [metric.name for metric in METRICS.values() if tuple(metric.columns) == (metric.name,)]
    return tuple(name for name in single if name in results.frame)


PAIR = ("log_data", "log", "perturbation", "noise_seed", "seed")
"""Columns that two trials share if they worked on the same noisy log."""


def compare(
    results: Results,
    first: str,
    second: str,
    metrics: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Differences of the metrics of two estimators, `second` less `first`, by perturbation.

    Only noisy logs count on which both have the metric. Seeds of one log resemble each other more
    than logs do, so the interval is Student's over the logs: the difference is averaged over the
    seeds of each log first, and the spread of these means decides. It speaks of logs like these,
    not of these logs alone. With one log it is Student's over the seeds, and speaks of that log.

    Args:
        results: rows of one code.
        first: label of one estimator.
        second: label of the other.
        metrics: columns; where not given, those of metrics that fill a single column.

    Returns:
        One row a perturbation and metric: `first` and `second` (means over the logs), `difference`,
        its 95 % interval `low`, `high` (empty with a single pair; of shares within ±1), `better`
        (share of pairs in which the second is smaller), `identical` (whether all pairs are),
        `pairs`, `logs`, and `unpaired`: noisy logs on which only one of them, or neither, has the
        metric.

    Raises:
        StudyError: an estimator or metric that the results do not have; the nearest is named.
    """
    import pandas as pd

    names = results.asked(metrics)
    left, right = (_rows_of(results, label, names) for label in (first, second))
    if not names or left.empty or right.empty:
        raise StudyError(
            f"{results.folder}: nothing to compare {first!r} and {second!r} by: no trial of theirs "
            f"has an estimate; see the errors in the results"
        )
    both = left.add_suffix("|first").join(right.add_suffix("|second"), how="outer")
    rows = [
        {"perturbation": perturbation, "metric": name, **_difference(part, name)}
        for perturbation, part in both.groupby("perturbation", sort=False)
        for name in names
    ]
    return in_order(pd.DataFrame(rows), results.info, ["perturbation"])


def _rows_of(results: Results, label: str, names: Sequence[str]) -> pd.DataFrame:
    frame = results.frame
    labels = frame["estimator"].unique().tolist()
    if label not in labels:
        raise StudyError(
            f"{results.folder}: no estimator {label!r} among {', '.join(labels)}"
            f"{did_you_mean(label, labels)}"
        )
    rows = frame[frame["estimator"] == label].set_index(list(PAIR))[list(names)]
    if rows.index.has_duplicates:
        raise StudyError(
            f"{results.folder}: {label!r} has several rows for one noisy log: rows of several "
            f"codes or metrics cannot be compared; name one code"
        )
    return rows


def _difference(part: pd.DataFrame, name: str) -> dict[str, float]:
    pairs = part[[f"{name}|first", f"{name}|second"]].dropna().set_axis(["first", "second"], axis=1)
    by_log = pairs.groupby("log").mean()
    logs = len(by_log)
    difference = pairs["second"] - pairs["first"]
    units = difference.groupby("log").mean() if logs > 1 else difference
    mean = float(units.mean())
    quantile = stdtrit(len(units) - 1, CONFIDENCE_QUANTILE)  # NaN where there are too few
    half = float(units.std() / np.sqrt(len(units)) * quantile)
    heading = next((of.columns[name] for of in METRICS.values() if name in of.columns), None)
    # Of what is 0 or 1 shares differ by one at the most: nothing is lost where the rest is cut.
    share = heading is not None and heading.factor == 100.0 and not heading.spread
    most = 1.0 if share else np.inf
    return {
        "first": float(by_log["first"].mean()),
        "second": float(by_log["second"].mean()),
        "difference": mean,
        "low": float(np.clip(mean - half, -most, most)),
        "high": float(np.clip(mean + half, -most, most)),
        "better": float((difference < 0.0).mean()),
        "identical": bool(len(pairs) and (difference == 0.0).all()),
        "pairs": len(pairs),
        "logs": logs,
        "unpaired": len(part) - len(pairs),
    }


_BOOTSTRAP_DRAWS = 2000
_MOST_DRAWN_TRIALS = 1000
"""Trials up to which they are drawn; of more, the mean's own normal interval is the same."""


class Interval(NamedTuple):
    """The ends of a 95 % interval."""

    low: float
    high: float


def mean_interval(values: ArrayLike) -> Interval:
    """95 % interval of a mean by the bootstrap: percentiles of the means of trials drawn anew.

    The draws are the same for the same number of trials. NaN where there are fewer than two.

    Args:
        values: of trials; those that are not finite do not count.
    """
    x = np.asarray(values, dtype=np.float64)
    x = x[np.isfinite(x)]
    if len(x) < 2:
        return Interval(np.nan, np.nan)
    if len(x) > _MOST_DRAWN_TRIALS:
        half = NORMAL_QUANTILE * float(x.std(ddof=1)) / np.sqrt(len(x))
        return Interval(float(x.mean() - half), float(x.mean() + half))
    tail = 0.5 * (1.0 - CONFIDENCE_LEVEL)
    low, high = np.quantile(_weights(len(x)) @ x, (tail, 1.0 - tail))
    return Interval(float(low), float(high))


@lru_cache(maxsize=4)
def _weights(count: int) -> Array:
    """How often each of some trials is drawn, of their number, shape (draws, count)."""
    drawn = np.random.default_rng(0).multinomial(
        count, np.full(count, 1.0 / count), _BOOTSTRAP_DRAWS
    )
    return drawn / count


def share_interval(hits: int, trials: int) -> Interval:
    """95 % interval of a share that trials have (Clopper and Pearson 1934).

    Its ends are the shares at which so many hits or more, and so many or fewer, have a chance of
    2.5 %: quantiles of beta distributions. NaN without trials.
    """
    if trials == 0:
        return Interval(np.nan, np.nan)
    tail = 0.5 * (1.0 - CONFIDENCE_LEVEL)
    low = betaincinv(hits, trials - hits + 1, tail) if hits else 0.0
    high = betaincinv(hits + 1, trials - hits, 1.0 - tail) if hits < trials else 1.0
    return Interval(float(low), float(high))


def counts_within(trials: int, low: float, high: float) -> range:
    """How many hits of some trials are a share from `low` to `high`."""
    return range(
        int(np.ceil(low * trials - 1e-9)),
        int(np.floor(high * trials + 1e-9)) + 1,
    )
