"""What comes first of a study: how much ran, and each estimator over all noisy trials."""

from __future__ import annotations

from typing import Any

from identify.experiments.metrics import heading_of
from identify.experiments.progress import duration
from identify.experiments.uncertainty import mean_interval, share_interval
from identify.reporting.content import Section, Table, Tile, Tiles, table_of
from identify.reporting.study.rows import StudyRows, code, number, percent, shown


def headline(rows: StudyRows) -> Section:
    """Tiles of the whole study, and a line for each estimator."""
    failed = int(rows.frame["error_type"].notna().sum())
    tiles = [Tile("trials", str(len(rows.frame)), f"{failed} failed", "warn" if failed else "good")]
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


def _table(rows: StudyRows) -> Table | None:
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


def score(part: Any, metric: str) -> str:
    """The mean of a metric with its 95 % interval; a dash where no trial has it."""
    values = part[metric].dropna().astype(float)
    if values.empty:
        return "–"
    mean = shown(metric, float(values.mean()))
    heading = heading_of(metric)
    if heading.factor == 100.0 and not heading.spread:  # a share of trials, in per cent
        low, high = share_interval(int(values.sum()), len(values))
    else:
        low, high = mean_interval(values.to_numpy())
    if not low < high:
        return mean
    return f"{mean} [{number(heading.factor * low)}, {number(heading.factor * high)}]"
