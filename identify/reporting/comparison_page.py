"""HTML page that compares separate fits, with links to their reports."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from urllib.parse import quote

import numpy as np

from identify.reporting import colors
from identify.reporting.canvas import Column, Panel, PanelAxes, label_rows
from identify.reporting.comparison import (
    Comparison,
    FittedLog,
    join_first,
    p_value_text,
    shorten_names,
    verdict_explanations,
    verdict_text,
)
from identify.reporting.content import (
    BulletList,
    Cell,
    Head,
    Pictures,
    Row,
    Section,
    Tile,
    Tiles,
    Tone,
    make_row,
    make_table,
    render_page,
)
from identify.reporting.rounding import format_r_squared, format_significant
from identify.significance import ESTIMATES_DIFFER_P

_TONE_OF_VERDICT: dict[str, Tone] = {"agree": "good", "differ": "warn", "undecided": ""}
_GROUP_HEADINGS = {"m": "mass", "cx": "centre of mass", "Icxx": "inertia about the centre of mass"}
"""Heading of each group of parameters, by the name of its first parameter."""


def comparison_html(
    comparison: Comparison, *, title: str = "", folder: str = ".", written: datetime | None = None
) -> str:
    """Return the page that compares separate fits as HTML."""
    return render_page(
        "comparison.html",
        (build(comparison) for build in SECTIONS),
        title=title or f"Inertia from {len(comparison.logs)} logs, fitted separately",
        folder=folder,
        written=written,
    )


def headline_section(comparison: Comparison) -> Section:
    """Return the headline section: whether the fits agree, number of logs, pooled mass."""
    pooled = comparison.pooled
    counts = {
        status: len(comparison.logs_with_status(status)) for status in ("failed", "duplicate")
    }
    unusable = sum(log.usable == "no" for log in comparison.logs)
    details = [f"{number} {status}" for status, number in counts.items() if number]
    details += [f"{unusable} unusable"] * bool(unusable)
    tiles = [
        Tile(
            "agreement",
            verdict_text(comparison),
            detail=pooled.undecided_reason,
            tone=_TONE_OF_VERDICT[pooled.verdict],
        ),
        Tile(
            "logs fitted",
            f"{len(comparison.logs_with_status('fitted'))} of {len(comparison.logs)}",
            ", ".join(details),
            "warn" if counts["failed"] or unusable else "",
        ),
    ]
    if pooled.intervals["m"] is not None:
        pooling = len(pooled.by_name) - len(pooled.differing)
        mass = f"{comparison.pooled_text('m')} {comparison.units['m'].name}"
        tiles.append(Tile("pooled mass", mass, f"of {pooling} estimates, 95 %"))
    return Section("result", "", (Tiles(tuple(tiles)),))


def agreement_section(comparison: Comparison) -> Section:
    """Return the section on whether the fits agree, with pooled parameters."""
    pooled = comparison.pooled
    sentences = BulletList(tuple(verdict_explanations(comparison)))
    if not any(p is not None for p in pooled.by_parameter.values()):
        return Section("agreement", "Agreement of the logs", (sentences,))
    rows = []
    for name, p in pooled.by_parameter.items():
        detectable, unit = pooled.detectable[name], comparison.units[name]
        rows.append(
            make_row(
                Cell(name[0] if len(name) > 1 else name, subscript=name[1:]),
                unit.name,
                comparison.pooled_text(name),
                "–" if detectable is None else format_significant(unit.of(detectable)),
                Cell(
                    "–" if p is None else p_value_text(p).removeprefix("= "),
                    tone="warn" if p is not None and p < ESTIMATES_DIFFER_P else "",
                ),
                heading=_GROUP_HEADINGS.get(name, ""),
            )
        )
    table = make_table(
        ("parameter", "unit", "pooled, 95 %", "detectable", "p, all logs"),
        rows,
        "Pooled values: mean of the estimates, weighted by their covariances. Detectable: minimum "
        "difference of a typical log from the others, in this parameter only, that is detected. p: "
        "probability of differences at least as large under the hypothesis of one body; among ten "
        "parameters one p below 0.07 is expected by chance.",
        word_columns=2,
    )
    return Section("agreement", "Agreement of the logs", (sentences, table))


def forest_section(comparison: Comparison) -> Section | None:
    """Return the section of the forest plots, one for each parameter."""
    columns = forest_columns(comparison)
    if not columns:
        return None
    caption = (
        "One row for each log, sorted by name, with its 95 % interval; the band is the interval of "
        "the pooled value. A triangle at the edge marks a value outside the figure."
    )
    return Section("forest", "Parameters by log", (Pictures(columns, caption),))


def fits_section(comparison: Comparison) -> Section | None:
    """Return the section of the table of fitted logs, with a link to each report."""
    fitted = comparison.logs_with_status("fitted")
    if not fitted:
        return None
    names = list(fitted[0].parameters)
    heads = (
        *("log", "usable", "findings", "p, log", "R², minimum"),
        *(f"{name} [{comparison.units[name].name}]" for name in names),
        *("rows", "duration [s]"),
    )
    caption = (
        "Separate fits: p, probability of a difference from the other logs as large by chance; "
        "R², the lowest held-out value of the axes of the wrench."
    )
    if not any(log.link for log in fitted):  # each in a folder test the page
        caption += " table.csv and table.parquet have the same in SI, with intervals."
    rows = (_log_row(comparison, log, names) for log in fitted)
    return Section("fits", "Logs", (make_table(heads, rows, caption, word_columns=3),))


def _log_row(comparison: Comparison, log: FittedLog, names: list[str]) -> Row:
    pooled = comparison.pooled
    test = pooled.by_name.get(log.name)
    tone: Tone = "warn" if log.name in pooled.differing else ""
    link = log.link or f"{quote(log.name)}/{'report.html' if log.report else 'estimate.json'}"
    codes = [code.replace("_", " ") for code in log.findings]
    return make_row(
        Cell(log.name, tooltip=log.file, link=link),
        Cell(log.usable, tone="warn" if log.usable == "no" else ""),
        Cell(join_first(codes, 2), tooltip=", ".join(codes)),
        Cell(
            "–" if test is None or test.p is None else p_value_text(test.p).removeprefix("= "),
            tone=tone,
        ),
        "–" if log.r_squared is None else format_r_squared(log.r_squared),
        *(comparison.parameter_text(log.parameters[name]) for name in names),
        "" if log.rows is None else str(log.rows),
        "" if log.duration is None else f"{log.duration:.4g}",
        muted=log.usable == "no",
    )


def failed_logs_section(comparison: Comparison) -> Section | None:
    """Return the section of the logs without an estimate, with the reasons."""
    logs = (*comparison.logs_with_status("failed"), *comparison.logs_with_status("duplicate"))
    if not logs:
        return None
    rows = ((Cell(log.name, tooltip=log.file), log.status, log.error) for log in logs)
    table = make_table(("log", "status", Head("why", "prose")), rows, word_columns=2)
    return Section("without", "Logs without an estimate", (table,))


SECTIONS: tuple[Callable[[Comparison], Section | None], ...] = (
    headline_section,
    agreement_section,
    failed_logs_section,
    forest_section,
    fits_section,
)
"""Functions that make the sections of the comparison page, in their order."""


_MAX_NAMED_LOGS = 60
"""Maximum number of logs that are labelled in the forest plot; beyond it, only differing logs
are."""

_ROW_HEIGHT = 0.19
_MIN_ROW_HEIGHT = 0.006
_MAX_HEIGHT = 7.0
"""Height of a row in the forest plot, its minimum, and maximum height of all rows [in]."""

_MAX_NAME_LENGTH = 18
_MAX_INTERVAL_RATIO = 4.0
"""Maximum drawn half-width of an interval, relative to the median half-width."""


def forest_columns(comparison: Comparison) -> tuple[Column, ...]:
    """Return a forest plot for each parameter, with the logs in rows, sorted by name."""
    fitted = comparison.logs_with_status("fitted")
    if not fitted:
        return ()
    count = len(fitted)
    row = _ROW_HEIGHT if count <= _MAX_NAMED_LOGS else max(_MIN_ROW_HEIGHT, _MAX_HEIGHT / count)
    columns = []
    for name in fitted[0].parameters:
        draw = partial(_draw_forest_plot, comparison=comparison, fitted=fitted, name=name)
        label = f"{name} [{comparison.units[name].name}]"
        columns.append(Column(name, label, (Panel(draw, height=0.2 + row * count),)))
    return tuple(columns)


def _draw_forest_plot(
    axes: PanelAxes, comparison: Comparison, fitted: tuple[FittedLog, ...], name: str
) -> None:
    pooled, unit = comparison.pooled, comparison.units[name]
    rows = [log.parameters[name] for log in fitted]
    values = np.array([unit.of(row.value) if row.from_data else np.nan for row in rows])
    halves = np.array([np.nan if (h := row.half_width) is None else unit.of(h) for row in rows])
    halves[[row.decided_by == "given" for row in rows]] = np.nan
    compared = np.array([log.name in pooled.by_name for log in fitted])
    differs = np.array([log.name in pooled.differing for log in fitted])
    low, high = _axis_limits(values, halves, compared)
    axes.set_xlim(low, high)
    axes.locator_params(axis="x", nbins=5)  # numbers of many digits in half a column
    places = _label_logs(axes, comparison, fitted, name)
    interval = pooled.intervals[name]
    if interval is not None:
        axes.axvspan(*map(unit.of, interval), color=colors.BAND, lw=0.0, label="pooled, 95 %")
        axes.axvline(unit.of(pooled.values[name]), color=colors.ESTIMATE, lw=0.7)
    size, faint = (4.5, 1.0) if len(fitted) <= _MAX_NAMED_LOGS else (2.0, 0.4)
    kinds = (
        ("estimate", colors.ESTIMATE, "o", compared & ~differs),
        ("differs", colors.OTHER_BODY, "D", differs),
        ("unusable", colors.MEASURED, "s", ~compared),
    )
    for label, color, marker, which in kinds:
        if not which.any():
            continue
        finite = which & np.isfinite(values)
        bounds = np.clip([values - halves, values + halves], low, high)
        spread = which & np.isfinite(halves) & (bounds[1] > bounds[0])
        look = {"color": color, "lw": 0.4 * size, "alpha": 1.0 if marker == "D" else faint}
        axes.hlines(places[spread], *bounds[:, spread], **look)
        inside = finite & (values >= low) & (values <= high)
        axes.plot(values[inside], places[inside], marker, color=color, ms=size, mew=0, label=label)
        for side, sign, edge in (("<", values < low, low), (">", values > high, high)):
            off = finite & sign
            if off.any():
                axes.plot(
                    np.full(int(off.sum()), edge),
                    places[off],
                    side,
                    color=color,
                    ms=size,
                    mew=0,
                    clip_on=False,
                )


def _axis_limits(
    values: np.ndarray, half_widths: np.ndarray, compared: np.ndarray
) -> tuple[float, float]:
    """Return axis limits that show all compared values, and their intervals if not very wide."""
    which = compared & np.isfinite(values)
    if not which.any():
        which = np.isfinite(values)
    if not which.any():
        return 0.0, 1.0
    known = np.where(np.isfinite(half_widths), half_widths, 0.0)[which]
    most = _MAX_INTERVAL_RATIO * float(np.median(known))
    reach = np.minimum(known, most)
    low, high = float((values[which] - reach).min()), float((values[which] + reach).max())
    margin = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
    return low - margin, high + margin


def _label_logs(
    axes: PanelAxes, comparison: Comparison, fitted: tuple[FittedLog, ...], name: str
) -> np.ndarray:
    """Label the rows of a forest plot with the names of the logs, or of some of many logs."""
    names = shorten_names([log.name for log in fitted], _MAX_NAME_LENGTH)
    if len(fitted) <= _MAX_NAMED_LOGS:
        return label_rows(
            axes,
            [names[log.name] for log in fitted],
            [comparison.parameter_text(log.parameters[name]) for log in fitted],
        )
    places = np.arange(len(fitted), dtype=np.float64)[::-1]
    apart = 0.16 * len(fitted) / max(_MIN_ROW_HEIGHT * len(fitted), _MAX_HEIGHT)
    marked: dict[float, str] = {}
    for place, log in zip(places.tolist(), fitted, strict=True):
        if log.name in comparison.pooled.differing:
            last = min(marked, default=np.inf)
            if last - place >= apart:
                marked[place] = names[log.name]
            else:  # no room for another name
                marked[last] = marked[last].removesuffix(" …") + " …"
    axes.set_yticks(list(marked), list(marked.values()))
    axes.set_ylim(-1.0, len(fitted))
    axes.grid(visible=False, axis="y")
    return places
