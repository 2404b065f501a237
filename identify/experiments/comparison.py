"""Two estimators on the same noisy logs: differences, with intervals that know they are paired."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scipy.special import stdtrit

from identify.errors import StudyError, did_you_mean
from identify.experiments.results import Results, in_order

if TYPE_CHECKING:
    import pandas as pd

_LEVEL = 0.975
PAIR = ("log_data", "log", "perturbation", "noise_seed", "seed")
"""Columns that two cells share if they worked on the same noisy log."""


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
        its 95 % interval `low`, `high` (empty with a single pair), `better` (share of pairs in
        which the second is smaller), `pairs`, `logs`, and `unpaired`: noisy logs on which only one
        of them, or neither, has the metric.

    Raises:
        StudyError: an estimator or metric that the results do not have; the nearest is named.
    """
    import pandas as pd

    names = results.asked(metrics)
    left, right = (_rows_of(results, label, names) for label in (first, second))
    if not names or left.empty or right.empty:
        raise StudyError(
            f"{results.folder}: nothing to compare {first!r} and {second!r} by: no cell of theirs "
            f"has an estimate; see the errors in the results"
        )
    both = left.add_suffix("|first").join(right.add_suffix("|second"), how="outer")
    rows = [
        {"perturbation": perturbation, "metric": name, **_difference(part, name)}
        for perturbation, part in both.groupby("perturbation", sort=False)
        for name in names
    ]
    return in_order(pd.DataFrame(rows), results.info, ["perturbation"])


def _rows_of(results: Results, label: str, names: Sequence[str]) -> Any:
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


def _difference(part: Any, name: str) -> dict[str, float]:
    pairs = part[[f"{name}|first", f"{name}|second"]].dropna().set_axis(["first", "second"], axis=1)
    by_log = pairs.groupby("log").mean()
    logs = len(by_log)
    difference = pairs["second"] - pairs["first"]
    units = difference.groupby("log").mean() if logs > 1 else difference
    mean = float(units.mean())
    half = float(units.sem() * stdtrit(len(units) - 1, _LEVEL))  # NaN where there are too few
    return {
        "first": float(by_log["first"].mean()),
        "second": float(by_log["second"].mean()),
        "difference": mean,
        "low": mean - half,
        "high": mean + half,
        "better": float((difference < 0.0).mean()),
        "pairs": len(pairs),
        "logs": logs,
        "unpaired": len(part) - len(pairs),
    }
