"""Tables and figures of a study: in a terminal, and as summary.md beside its results.

Names are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from identify.reporting.study.rows import StudyRows, latest_rows, rows_of_study
    from identify.reporting.study.summary import SUMMARY, write_summary
    from identify.reporting.study.terminal import comparison_text, scores_text

_SOURCES = {
    "SUMMARY": "summary",
    "StudyRows": "rows",
    "comparison_text": "terminal",
    "latest_rows": "rows",
    "rows_of_study": "rows",
    "scores_text": "terminal",
    "write_summary": "summary",
}

__all__ = [
    "SUMMARY",
    "StudyRows",
    "comparison_text",
    "latest_rows",
    "rows_of_study",
    "scores_text",
    "write_summary",
]


def __getattr__(name: str) -> object:
    if name not in _SOURCES:
        raise AttributeError(f"module 'identify.reporting.study' has no attribute {name!r}")
    value = getattr(import_module(f"identify.reporting.study.{_SOURCES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
