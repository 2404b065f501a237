"""Times of a fit."""

from __future__ import annotations

from identify.reporting.study.markdown import code, table
from identify.reporting.study.study_rows import StudyRows
from identify.reporting.study.wording import number


def times(rows: StudyRows) -> str:
    """Median and 95th percentile for each estimator, and what solved it."""
    worked = rows.frame[rows.frame["error_type"].isna()]
    if worked.empty:
        return ""
    lines = []
    for estimator in rows.labels("estimator"):
        part = worked[worked["estimator"] == estimator]
        milliseconds = 1e3 * part["seconds"]
        quantiles = [number(float(milliseconds.quantile(q))) for q in (0.5, 0.95)]
        solvers = part["solver"].value_counts()
        solved = ", ".join(f"{name} {count}" for name, count in sorted(solvers.items()))
        lines.append([code(estimator), *quantiles, solved])
    prepare = 1e3 * float(worked["prepare_seconds"].median())
    return (
        "## Times\n\n"
        + table(("estimator", "median ms a fit", "95th percentile", "solved by"), lines)
        + f"\n\nReading, corrupting and preparing a log, which its estimators share: median "
        f"{number(prepare)} ms. Solver none: least squares was consistent already."
    )
