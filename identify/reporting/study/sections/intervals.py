"""How often the 95 % intervals hold the truth, and how wide they are beside the errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from identify.reporting.study.rows import StudyRows
from identify.reporting.study.wording import code, number, table

WANTED = (92.0, 98.0)
"""Pooled coverage of a parameter that 95 % intervals should have [%]."""

LEAST_OF_A_LOG = 85.0
"""Coverage of a parameter that they should have on every log [%]."""

_NORMAL = 1.959964
_NOTE = (
    "Covered: of the intervals given, how many hold the true value. Worst log: the lowest share of "
    "one log with at least {fewest} intervals. Given: share of the estimates that have an "
    "interval. Width: median half-width over 1.96 × the RMS error of the same cells, for each log, "
    "then the median over the logs: 1 is a width that suits the errors."
)
_FEWEST = 5


def coverage(rows: StudyRows) -> str:
    """A table for each estimator that gives intervals: four lines a perturbation."""
    names = rows.interval_names
    tables = []
    for estimator in rows.labels("estimator"):
        chosen = rows.frame[rows.frame["estimator"] == estimator]
        lines = [
            line
            for perturbation in rows.noisy
            for line in _lines(chosen[chosen["perturbation"] == perturbation], perturbation, names)
        ]
        if lines:
            tables.append(_judged(rows, chosen, estimator))
            heads = ("perturbation", "", *names)
            tables.append(table(heads, lines, words=2))
    if not tables:
        return ""
    note = _NOTE.format(fewest=_FEWEST)
    return "\n\n".join(["## Coverage of the 95 % intervals [%]", *tables, note])


def _judged(rows: StudyRows, chosen: Any, estimator: str) -> str:
    """How many parameters are covered as they should be, and how wide the intervals are."""
    lines = []
    for perturbation in rows.noisy:
        part = chosen[chosen["perturbation"] == perturbation]
        told = [name for name in rows.interval_names if part[f"covered_{name}"].notna().any()]
        if not told:
            continue
        within = [WANTED[0] <= 100.0 * pooled(part, name) <= WANTED[1] for name in told]
        logs = np.concatenate([by_log(part, name).to_numpy() for name in told])
        widths = np.array([_width(part, name) for name in told])
        width = float(np.nanmedian(widths)) if np.isfinite(widths).any() else float("nan")
        least = int((100.0 * logs >= LEAST_OF_A_LOG).sum())
        counts = (f"{sum(within)} of {len(told)}", f"{least} of {len(logs)}")
        lines.append((code(perturbation), *counts, number(width, 2)))
    heads = (
        "perturbation",
        f"parameters covered {WANTED[0]:g} to {WANTED[1]:g} %",
        f"log × parameter covered ≥ {LEAST_OF_A_LOG:g} %",
        "median width",
    )
    return f"Estimator {code(estimator)}:\n\n{table(heads, lines)}"


def pooled(part: Any, name: str) -> float:
    """Share of the intervals of a parameter that hold the truth; NaN without any."""
    return float(part[f"covered_{name}"].mean())


def by_log(part: Any, name: str) -> Any:
    """The same for each log that has enough intervals to say."""
    groups = part.groupby("log")[f"covered_{name}"]
    return groups.mean()[groups.count() >= _FEWEST]


def _lines(part: Any, perturbation: str, names: tuple[str, ...]) -> list[list[str]]:
    if part.empty or not part[[f"covered_{name}" for name in names]].notna().any(axis=None):
        return []
    worked = part[part["error_type"].isna()]
    lines = {
        "covered": [_percent(pooled(worked, name)) for name in names],
        "worst log": [_percent(float(by_log(worked, name).min())) for name in names],
        "given": [_percent(float(worked[f"covered_{name}"].notna().mean())) for name in names],
        "width": [number(_width(worked, name), 2) for name in names],
    }
    return [[code(perturbation), what, *cells] for what, cells in lines.items()]


def _width(part: Any, name: str) -> float:
    columns = [f"half_width_{name}", f"error_{name}"]
    if not set(columns) <= set(part.columns):
        return float("nan")
    ratios = [
        float(log[columns[0]].median() / (_NORMAL * np.sqrt((log[columns[1]] ** 2).mean())))
        for _, log in part.dropna(subset=columns).groupby("log")
        if len(log) >= _FEWEST and log[columns[1]].any()
    ]
    return float(np.median(ratios)) if ratios else float("nan")


def _percent(share: float) -> str:
    return number(100.0 * share)
