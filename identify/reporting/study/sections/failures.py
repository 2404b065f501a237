"""Cells without an estimate, and warnings, by their message."""

from __future__ import annotations

from typing import Any

from identify.reporting.study.markdown import code, table
from identify.reporting.study.study_rows import StudyRows

_SHOWN = 20
_LONGEST = 300
"""Characters of a message."""


def failures(rows: StudyRows) -> str:
    """What was raised, how often and where."""
    failed = rows.frame[rows.frame["error_type"].notna()]
    text = "## Cells without an estimate\n\n"
    if failed.empty:
        text += "None."
    else:
        said = failed["error_type"] + ": " + failed["error"].fillna("")
        text += _table(failed.assign(said=said), "error")
    warned = rows.frame[rows.frame["warnings"].notna()]
    if len(warned):
        text += f"\n\n## Warnings\n\n{_table(warned.assign(said=warned['warnings']), 'warning')}"
    return text


def _table(chosen: Any, what: str) -> str:
    groups = chosen.groupby(["estimator", "perturbation", "said"], sort=False)
    found = sorted(groups, key=lambda group: -len(group[1]))
    lines = [
        (code(estimator), code(corruption), str(len(part)), _logs(part), code(said[:_LONGEST]))
        for (estimator, corruption, said), part in found[:_SHOWN]
    ]
    heads = ("estimator", "perturbation", "cells", "logs", what)
    left = len(found) - _SHOWN
    return table(heads, lines, words=5) + (f"\n\n… and {left} other messages." if left > 0 else "")


def _logs(part: Any) -> str:
    names = list(dict.fromkeys(part["log"]))
    return ", ".join(map(code, names[:3])) + (f", … ({len(names)})" if len(names) > 3 else "")
