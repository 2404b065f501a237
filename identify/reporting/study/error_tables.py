"""Errors by perturbation and estimator, by options of the logs, by log; what was published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from identify.catalog import dataset_path
from identify.errors import DatasetError
from identify.reporting.content import ReportTable, Section, Text, table_of
from identify.reporting.study.headline import score
from identify.reporting.study.rows import (
    StudyRows,
    code,
    counted,
    failed,
    is_setting,
    number,
    of_logs,
    partial_metrics,
    percent,
    setting,
    shown,
)
from identify.studies import Results
from identify.studies.metrics import heading_of

if TYPE_CHECKING:
    import pandas as pd


_MOST_LOGS = 40
_MOST_PERTURBATIONS = 5

_EXPLAINED = (
    "Mean [95 % interval] / median over logs and seeds, of the fits that gave an estimate; the "
    "others are counted as failed. Intervals of means are of the bootstrap over trials, those of "
    "shares Clopper and Pearson's. Consistent: Π ⪰ 0 but for rounding, of all fits that were "
    "tried: one that failed is not consistent. Riemannian: of consistent estimates alone. "
    "Identifiable: parameters that the log identifies; the others come from a stated default body "
    "and score as they stand."
)
_PARTIAL = (
    " (n …): of how many fits, where some estimates lack the value; numbers of different fits are "
    "not comparable."
)
_COMPARED = (
    " Common trials: mean over the noisy logs for which the estimates of all estimators are "
    "consistent, (n …) of them."
)

_IDENTIFIABLE = "n_identifiable"
_SELECTED = "riemannian"
"""The metric that has a column over the trials that all estimators have."""


def scores(rows: StudyRows) -> Section | None:
    """Means with intervals, and medians, of all metrics."""
    if not rows.metrics:
        return None
    levels = published_levels(rows.results)
    published = published_scores() if levels else None
    partial = partial_metrics(rows.frame, rows.metrics)
    # Estimators may have the selected metric for different trials.
    compared = _SELECTED in partial and len(rows.labels("estimator")) > 1
    heads = [
        "perturbation",
        "estimator",
        *(heading_of(name).text for name in rows.metrics),
        "failed",
    ]
    heads += [f"{heading_of(_SELECTED).text}, common trials"] * compared
    lines = []
    for perturbation, part in rows.parts("perturbation"):
        common = _common(part) if compared else None
        for estimator, subset in rows.parts("estimator", part):
            cells = _cells(subset, rows.metrics, partial)
            if common is not None:
                mean = float(common[estimator].mean()) if estimator in common else None
                cells.append(counted(shown(_SELECTED, mean), len(common)))
            lines.append([code(perturbation), code(estimator), *cells])
        if published is not None and perturbation in levels:
            for _, one in published[published["noise"] == levels[perturbation]].iterrows():
                values: dict[str, Any] = {name: one[column] for name, column in COLUMN_OF.items()}
                cells = [*(number(values.get(name)) for name in rows.metrics), "–"]
                name = f"published {one['method']}"
                lines.append([code(perturbation), name, *cells, *["–"] * compared])
    notes = [_EXPLAINED + _PARTIAL * bool(partial) + _COMPARED * compared]
    if levels and published is None:
        notes.append("The published scores are not on this machine.")
    if rows.study is not None and rows.study.note:
        notes.append(rows.study.note)
    return Section("scores", "Scores", (table_of(heads, lines, words=2), *map(Text, notes)))


def _common(part: Any) -> Any:
    """The selected metric of the noisy logs for which every estimator has it, a column each."""
    return part.pivot(index=["log", "seed"], columns="estimator", values=_SELECTED).dropna()


def _cells(part: Any, metrics: Sequence[str], partial: frozenset[str]) -> list[str]:
    """Mean with its interval and median of each metric of some rows, then how many failed."""
    cells = []
    for name in metrics:
        values, cell = part[name], score(part, name)
        if heading_of(name).spread and values.notna().any():
            cell += f" / {shown(name, float(values.median()))}"
        cells.append(counted(cell, int(values.count())) if name in partial else cell)
    return [*cells, failed(part)]


def by_setting(rows: StudyRows) -> Section | None:
    """A table for each option of the logs; perturbations have theirs in the scores."""
    names = [heading_of(name).text for name in rows.metrics]
    partial = partial_metrics(rows.frame, rows.metrics)
    blocks: list[Text | ReportTable] = []
    for column in filter(of_logs, rows.swept):
        parts = dict(iter(rows.frame.groupby([column, "perturbation", "estimator"])))
        places = product(
            sorted(rows.frame[column].dropna().unique()),
            rows.labels("perturbation"),
            rows.labels("estimator"),
        )
        lines = [
            [f"{place[0]:g}", *map(code, place[1:]), *_cells(parts[place], rows.metrics, partial)]
            for place in places
            if place in parts
        ]
        heads = (setting(column), "perturbation", "estimator", *names, "failed")
        blocks += [Text(f"By {setting(column).split(' [')[0]}:"), table_of(heads, lines, words=3)]
    return Section("by-option", "By option of the logs", tuple(blocks)) if blocks else None


def by_log(rows: StudyRows) -> Section | None:
    """A table for each estimator, the log with the largest mean of the first error at the top.

    A log has a line for each perturbation with noise, unless they are too many.
    """
    if not rows.errors or len(rows.labels("log")) < 2:
        return None
    means = rows.frame.groupby("log", sort=False)[rows.errors[0]].mean().fillna(np.inf)
    logs = sorted(rows.labels("log"), key=lambda log: -means[log])
    apart = len(rows.noisy) <= _MOST_PERTURBATIONS
    over = "seeds" if apart else "perturbations and seeds"
    said = f"Means over {over}, with 95 % intervals where there are several trials."
    names = [*rows.errors, *(name for name in (_IDENTIFIABLE,) if name in rows.metrics)]
    words = ["log", *["perturbation"] * apart]
    heads = (*words, *(heading_of(name).text for name in names), "failed")
    left = len(logs) - _MOST_LOGS
    more = f"… and {left} logs more in the Parquet file." if left > 0 else ""
    blocks: list[Text | ReportTable] = [
        Text(f"{said} Sorted by {heading_of(rows.errors[0]).text}.")
    ]
    places = list(product(logs[:_MOST_LOGS], *[rows.noisy] * apart))
    for estimator, frame in rows.parts("estimator"):
        parts = dict(iter(frame.groupby(words)))
        lines = [
            [
                *map(code, place),
                *(score(parts[place], name) for name in names),
                failed(parts[place]),
            ]
            for place in places
            if place in parts
        ]
        blocks.append(Text(f"Estimator {code(estimator)}:"))
        blocks.append(table_of(heads, lines, more, words=len(words)))
    return Section("by-log", "By log", tuple(blocks))


SCORES = "published_scores.csv"

COLUMN_OF: Mapping[str, str] = {
    "mass_error": "mass_error_percent",
    "com_error": "com_error_percent",
    "inertia_error": "inertia_error_percent",
    "riemannian": "riemannian",
    "consistent": "consistent_percent",
}
"""The published column of a metric."""

TARGETS: Mapping[str, Mapping[str, float]] = {
    "mass_error": {"low": 0.4, "moderate": 0.9, "high": 1.6},
    "first_moment_error": {"low": 0.9, "moderate": 1.9, "high": 3.5},
}
"""What the means of the estimate without options are to stay within, by metric and noise [%]."""

TARGETED = "psd"
"""Label of the estimator that is held to them."""

_LEVEL = "stars_noise_level"


def published_levels(results: Results) -> dict[str, str]:
    """The published level of noise of each perturbation that is nothing else, by its label.

    Empty where the logs are not the STARS tools alone.
    """
    frame: Any = results.frame
    if not frame["log"].str.startswith("stars/").all() or _LEVEL not in frame:
        return {}
    others = [name for name in frame if is_setting(name) and not of_logs(name) and name != _LEVEL]
    others = [name for name in others if not name.startswith("stars_noise_")]
    alone = frame[frame[others].isna().all(axis=1)]
    levels = alone.groupby("perturbation")[_LEVEL].first().fillna("none")
    return {str(label): str(level) for label, level in levels.items()}


def published_scores() -> pd.DataFrame | None:
    """Mean scores of the publication: noise, method and a column a metric; None if not here."""
    import pandas as pd

    try:
        return pd.read_csv(dataset_path("stars") / SCORES)
    except DatasetError:
        return None


def targets(rows: StudyRows) -> Section | None:
    """Reached beside wanted; nothing where the study is another one."""
    lines = target_lines(rows)
    if not lines:
        return None
    heads = (f"estimator {TARGETED}", "noise", "reached", "target", "met")
    return Section("targets", "Targets", (table_of(heads, lines, words=2),))


def target_lines(rows: StudyRows) -> list[tuple[str, ...]]:
    """One line a target: what, noise, reached, target, met."""
    levels = published_levels(rows.results)
    ours = rows.frame[rows.frame["estimator"] == TARGETED]
    ours = ours[ours["perturbation"].isin(list(levels))]
    if ours.empty:
        return []
    found: list[tuple[str, str, str, str, bool]] = []
    for perturbation in filter(levels.__contains__, rows.labels("perturbation")):
        part, level = ours[ours["perturbation"] == perturbation], levels[perturbation]
        for metric, limits in TARGETS.items():
            if level in limits and metric in part:
                mean, limit = float(part[metric].mean()), limits[level]
                what = f"mean {heading_of(metric).text}"
                found.append((what, level, f"{mean:.3f}", f"≤ {limit:g}", mean <= limit))
    if "consistent" in ours:
        share = float(ours["consistent"].fillna(0.0).mean())
        found.append(("consistent, of all tried %", "all", percent(share), "100", share == 1.0))
    solver = int((ours["error_type"] == "SolveError").sum())
    refused = int(ours["error_type"].notna().sum()) - solver
    found.append(("failures of the solver", "all", str(solver), "0", solver == 0))
    found.append(("fits refused", "all", str(refused), "0", refused == 0))
    return [(*line, "yes" if met else "**no**") for *line, met in found]
