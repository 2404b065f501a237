"""Every metric by corruption and estimator, with what was published beside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from identify.reporting.study.markdown import code, table
from identify.reporting.study.published import COLUMN_OF, published_levels, published_scores
from identify.reporting.study.study_rows import StudyRows
from identify.reporting.study.survivors import common_means, counted, partial_metrics
from identify.reporting.study.wording import heading, number

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
    lines = list(_lines(rows, levels))
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
        "consistent. Riemannian: of consistent estimates alone. Told: parameters that the log "
        "tells; the rest is completed by a stated default body and scores as it stands."
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


def _lines(rows: StudyRows, levels: dict[str, str]) -> Iterator[list[str]]:
    published = published_scores() if levels else None
    partial = partial_metrics(rows.frame, rows.metrics)
    compared = _compared(rows)
    for corruption in rows.labels("perturbation"):
        part = rows.frame[rows.frame["perturbation"] == corruption]
        common, count = common_means(part, _SELECTED) if compared else ({}, 0)
        for estimator in rows.labels("estimator"):
            chosen = part[part["estimator"] == estimator]
            if len(chosen):
                cells = score_cells(chosen, rows.metrics, partial)
                if compared:
                    mean = heading(_SELECTED).shown(common.get(estimator))
                    cells.append(counted(mean, count))
                yield [code(corruption), code(estimator), *cells]
        if published is not None and corruption in levels:
            for _, line in published[published["noise"] == levels[corruption]].iterrows():
                cells = _published_cells(line, rows.metrics)
                yield [code(corruption), f"published {line['method']}", *cells, *["–"] * compared]


def _published_cells(line: Any, metrics: Sequence[str]) -> list[str]:
    values = {name: line[column] for name, column in COLUMN_OF.items()}
    values["consistent"] = line["consistent_percent"]
    return [*(number(values.get(name)) for name in metrics), "–"]
