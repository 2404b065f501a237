"""Errors by perturbation and estimator, by options of the logs, by log; what was published."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from identify.reporting.study.rows import (
    IDENTIFIABLE,
    PERTURBATION,
    StudyRows,
    common_means,
    counted,
    of_logs,
    partial_metrics,
)
from identify.reporting.study.targets import COLUMN_OF, published_levels, published_scores
from identify.reporting.study.wording import code, heading, number, setting, table

_MOST_LOGS = 40
_MOST_PERTURBATIONS = 5

_PUBLISHED = (
    "Published: mean scores of one run of the authors. Their GEO and HPS know the shape of the "
    "tool, OLS and ours do not. The prior of the published GEO was made with the true mass and "
    "counted the parallel axis twice. With that prior put right and run again, GEO has an inertia "
    "error of 14.1 % at low noise and 15.0 % at high; HPS, run again, 11.4 % and 14.9 %. These, "
    "not the published columns, are what to compare inertia with. The published errors of the CoM "
    "were cut to whole numbers on each axis before they were averaged, and are therefore too low."
)

_SELECTED = "riemannian"
"""The metric that has a column over the cells that all estimators have."""


def scores(rows: StudyRows) -> str:
    """Means and medians of all metrics."""
    if not rows.metrics:
        return ""
    levels = published_levels(rows.results)
    names = [heading(name).text for name in rows.metrics]
    common = [f"{heading(_SELECTED).text}, common cells"] if _compared(rows) else []
    heads = ("perturbation", "estimator", *names, "failed", *common)
    lines = list(_score_lines(rows, levels))
    notes = [_explained(rows)]
    if levels:
        found = published_scores() is not None
        notes.append(_PUBLISHED if found else "The published scores are not on this machine.")
    return "\n\n".join(["## Scores", table(heads, lines, words=2), *notes])


def score_cells(
    part: Any, metrics: Sequence[str], partial: frozenset[str] = frozenset()
) -> list[str]:
    """Mean and median of each metric of some rows, then how many failed.

    Args:
        part: the rows.
        metrics: columns.
        partial: those of them that are shown with how many fits they are of.
    """
    cells = []
    for name in metrics:
        words, values = heading(name), part[name]
        shown = words.shown(float(values.mean()))
        if words.spread and values.notna().any():
            shown += f" / {words.shown(float(values.median()))}"
        cells.append(counted(shown, int(values.count())) if name in partial else shown)
    return [*cells, str(int(part["error_type"].notna().sum()))]


def _explained(rows: StudyRows) -> str:
    text = (
        "Mean / median over logs and seeds, of the fits that gave an estimate; the others are "
        "counted as failed. Consistent: Π ≻ 0, of all fits that were tried: one that failed is not "
        "consistent. Riemannian: of consistent estimates alone. Identifiable: parameters that "
        "the log identifies; the others come from a stated default body and score as they stand."
    )
    if partial_metrics(rows.frame, rows.metrics):
        text += (
            " (n …): of how many fits, where some estimates lack the value; numbers of different "
            "fits are not comparable."
        )
    if _compared(rows):
        text += (
            " Common cells: mean over the noisy logs for which the estimates of all estimators "
            "are consistent, (n …) of them."
        )
    return text


def _compared(rows: StudyRows) -> bool:
    """Whether estimators have the selected metric for different cells."""
    several = len(rows.labels("estimator")) > 1
    return several and _SELECTED in partial_metrics(rows.frame, rows.metrics)


def _score_lines(rows: StudyRows, levels: dict[str, str]) -> Iterator[list[str]]:
    published = published_scores() if levels else None
    partial = partial_metrics(rows.frame, rows.metrics)
    compared = _compared(rows)
    for perturbation in rows.labels(PERTURBATION):
        part = rows.frame[rows.frame[PERTURBATION] == perturbation]
        common, count = common_means(part, _SELECTED) if compared else ({}, 0)
        for estimator in rows.labels("estimator"):
            chosen = part[part["estimator"] == estimator]
            if len(chosen):
                cells = score_cells(chosen, rows.metrics, partial)
                if compared:
                    mean = heading(_SELECTED).shown(common.get(estimator))
                    cells.append(counted(mean, count))
                yield [code(perturbation), code(estimator), *cells]
        if published is not None and perturbation in levels:
            for _, line in published[published["noise"] == levels[perturbation]].iterrows():
                cells = _published_cells(line, rows.metrics)
                yield [code(perturbation), f"published {line['method']}", *cells, *["–"] * compared]


def _published_cells(line: Any, metrics: Sequence[str]) -> list[str]:
    values = {name: line[column] for name, column in COLUMN_OF.items()}
    values["consistent"] = line["consistent_percent"]
    return [*(number(values.get(name)) for name in metrics), "–"]


def by_setting(rows: StudyRows) -> str:
    """A table for each option of the logs; perturbations have theirs in the scores."""
    return "\n\n".join(_setting_table(rows, column) for column in rows.swept if of_logs(column))


def _setting_table(rows: StudyRows, column: str) -> str:
    heads = (
        setting(column),
        "perturbation",
        "estimator",
        *(heading(name).text for name in rows.metrics),
        "failed",
    )
    words = setting(column).split(" [")[0]
    return f"## By {words}\n\n{table(heads, list(_setting_lines(rows, column)), words=3)}"


def _setting_lines(rows: StudyRows, column: str) -> Iterator[list[str]]:
    partial = partial_metrics(rows.frame, rows.metrics)
    groups = rows.frame.groupby([column, PERTURBATION, "estimator"])
    places = dict(iter(groups))
    for value in sorted(rows.frame[column].dropna().unique()):
        for perturbation in rows.labels(PERTURBATION):
            for estimator in rows.labels("estimator"):
                part = places.get((value, perturbation, estimator))
                if part is not None:
                    cells = score_cells(part, rows.metrics, partial)
                    yield [f"{value:g}", code(perturbation), code(estimator), *cells]


def by_log(rows: StudyRows) -> str:
    """A table for each estimator; a cell has the means of the perturbations in their order."""
    if not rows.errors or len(rows.labels("log")) < 2:
        return ""
    parts = [_log_table(rows, estimator) for estimator in rows.labels("estimator")]
    return "\n\n".join(["## By log", _log_words(rows), *parts])


def _log_words(rows: StudyRows) -> str:
    perturbations = _perturbations(rows)
    if not perturbations:
        return "Means over perturbations and seeds."
    return f"Means over seeds at {' / '.join(map(code, perturbations))}."


def _perturbations(rows: StudyRows) -> list[str]:
    """Those whose means stand in one cell; none where they are too many, or only one."""
    noisy = rows.noisy
    return noisy if len(noisy) <= _MOST_PERTURBATIONS else []


def _log_table(rows: StudyRows, estimator: str) -> str:
    names = [name for name in (*rows.errors, IDENTIFIABLE) if name in rows.metrics]
    frame = rows.frame[rows.frame["estimator"] == estimator]
    perturbations = _perturbations(rows)
    logs = rows.labels("log")
    lines = []
    for log in logs[:_MOST_LOGS]:
        part = frame[frame["log"] == log]
        means = part.groupby(PERTURBATION)[names].mean()
        cells = [
            " / ".join(heading(name).shown(means[name].get(label)) for label in perturbations)
            if perturbations
            else heading(name).shown(float(part[name].mean()))
            for name in names
        ]
        lines.append([code(log), *cells, str(int(part["error_type"].notna().sum()))])
    heads = ("log", *(heading(name).text for name in names), "failed")
    left = len(logs) - _MOST_LOGS
    more = f"\n\n… and {left} logs more in the Parquet file." if left > 0 else ""
    return f"### {code(estimator)}\n\n{table(heads, lines)}{more}"
