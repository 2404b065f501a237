"""Tables and figures of a study: in a terminal, and as summary.md beside its results."""

from identify.reporting.study.rows import latest_rows, rows_of_study
from identify.reporting.study.study_rows import StudyRows
from identify.reporting.study.summary import SUMMARY, write_summary
from identify.reporting.study.terminal import comparison_text, scores_text

__all__ = [
    "SUMMARY",
    "StudyRows",
    "comparison_text",
    "latest_rows",
    "rows_of_study",
    "scores_text",
    "write_summary",
]
