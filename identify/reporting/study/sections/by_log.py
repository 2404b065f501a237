"""Errors of each log."""

from __future__ import annotations

from identify.reporting.study.markdown import code, table
from identify.reporting.study.study_rows import StudyRows
from identify.reporting.study.wording import heading

_MOST_LOGS = 40
_MOST_CORRUPTIONS = 5


def by_log(rows: StudyRows) -> str:
    """A table for each estimator; a cell has the means of the corruptions in their order."""
    if not rows.errors or len(rows.labels("log")) < 2:
        return ""
    parts = [_table(rows, estimator) for estimator in rows.labels("estimator")]
    return "\n\n".join(["## By log", _explained(rows), *parts])


def _explained(rows: StudyRows) -> str:
    corruptions = _corruptions(rows)
    if not corruptions:
        return "Means over corruptions and seeds."
    return f"Means over seeds at {' / '.join(map(code, corruptions))}."


def _corruptions(rows: StudyRows) -> list[str]:
    """Those whose means stand in one cell; none where they are too many, or only one."""
    noisy = rows.noisy
    return noisy if len(noisy) <= _MOST_CORRUPTIONS else []


def _table(rows: StudyRows, estimator: str) -> str:
    names = [name for name in (*rows.errors, "n_identifiable") if name in rows.metrics]
    frame = rows.frame[rows.frame["estimator"] == estimator]
    corruptions = _corruptions(rows)
    logs = rows.labels("log")
    lines = []
    for log in logs[:_MOST_LOGS]:
        part = frame[frame["log"] == log]
        means = part.groupby("perturbation")[names].mean()
        cells = [
            " / ".join(heading(name).shown(means[name].get(label)) for label in corruptions)
            if corruptions
            else heading(name).shown(float(part[name].mean()))
            for name in names
        ]
        lines.append([code(log), *cells, str(int(part["error_type"].notna().sum()))])
    heads = ("log", *(heading(name).text for name in names), "failed")
    left = len(logs) - _MOST_LOGS
    more = f"\n\n… and {left} logs more in the Parquet file." if left > 0 else ""
    return f"### {code(estimator)}\n\n{table(heads, lines)}{more}"
