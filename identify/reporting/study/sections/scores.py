"""Every metric by corruption and estimator, with what was published beside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from identify.reporting.study.markdown import code, table
from identify.reporting.study.published import COLUMN_OF, published_levels, published_scores
from identify.reporting.study.study_rows import StudyRows
from identify.reporting.study.wording import heading, number

_PUBLISHED = (
    "Published: mean scores of one run of the authors. Their GEO and HPS know the shape, OLS and "
    "ours do not; their errors of the CoM were cut to whole numbers before they were averaged."
)


def scores(rows: StudyRows) -> str:
    """Means and medians of all metrics."""
    if not rows.metrics:
        return ""
    levels = published_levels(rows.results)
    heads = ("corruption", "estimator", *(heading(name).text for name in rows.metrics), "failed")
    lines = list(_lines(rows, levels))
    notes = [
        "Mean / median over logs and seeds, of the fits that gave an estimate; the others are "
        "counted as failed. Consistent: Π ≻ 0; Riemannian: of consistent estimates alone. Told: "
        "parameters that the log tells; the rest is completed by a stated default body and scores "
        "as it stands."
    ]
    if levels:
        found = published_scores() is not None
        notes.append(_PUBLISHED if found else "The published scores are not on this machine.")
    return "\n\n".join(["## Scores", table(heads, lines, words=2), *notes])


def score_cells(part: Any, metrics: Sequence[str]) -> list[str]:
    """Mean and median of each metric of some rows, then how many failed."""
    cells = []
    for name in metrics:
        words, values = heading(name), part[name]
        shown = words.shown(float(values.mean()))
        if words.spread and values.notna().any():
            shown += f" / {words.shown(float(values.median()))}"
        cells.append(shown)
    return [*cells, str(int(part["error_type"].notna().sum()))]


def _lines(rows: StudyRows, levels: dict[str, str]) -> Iterator[list[str]]:
    published = published_scores() if levels else None
    for corruption in rows.labels("corruption"):
        part = rows.frame[rows.frame["corruption"] == corruption]
        for estimator in rows.labels("estimator"):
            chosen = part[part["estimator"] == estimator]
            if len(chosen):
                cells = score_cells(chosen, rows.metrics)
                yield [code(corruption), code(estimator), *cells]
        if published is not None and corruption in levels:
            for _, line in published[published["noise"] == levels[corruption]].iterrows():
                yield _published_line(corruption, line, rows.metrics)


def _published_line(corruption: str, line: Any, metrics: Sequence[str]) -> list[str]:
    values = {name: line[column] for name, column in COLUMN_OF.items()}
    values["consistent"] = line["consistent_percent"]
    cells = [number(values.get(name)) for name in metrics]
    return [code(corruption), f"published {line['method']}", *cells, "–"]
