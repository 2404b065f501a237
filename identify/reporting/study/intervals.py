"""Coverage of a study's 95 % intervals, and their widths compared with the errors."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from identify.reporting import colors
from identify.reporting.canvas import Column, Panel, PanelAxes
from identify.reporting.content import ReportTable, Section, Text, make_table
from identify.reporting.study.accuracy import (
    MAX_NOTE_LENGTH,
    MAX_TITLE_LENGTH,
    StudyFigure,
    clip_text,
    label_legend,
    short_labels,
)
from identify.reporting.study.rows import StudyRows, format_number, inline_code
from identify.significance import NORMAL_QUANTILE
from identify.studies.results import Interval, hit_counts_within, proportion_interval

if TYPE_CHECKING:
    import pandas as pd


COVERAGE_RANGE = (92.0, 98.0)
"""Range of the pooled coverage of a parameter that is acceptable for 95 % intervals [%]."""

MIN_LOG_COVERAGE = 85.0
"""Minimum acceptable coverage of a parameter on each log [%]."""

_COVERAGE_NOTE = (
    "Covered: share of the intervals that contain the true value, with its 95 % Clopper-Pearson "
    "interval, which assumes independent trials. Worst log: the lowest share of a log with at "
    "least {fewest} intervals. Given: share of the estimates that have an interval. Pooled: share "
    "of the intervals of all parameters. Width: median half-width relative to 1.96 × the RMS error "
    "of the same trials for each log, then the median over the logs; 1 means that the width "
    "matches the errors."
)
_MIN_TRIALS_PER_LOG = 5
_MAX_ACCEPTABLE_COUNTS = 2
"""Maximum number of acceptable hit counts at which there is a warning of too few trials."""
_SUMMARY_HEADS = (
    "perturbation",
    "pooled",
    "lowest parameter",
    f"parameters covered {COVERAGE_RANGE[0]:g} to {COVERAGE_RANGE[1]:g} %",
    f"log × parameter covered ≥ {MIN_LOG_COVERAGE:g} %",
    "worst log × parameter",
    "given",
    "median width",
)


def coverage_section(rows: StudyRows) -> Section | None:
    """Return the section of interval coverage, one table for each estimator."""
    blocks: list[Text | ReportTable] = []
    few: dict[int, None] = {}
    for estimator, subset in rows.rows_by_label("estimator"):
        names = tuple(n for n in rows.interval_names if subset[f"covered_{n}"].notna().any())
        parts = [
            (label, subset[subset["perturbation"] == label]) for label in rows.perturbation_labels
        ]
        summary = [_summary_cells(part, label, names) for label, part in parts]
        lines = [line for label, part in parts for line in _coverage_rows(part, label, names)]
        if lines:
            blocks.append(Text(f"Estimator {inline_code(estimator)}:"))
            blocks.append(make_table(_SUMMARY_HEADS, [line for line in summary if line]))
            blocks.append(make_table(("perturbation", "", *names), lines, word_columns=2))
            columns = [f"covered_{name}" for name in names]
            few |= dict.fromkeys(int(n) for _, part in parts for n in part[columns].count() if n)
    if not blocks:
        return None
    notes = [
        _COVERAGE_NOTE.format(fewest=_MIN_TRIALS_PER_LOG),
        *filter(None, map(few_trials_warning, sorted(few))),
    ]
    title = "Coverage of the 95 % intervals [%]"
    return Section("coverage", title, (*blocks, *map(Text, notes)))


def few_trials_warning(trials: int) -> str:
    """Return a warning if the trials are too few to judge coverage; empty otherwise."""
    within = hit_counts_within(trials, 0.01 * COVERAGE_RANGE[0], 0.01 * COVERAGE_RANGE[1])
    if len(within) > _MAX_ACCEPTABLE_COUNTS:
        return ""
    counts = " or ".join(map(str, within))
    verb = "lie" if len(within) > 1 else "lies"
    subject = f"only {counts} of {trials} {verb}" if within else f"no count of {trials} lies"
    return f"{trials} trials: {subject} within {COVERAGE_RANGE[0]:g} to {COVERAGE_RANGE[1]:g} %."


def _summary_cells(
    part: pd.DataFrame, perturbation: str, names: tuple[str, ...]
) -> tuple[str, ...]:
    """Return table cells that summarise the coverage of a perturbation's intervals."""
    given = [name for name in names if part[f"covered_{name}"].notna().any()]
    if not given:
        return ()
    worked = part[part["error_type"].isna()][[f"covered_{name}" for name in names]]
    flags = worked.to_numpy(dtype=np.float64, na_value=np.nan)
    shares = 100.0 * np.array([pooled_coverage(part, name) for name in given])
    within = int(((shares >= COVERAGE_RANGE[0]) & (shares <= COVERAGE_RANGE[1])).sum())
    logs = 100.0 * np.concatenate([coverage_by_log(part, name).to_numpy() for name in given])
    log_count = int((logs >= MIN_LOG_COVERAGE).sum())
    widths = np.array([_relative_width(part, name) for name in given])
    return (
        inline_code(perturbation),
        format_number(100.0 * float(np.nanmean(flags))),
        format_number(float(shares.min())),
        f"{within} of {len(given)}",
        f"{log_count} of {len(logs)}",
        format_number(float(logs.min()) if len(logs) else float("nan")),
        format_number(100.0 * float(np.isfinite(flags).mean())),
        format_number(
            float(np.nanmedian(widths)) if np.isfinite(widths).any() else float("nan"), 2
        ),
    )


def pooled_coverage(part: pd.DataFrame, name: str) -> float:
    """Return the fraction of a parameter's intervals that contain the truth; NaN for none."""
    return float(part[f"covered_{name}"].mean())


def _coverage_interval(part: pd.DataFrame, name: str) -> Interval:
    """Return the Clopper-Pearson interval of a parameter's coverage."""
    covered = part[f"covered_{name}"].dropna()
    return proportion_interval(int(covered.sum()), len(covered))


def coverage_by_log(part: pd.DataFrame, name: str) -> pd.Series:
    """Return the coverage of a parameter on each log with enough intervals."""
    groups = part.groupby("log")[f"covered_{name}"]
    return groups.mean()[groups.count() >= _MIN_TRIALS_PER_LOG]


def _coverage_rows(
    part: pd.DataFrame, perturbation: str, names: tuple[str, ...]
) -> list[list[str]]:
    """Return the table rows of coverage and width of a perturbation, by parameter."""
    if part.empty or not part[[f"covered_{name}" for name in names]].notna().any(axis=None):
        return []
    worked = part[part["error_type"].isna()]
    shares = [_coverage_interval(worked, name) for name in names]
    lines = {
        "covered": [format_number(100.0 * pooled_coverage(worked, name)) for name in names],
        "interval": [
            f"{format_number(100.0 * low)}–{format_number(100.0 * high)}" for low, high in shares
        ],
        "worst log": [format_number(100.0 * coverage_by_log(worked, name).min()) for name in names],
        "given": [
            format_number(100.0 * worked[f"covered_{name}"].notna().mean()) for name in names
        ],
        "width": [format_number(_relative_width(worked, name), 2) for name in names],
    }
    return [[inline_code(perturbation), quantity, *cells] for quantity, cells in lines.items()]


def _relative_width(part: pd.DataFrame, name: str) -> float:
    """Return the median ratio of an interval's half-width to that expected from the errors."""
    columns = [f"half_width_{name}", f"error_{name}"]
    if not set(columns) <= set(part.columns):
        return float("nan")
    ratios = [
        float(log[columns[0]].median() / (NORMAL_QUANTILE * np.sqrt((log[columns[1]] ** 2).mean())))
        for _, log in part.dropna(subset=columns).groupby("log")
        if len(log) >= _MIN_TRIALS_PER_LOG and log[columns[1]].any()
    ]
    return float(np.median(ratios)) if ratios else float("nan")


_MIN_COVERAGE_SHOWN = 70.0
"""Lower end of the coverage axis in figures [%]."""

_MAX_PANELS = 8
_MAX_ESTIMATORS = 6


def coverage_figures(rows: StudyRows) -> list[StudyFigure]:
    """Return the figure of coverage: one column per estimator, one panel per perturbation."""
    names = rows.interval_names
    if not names:
        return []
    given = rows.frame[[f"covered_{name}" for name in names]].notna().any(axis=1)
    frame = rows.frame[given]
    perturbations = set(frame["perturbation"])
    labels = [label for label in rows.perturbation_labels if label in perturbations]
    notes = short_labels(labels, MAX_NOTE_LENGTH)
    by_estimator = dict(iter(frame.groupby("estimator")))
    estimators = [label for label in rows.labels("estimator") if label in by_estimator]
    columns = []
    for estimator in estimators[:_MAX_ESTIMATORS]:
        parts = dict(iter(by_estimator[estimator].groupby("perturbation")))
        shown = [(note, parts[label]) for label, note in notes.items() if label in parts]
        panels = tuple(
            Panel(
                partial(_draw_coverage, part=part, names=names), "", note, 0.3 + 0.16 * len(names)
            )
            for note, part in shown[:_MAX_PANELS]
        )
        title = clip_text(f"Coverage, {estimator}", MAX_TITLE_LENGTH)
        columns.append(Column(title, "covered [%]", panels))
    listed = ", ".join(map(inline_code, estimators[:_MAX_ESTIMATORS]))
    caption = (
        "Points: share of the intervals that contain the true value, over logs and seeds, with its "
        "95 % Clopper-Pearson interval; crosses: the log with the lowest share (of those with at "
        f"least five intervals); shaded: {COVERAGE_RANGE[0]:g} to {COVERAGE_RANGE[1]:g} %. Values "
        f"below {_MIN_COVERAGE_SHOWN:g} % are drawn at the edge as <. From the left: "
        f"{listed}.{label_legend(notes)}"
    )
    title = "Coverage of the 95 % intervals"
    return [StudyFigure("coverage", title, caption, tuple(columns))]


def _draw_coverage(axes: PanelAxes, part: pd.DataFrame, names: tuple[str, ...]) -> None:
    positions = np.arange(len(names), dtype=np.float64)[::-1]
    shares = 100.0 * np.array([pooled_coverage(part, name) for name in names])
    ends = np.maximum(
        100.0 * np.array([_coverage_interval(part, name) for name in names]), _MIN_COVERAGE_SHOWN
    )
    logs = [coverage_by_log(part, name) for name in names]
    worst = 100.0 * np.array([log.min() if len(log) else np.nan for log in logs])
    axes.set_xlim(_MIN_COVERAGE_SHOWN - 0.5, 100.5)
    axes.set_ylim(-0.7, len(names) - 0.3)
    axes.grid(visible=False, axis="y")
    axes.axvspan(*COVERAGE_RANGE, color=colors.BAND, lw=0.0)
    axes.axvline(95.0, color=colors.MUTED, lw=0.7, dashes=(3, 2))
    axes.hlines(positions, *ends.T, color=colors.ESTIMATE, lw=1.4)
    for values, marker, color, size in (
        (worst, "x", colors.TEXT, 3.5),
        (shares, "o", colors.ESTIMATE, 5.0),
    ):
        below = values < _MIN_COVERAGE_SHOWN
        edge = np.full(int(below.sum()), _MIN_COVERAGE_SHOWN)
        axes.plot(values[~below], positions[~below], marker, color=color, ms=size, mew=1.0)
        axes.plot(edge, positions[below], "<", color=color, ms=size, mew=0.0)
    axes.set_yticks(positions, names)
    axes.tick_params(axis="y", length=0.0)
