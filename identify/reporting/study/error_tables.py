"""Tables of errors by perturbation, estimator, option and log, and published scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from identify.catalog import dataset_path
from identify.errors import DatasetError
from identify.progress import format_duration
from identify.reporting.content import ReportTable, Section, Text, Tile, Tiles, Tone, make_table
from identify.reporting.study.rows import (
    StudyRows,
    describe_option,
    failure_count,
    format_metric,
    format_number,
    format_percent,
    inline_code,
    partial_metrics,
    with_count,
)
from identify.studies.metrics import find_heading
from identify.studies.results import mean_interval, proportion_interval

if TYPE_CHECKING:
    import pandas as pd

    from identify.studies.study import Published, Target


def headline_section(rows: StudyRows) -> Section:
    """Return the headline section of a study, with a table of the estimators."""
    without = failure_count(rows.frame)
    tone: Tone = "good" if without == "0" else "warn"
    tiles = [Tile("trials", str(len(rows.frame)), f"{without} failed", tone)]
    if "consistent" in rows.metrics:
        consistent = float(rows.frame["consistent"].mean())
        tiles.append(
            Tile(
                "physically consistent", f"{format_percent(consistent)} %", "of all attempted fits"
            )
        )
    if rows.interval_names:
        every = rows.frame[[f"covered_{name}" for name in rows.interval_names]]
        share = float(every.melt()["value"].mean())
        tiles.append(
            Tile(
                "95 % intervals that contain the truth",
                f"{format_percent(share)} %",
                "nominal: 95 %",
            )
        )
    if rows.seconds:
        tiles.append(Tile("time", format_duration(rows.seconds), "of all runs of this code"))
    table = _estimator_table(rows)
    return Section("headline", "", (Tiles(tuple(tiles)), *(() if table is None else (table,))))


def _estimator_table(rows: StudyRows) -> ReportTable | None:
    metrics = rows.plotted_metrics or rows.metrics
    if not metrics:
        return None
    noisy = rows.frame[rows.frame["perturbation"].isin(rows.perturbation_labels)]
    lines = [
        [inline_code(label), *(format_score(part, name) for name in metrics)]
        for label, part in rows.rows_by_label("estimator", noisy)
    ]
    caption = (
        "Means over all trials with noise, with 95 % intervals: of means by bootstrap over trials "
        "(percentiles of 2000 draws; above 1000 trials the normal interval), of shares by Clopper "
        "and Pearson. Trials of one log are correlated; intervals for new logs would be wider."
    )
    heads = ("estimator", *(find_heading(name).text for name in metrics))
    return make_table(heads, lines, caption)


def format_score(
    part: pd.DataFrame, metric: str, format_value: Callable[[str, float], str] = format_metric
) -> str:
    """Format the mean of a metric with its 95 % interval; a dash if no trial has it."""
    values = part[metric].dropna().astype(float)
    if values.empty:
        return "–"
    mean = format_value(metric, float(values.mean()))
    heading = find_heading(metric)
    # A share of trials, in per cent.
    if heading.display_factor == 100.0 and not heading.has_percentiles:
        low, high = proportion_interval(int(values.sum()), len(values))
    else:
        low, high = mean_interval(values.to_numpy())
    ends = format_value(metric, low), format_value(metric, high)
    return mean if ends[0] == ends[1] else f"{mean} [{', '.join(ends)}]"


_MAX_LOGS = 40
_MAX_PERTURBATIONS = 5

_SCORES_CAPTION = (
    "Mean [95 % interval] / median over logs and seeds, of the fits with an estimate; the others "
    "are counted as failed. Intervals of means by bootstrap over trials, of shares by Clopper and "
    "Pearson. Consistent: Π ⪰ 0 up to rounding; share of all attempted fits, where a failed fit "
    "counts as not consistent. Riemannian: of consistent estimates only. Identifiable: parameters "
    "that the log identifies; the others come from a stated default body and are scored as well."
)
_PARTIAL_NOTE = (
    " (n …): number of fits with the value, if some estimates lack it; means over different fits "
    "are not comparable."
)
_COMMON_TRIALS_NOTE = (
    " Common trials: mean over the (n …) noisy logs for which all estimators give a consistent "
    "estimate."
)

_COUNT_METRIC = "n_identifiable"
_COMMON_TRIALS_METRIC = "riemannian"
"""Metric with an additional column for the trials that all estimators completed."""


def scores_section(rows: StudyRows) -> Section | None:
    """Return the section of means with intervals, and of medians, of all metrics."""
    if not rows.metrics:
        return None
    published = None if rows.study is None else rows.study.published
    others = None if published is None else published_scores(published)
    partial = partial_metrics(rows.frame, rows.metrics)
    # Estimators may have the selected metric for different trials.
    compared = _COMMON_TRIALS_METRIC in partial and len(rows.labels("estimator")) > 1
    heads = [
        "perturbation",
        "estimator",
        *(find_heading(name).text for name in rows.metrics),
        "failed",
    ]
    heads += [f"{find_heading(_COMMON_TRIALS_METRIC).text}, common trials"] * compared
    lines = []
    for perturbation, part in rows.rows_by_label("perturbation"):
        common = None
        if compared:  # metric on noisy logs that all estimators completed, one a column
            trials = ["log", "seed"]
            paired = part.pivot(index=trials, columns="estimator", values=_COMMON_TRIALS_METRIC)
            common = paired.dropna()
        for estimator, subset in rows.rows_by_label("estimator", part):
            cells = _score_cells(subset, rows.metrics, partial)
            if common is not None:
                mean = float(common[estimator].mean()) if estimator in common else None
                cells.append(with_count(format_metric(_COMMON_TRIALS_METRIC, mean), len(common)))
            lines.append([inline_code(perturbation), inline_code(estimator), *cells])
        if published is not None and others is not None:
            for _, other in others[others[published.perturbation] == perturbation].iterrows():
                columns = published.metrics.items()
                values: dict[str, float] = {name: other[column] for name, column in columns}
                cells = [*(format_number(values.get(name)) for name in rows.metrics), "–"]
                name = f"published {other[published.estimator]}"
                lines.append([inline_code(perturbation), name, *cells, *["–"] * compared])
    notes = [_SCORES_CAPTION + _PARTIAL_NOTE * bool(partial) + _COMMON_TRIALS_NOTE * compared]
    if published is not None and others is None:
        notes.append("The published scores are not available: their data set is missing.")
    if rows.study is not None and rows.study.note:
        notes.append(rows.study.note)
    return Section(
        "scores", "Scores", (make_table(heads, lines, word_columns=2), *map(Text, notes))
    )


def _score_cells(part: pd.DataFrame, metrics: Sequence[str], partial: frozenset[str]) -> list[str]:
    """Return mean with interval, and median, of each metric, and the number of failed fits."""
    cells = []
    for name in metrics:
        values, cell = part[name], format_score(part, name)
        if find_heading(name).has_percentiles and values.notna().any():
            cell += f" / {format_metric(name, float(values.median()))}"
        cells.append(with_count(cell, int(values.count())) if name in partial else cell)
    return [*cells, failure_count(part)]


def scores_by_option(rows: StudyRows) -> Section | None:
    """Return the section of errors by option of the logs, one table for each option."""
    covered = [f"covered_{name}" for name in ("m", "cx", "cy", "cz") if name in rows.interval_names]
    metrics = [*rows.metrics, *covered]
    names = [find_heading(name).text for name in metrics]
    partial = partial_metrics(rows.frame, metrics)
    blocks: list[Text | ReportTable] = []
    for column in rows.log_options:
        parts = dict(iter(rows.frame.groupby([column, "perturbation", "estimator"])))
        cells = product(
            sorted(rows.frame[column].dropna().unique()),
            rows.labels("perturbation"),
            rows.labels("estimator"),
        )
        lines = [
            [
                inline_code(option) if isinstance(option, str) else f"{option:g}",
                *map(inline_code, labels),
                *_score_cells(parts[option, *labels], metrics, partial),
            ]
            for option, *labels in cells
            if (option, *labels) in parts
        ]
        heads = (describe_option(column), "perturbation", "estimator", *names, "failed")
        blocks += [
            Text(f"By {describe_option(column).split(' [')[0]}:"),
            make_table(heads, lines, word_columns=3),
        ]
    return Section("by-option", "By option of the logs", tuple(blocks)) if blocks else None


def scores_by_log(rows: StudyRows) -> Section | None:
    """Return the section of errors by log, with one table for each estimator.

    A log has a line for each noisy perturbation, unless these are too many.
    """
    if not rows.error_metrics or len(rows.labels("log")) < 2:
        return None
    means = rows.frame.groupby("log", sort=False)[rows.error_metrics[0]].mean().fillna(np.inf)
    logs = sorted(rows.labels("log"), key=lambda log: -means[log])
    separate = len(rows.perturbation_labels) <= _MAX_PERTURBATIONS
    averaged = "seeds" if separate else "perturbations and seeds"
    text = f"Means over {averaged}, with 95 % intervals if there are several trials."
    names = [*rows.error_metrics, *(name for name in (_COUNT_METRIC,) if name in rows.metrics)]
    words = ["log", *["perturbation"] * separate]
    heads = (*words, *(find_heading(name).text for name in names), "failed")
    remaining = len(logs) - _MAX_LOGS
    more = f"… and {remaining} more logs in the Parquet file." if remaining > 0 else ""
    blocks: list[Text | ReportTable] = [
        Text(f"{text} Sorted by {find_heading(rows.error_metrics[0]).text}.")
    ]
    cells = list(product(logs[:_MAX_LOGS], *[rows.perturbation_labels] * separate))
    for estimator, frame in rows.rows_by_label("estimator"):
        parts = dict(iter(frame.groupby(words)))
        lines = [
            [
                *map(inline_code, cell),
                *(format_score(parts[cell], name) for name in names),
                failure_count(parts[cell]),
            ]
            for cell in cells
            if cell in parts
        ]
        blocks.append(Text(f"Estimator {inline_code(estimator)}:"))
        blocks.append(make_table(heads, lines, more, word_columns=len(words)))
    return Section("by-log", "By log", tuple(blocks))


def published_scores(published: Published) -> pd.DataFrame | None:
    """Read the published scores that a study names; None if their data set is missing."""
    import pandas as pd

    try:
        return pd.read_csv(dataset_path(published.dataset) / published.file)
    except DatasetError:
        return None


def targets_section(rows: StudyRows) -> Section | None:
    """Return the section of targets and the means reached; None without targets."""
    if rows.study is None or not rows.study.targets:
        return None
    lines = target_lines(rows, rows.study.targets)
    heads = ("estimator", "mean of", "perturbation", "result", "target", "met")
    return Section("targets", "Targets", (make_table(heads, lines, word_columns=3),))


def target_lines(rows: StudyRows, targets: Sequence[Target]) -> list[tuple[str, ...]]:
    """Return one line for each target: estimator, metric, perturbation, mean, target, met."""
    lines = []
    for target in targets:
        part = rows.frame[rows.frame["estimator"] == target.estimator]
        if target.perturbation is not None:
            part = part[part["perturbation"] == target.perturbation]
        mean = float(part[target.metric].mean()) if target.metric in part else float("nan")
        met = target.least <= mean <= target.most
        bounds = {"≥": target.least, "≤": target.most}
        limits = [f"{sign} {limit:g}" for sign, limit in bounds.items() if np.isfinite(limit)]
        metric = find_heading(target.metric).text
        perturbation = "all" if target.perturbation is None else inline_code(target.perturbation)
        verdict = "yes" if met else "**no**"
        label, limit = inline_code(target.estimator), ", ".join(limits)
        lines.append((label, metric, perturbation, f"{mean:.3f}", limit, verdict))
    return lines
