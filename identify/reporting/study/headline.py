"""What comes first of a study: how much ran, and each estimator over all noisy trials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from identify.reporting.content import ReportTable, Section, Tile, Tiles, Tone, table_of
from identify.reporting.study.rows import StudyRows, code, failed, percent, shown
from identify.studies.metrics import heading_of
from identify.studies.progress import duration
from identify.studies.uncertainty import mean_interval, share_interval


def headline(rows: StudyRows) -> Section:
    """Tiles of the whole study, and a line for each estimator."""
    without = failed(rows.frame)
    tone: Tone = "good" if without == "0" else "warn"
    tiles = [Tile("trials", str(len(rows.frame)), f"{without} failed", tone)]
    if "consistent" in rows.metrics:
        consistent = float(rows.frame["consistent"].mean())
        tiles.append(Tile("physically consistent", f"{percent(consistent)} %", "of all fits tried"))
    if rows.interval_names:
        every = rows.frame[[f"covered_{name}" for name in rows.interval_names]]
        share = float(every.stack().mean())
        tiles.append(
            Tile("95 % intervals that hold the truth", f"{percent(share)} %", "95 % is wanted")
        )
    if rows.seconds:
        tiles.append(Tile("time", duration(rows.seconds), "of all runs of this code"))
    table = _table(rows)
    return Section("headline", "", (Tiles(tuple(tiles)), *(() if table is None else (table,))))


def _table(rows: StudyRows) -> ReportTable | None:
    metrics = rows.drawn or rows.metrics
    if not metrics:
        return None
    noisy = rows.frame[rows.frame["perturbation"].isin(rows.noisy)]
    lines = [
        [code(label), *(score(part, name) for name in metrics)]
        for label, part in rows.parts("estimator", noisy)
    ]
    caption = (
        "Means over all trials with noise, with 95 % intervals: of means by the bootstrap over "
        "trials (percentiles of 2000 draws; beyond 1000 trials the normal interval), of shares "
        "Clopper and Pearson's. Trials of one log resemble each other; of other logs intervals "
        "would be wider."
    )
    heads = ("estimator", *(heading_of(name).text for name in metrics))
    return table_of(heads, lines, caption)


def score(part: Any, metric: str, said: Callable[[str, float], str] = shown) -> str:
    """The mean of a metric with its 95 % interval, as `said`; a dash where no trial has it."""
    values = part[metric].dropna().astype(float)
    if values.empty:
        return "–"
    mean = said(metric, float(values.mean()))
    heading = heading_of(metric)
    if heading.factor == 100.0 and not heading.spread:  # a share of trials, in per cent
        low, high = share_interval(int(values.sum()), len(values))
    else:
        low, high = mean_interval(values.to_numpy())
    ends = said(metric, low), said(metric, high)
    return mean if ends[0] == ends[1] else f"{mean} [{', '.join(ends)}]"
