"""The page that compares separate fits: one HTML file beside their folders, to which it leads."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from urllib.parse import quote

from identify.reporting.canvas import style, svg
from identify.reporting.comparison.fits import Comparison, FittedLog, listed
from identify.reporting.comparison.forest import forest_columns
from identify.reporting.comparison.wording import answer, chance_text, reasons
from identify.reporting.content import (
    Cell,
    Head,
    Pictures,
    Points,
    Row,
    Section,
    Table,
    Tile,
    Tiles,
    Tone,
    numbers,
    row,
    template,
)
from identify.reporting.rounding import nines, significant

_TONES: dict[str, Tone] = {"agree": "good", "differ": "warn", "cannot be told": ""}
_NAMES = {"m": "mass", "cx": "centre of mass", "Icxx": "inertia about the centre of mass"}
"""Headings of the groups of parameters, by the first of each."""


def comparison_html(
    comparison: Comparison, *, folder: str = ".", written: datetime | None = None
) -> str:
    """The page as text; the same fits and time give the same text.

    Args:
        comparison: of the fits.
        folder: the one that the page stands in, in words.
        written: the time that the page gives as its own; now, where not given.
    """
    from markupsafe import Markup

    sections = [section for build in SECTIONS if (section := build(comparison)) is not None]
    with style():
        return template("comparison.html").render(
            logs=len(comparison.logs),
            folder=folder,
            written=written or datetime.now().astimezone(),
            sections=sections,
            draw=lambda column, key: Markup(svg(column, key)),
        )


def headline(comparison: Comparison) -> Section:
    """Whether they agree, how many there are, and the pooled mass."""
    pooled = comparison.pooled
    counts = {status: len(comparison.of_status(status)) for status in ("failed", "duplicate")}
    unusable = sum(log.usable == "no" for log in comparison.logs)
    details = [f"{number} {what}" for what, number in counts.items() if number]
    details += [f"{unusable} not to be used"] * bool(unusable)
    tiles = [
        Tile("do they agree", answer(comparison), detail=pooled.why, tone=_TONES[pooled.verdict]),
        Tile(
            "logs fitted",
            f"{len(comparison.of_status('fitted'))} of {len(comparison.logs)}",
            ", ".join(details),
            "warn" if counts["failed"] or unusable else "",
        ),
    ]
    if pooled.intervals["m"] is not None:
        pooling = len(pooled.by_name) - len(pooled.differing)
        shown = f"{_pooled(comparison, 'm')} {comparison.units['m'].name}"
        tiles.append(Tile("pooled mass", shown, f"of {pooling} estimates, 95 %"))
    return Section("result", "", (Tiles(tuple(tiles)),))


def agreement(comparison: Comparison) -> Section:
    """The verdict, and the pooled body with what was noticed of each parameter."""
    pooled = comparison.pooled
    said = Points(tuple(reasons(comparison)))
    if not any(p is not None for p in pooled.by_parameter.values()):
        return Section("agreement", "Do they agree", (said,))
    rows = []
    for name, p in pooled.by_parameter.items():
        noticed, unit = pooled.noticed[name], comparison.units[name]
        rows.append(
            row(
                Cell(name[0] if len(name) > 1 else name, sub=name[1:]),
                unit.name,
                _pooled(comparison, name),
                "–" if noticed is None else significant(unit.of(noticed)),
                Cell(
                    "–" if p is None else chance_text(p).removeprefix("= "),
                    tone="warn" if p is not None and p < 1e-3 else "",
                ),
                heading=_NAMES.get(name, ""),
            )
        )
    table = Table(
        (Head("parameter"), Head("unit"), *numbers("pooled, 95 %", "noticed from", "p, all logs")),
        tuple(rows),
        "Pooled: mean of the estimates, weighted by their covariances. Noticed from: what a "
        "typical log has to be away from the others in this parameter alone. p: probability of "
        "differences as large by chance, were the body the same; of ten, one below 0.07 is "
        "nothing.",
    )
    return Section("agreement", "Do they agree", (said, table))


def forest(comparison: Comparison) -> Section | None:
    """Each parameter by log."""
    columns = forest_columns(comparison)
    if not columns:
        return None
    caption = (
        "A row a log, sorted by name, with its 95 % interval; the band is the pooled value's. A "
        "triangle at the edge is a value outside the figure."
    )
    return Section("forest", "Parameters by log", (Pictures(columns, caption),))


def fits(comparison: Comparison) -> Section | None:
    """The table of what was fitted, with a link to each report."""
    fitted = comparison.of_status("fitted")
    if not fitted:
        return None
    names = list(fitted[0].parameters)
    heads = (
        *(Head(title) for title in ("log", "usable", "findings")),
        *numbers("p, log", "R², least"),
        *numbers(*(f"{name} [{comparison.units[name].name}]" for name in names)),
        *numbers("rows", "duration [s]"),
    )
    caption = (
        "p, log: probability of a difference from the others as large by chance. R², least: of the "
        "axes of the measured wrench, on data held out. table.csv and table.parquet have the same "
        "in SI, with intervals."
    )
    return Section(
        "fits",
        "Logs",
        (Table(heads, tuple(_fit(comparison, log, names) for log in fitted), caption),),
    )


def _fit(comparison: Comparison, log: FittedLog, names: list[str]) -> Row:
    pooled = comparison.pooled
    beside = pooled.by_name.get(log.name)
    tone: Tone = "warn" if log.name in pooled.differing else ""
    target = "report.html" if log.report else "estimate.json"
    codes = [code.replace("_", " ") for code in log.findings]
    return row(
        Cell(log.name, title=log.file, link=f"{quote(log.name)}/{target}"),
        Cell(log.usable, tone="warn" if log.usable == "no" else ""),
        Cell(listed(codes, 2), title=", ".join(codes)),
        Cell(
            "–" if beside is None or beside.p is None else chance_text(beside.p).removeprefix("= "),
            tone=tone,
        ),
        "–" if log.r_squared is None else nines(log.r_squared),
        *(comparison.shown(log.parameters[name]) for name in names),
        "" if log.rows is None else str(log.rows),
        "" if log.duration is None else f"{log.duration:.4g}",
        muted=log.usable == "no",
    )


def without(comparison: Comparison) -> Section | None:
    """Logs without an estimate, and why."""
    logs = (*comparison.of_status("failed"), *comparison.of_status("duplicate"))
    if not logs:
        return None
    rows = tuple(row(Cell(log.name, title=log.file), log.status, log.error) for log in logs)
    heads = (Head("log"), Head("status"), Head("why", "prose"))
    return Section("without", "Logs without an estimate", (Table(heads, rows),))


SECTIONS: tuple[Callable[[Comparison], Section | None], ...] = (
    headline,
    agreement,
    without,
    forest,
    fits,
)
"""In their order; each makes a section, or None where it has nothing to say."""


def _pooled(comparison: Comparison, name: str) -> str:
    interval = comparison.pooled.intervals[name]
    if interval is None:
        return "–"
    half = 0.5 * (interval[1] - interval[0])
    return comparison.with_half_width(name, comparison.pooled.values[name], half)
