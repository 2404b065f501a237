"""Tables and figures of a study: in a terminal, and as summary.md beside its results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from identify.lazy import attach

if TYPE_CHECKING:
    from identify.reporting.study.rows import StudyRows as StudyRows
    from identify.reporting.study.rows import latest_rows as latest_rows
    from identify.reporting.study.rows import rows_of_study as rows_of_study
    from identify.reporting.study.summary import write_summary as write_summary
    from identify.reporting.study.terminal import comparison_text as comparison_text
    from identify.reporting.study.terminal import scores_text as scores_text
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "rows": ("StudyRows", "latest_rows", "rows_of_study"),
            "summary": ("write_summary",),
            "terminal": ("comparison_text", "scores_text"),
        },
    )
