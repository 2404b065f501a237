"""Errors by each option of the logs that the study sweeps over."""

from __future__ import annotations

from collections.abc import Iterator

from identify.reporting.study.markdown import code, table
from identify.reporting.study.sections.scores import score_cells
from identify.reporting.study.study_rows import StudyRows
from identify.reporting.study.survivors import partial_metrics
from identify.reporting.study.swept import of_logs
from identify.reporting.study.wording import heading, setting


def by_setting(rows: StudyRows) -> str:
    """A table for each option of the logs; corruptions have theirs in the scores."""
    return "\n\n".join(_table(rows, column) for column in rows.swept if of_logs(column))


def _table(rows: StudyRows, column: str) -> str:
    heads = (
        setting(column),
        "perturbation",
        "estimator",
        *(heading(name).text for name in rows.metrics),
        "failed",
    )
    words = setting(column).split(" [")[0]
    return f"## By {words}\n\n{table(heads, list(_lines(rows, column)), words=3)}"


def _lines(rows: StudyRows, column: str) -> Iterator[list[str]]:
    partial = partial_metrics(rows.frame, rows.metrics)
    for value, part in rows.frame.groupby(column):
        for corruption in rows.labels("perturbation"):
            for estimator in rows.labels("estimator"):
                chosen = part[
                    (part["perturbation"] == corruption) & (part["estimator"] == estimator)
                ]
                if len(chosen):
                    cells = score_cells(chosen, rows.metrics, partial)
                    yield [f"{value:g}", code(corruption), code(estimator), *cells]
