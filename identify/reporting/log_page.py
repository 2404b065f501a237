"""The page of logs before any fit: columns, signals, attitudes and clocks, and findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from identify.diagnosis import Span
from identify.diagnosis.signal_marks import ClockSummary, summarise_clock
from identify.findings import Finding
from identify.logs.column_use import ColumnUse
from identify.logs.draft_lines import drafted_keys, format_toml_value
from identify.pipeline.log_overview import LogOverview, TableOverview
from identify.reporting.attitude_sphere import attitude_drawing, gravity_directions
from identify.reporting.content import (
    Block,
    BulletList,
    Cell,
    Folded,
    Head,
    Listing,
    Pictures,
    ReportTable,
    Row,
    Section,
    Text,
    Tile,
    Tiles,
    Tone,
    make_row,
    make_table,
    render_page,
)
from identify.reporting.result import finding_table
from identify.reporting.rounding import format_significant
from identify.reporting.signal_columns import (
    SignalLines,
    buckets_of,
    line_columns,
    marks_column,
    raw_lines,
    recording_lines,
    x_limits,
)

if TYPE_CHECKING:
    from identify.pipeline import LogCheck

_MAX_UNUSED = 40
"""Largest number of unused columns that are drawn."""

_MARKS_CAPTION = (
    "Marks: spans and samples that stand out. A body at rest moves by less than 0.05 rad/s and "
    "10 mm/s. Constant: a signal keeps its value far longer than it usually does. A spike is a "
    "sample that differs from both its neighbours by more than twelve times as much as usual, and "
    "by a hundredth of the range."
)


def log_page_html(logs: Sequence[LogOverview], check: LogCheck | None = None) -> str:
    """Return the page of one or more logs as HTML."""
    sections = [] if check is None else [_findings_section(check)]
    for number, log in enumerate(logs):
        names = (log.name, f"{log.name} (unloaded)")
        findings = [] if check is None else [f for f in check.findings if f.where in names]
        prefix = f"log{number + 1}-" if len(logs) > 1 else ""
        for section in _log_sections(log, findings, len(logs)):
            title = section.title
            if prefix:
                title = f"{log.name}: {title}" if title else log.name
            sections.append(Section(prefix + section.key, title, section.blocks, section.tone))
    return render_page(
        "log.html",
        sections,
        title="A log before its fit" if check is None else "Check of logs"[: 12 + (len(logs) > 1)],
        names=[log.path.name for log in logs],
    )


def _findings_section(check: LogCheck) -> Section:
    blocks: list[Block] = [*finding_table(check.findings)]
    if check.fit_error:
        blocks.insert(0, Text(f"No estimate: {check.fit_error}"))
    if check.conclusion:
        blocks.append(Text(check.conclusion))
    tone: Tone = "bad" if check.fit_error else "good" if check.passed else "warn"
    return Section("findings", "Findings", tuple(blocks), tone)


def _log_sections(log: LogOverview, findings: Sequence[Finding], logs: int) -> Iterator[Section]:
    yield _summary_section(log)
    yield _missing_section(log)
    yield Section("columns", "Columns", tuple(_column_blocks(log)))
    yield Section("signals", "Signals over time", tuple(_signal_blocks(log, findings, logs)))
    directions = np.zeros((0, 3)) if log.recording is None else gravity_directions(log.recording)
    attitudes: Block = Text("The log shows no direction of gravity in SI.", "muted")
    if len(directions):
        attitudes = attitude_drawing(directions)
    yield Section("attitudes", "Attitudes", (attitudes,))
    yield Section("clocks", "Clocks", tuple(_clock_blocks(log)))
    name = "Schema, drafted" if log.drafted else "Schema"
    yield Section("schema", "Schema", (Listing(name, log.schema_text, copyable=True),))


def _summary_section(log: LogOverview) -> Section:
    table = max(log.tables, key=lambda each: len(each.raw))
    used = sum(bool(use.signal) for each in log.tables for use in each.uses)
    count = sum(len(each.uses) for each in log.tables)
    detail, time = "without time stamps", table.raw.time
    if time is not None and len(time) > 1:
        clock = summarise_clock(time)
        assumed = "" if table.raw.stamped else " (assumed)"
        detail = f"{clock.duration:.4g} s at {clock.rate_hz:.4g} Hz{assumed}"
    if len(log.tables) > 1:
        detail += f"; the longest of {len(log.tables)} tables"
    readable = log.recording is not None
    tiles = (
        Tile("rows", str(len(table.raw)), detail),
        Tile("columns used", f"{used} of {count}"),
        Tile(
            "schema",
            "reads the log" if readable else "does not read the log",
            "drafted" if log.drafted else "as given",
            "good" if readable else "warn",
        ),
    )
    blocks: list[Block] = [Tiles(tiles)]
    if log.problem:
        blocks.append(Text(f"The schema does not read the log: {log.problem}", "warn"))
    blocks += [Text(table.raw.problem, "warn") for table in log.tables if table.raw.problem]
    if log.recording is not None and log.recording.findings:
        blocks.append(BulletList(tuple(map(str, log.recording.findings))))
    return Section("result", "", tuple(blocks))


def _missing_section(log: LogOverview) -> Section:
    blocks: list[Block] = []
    if log.missing:
        rows = (
            (name, purpose, " · ".join(f"`{line}`" for line in remedy.split("\n")))
            for name, purpose, remedy in log.missing
        )
        caption = "What is missing, and the line that gives it."
        blocks.append(_prose_table(("Missing", "Needed for", "Line"), rows, caption))
    review = [
        (
            f"[{key.table}]",
            f"`{format_toml_value(key.name, key.value)}`",
            key.comment or "it depends on the robot",
        )
        for key in drafted_keys(log.schema_text)
        if key.uncertain
    ]
    if review:
        heads = ("Table", "Line", "Uncertain because")
        blocks.append(_prose_table(heads, review, "Lines of the draft to review."))
    blocks = blocks or [Text("Nothing: the log can be checked and fitted.")]
    return Section("missing", "What is missing for a fit", tuple(blocks))


def _prose_table(heads: Sequence[str], rows: Iterable[Sequence[str]], caption: str) -> ReportTable:
    return make_table([Head(head, "prose") for head in heads], rows, caption)


def _column_blocks(log: LogOverview) -> Iterator[Block]:
    used, unused = list[Row](), list[Row]()
    for table in log.tables:
        heading = table.raw.info.topic or (table.raw.path.name if len(log.tables) > 1 else "")
        headings = {True: heading, False: heading}
        for use in table.uses:
            rows = used if use.signal else unused
            rows.append(_column_row(use, table, headings[bool(use.signal)]))
            headings[bool(use.signal)] = ""
    heads = ("Column", "Taken for", "How certain", "Range", Head("Remarks", "prose"))
    if used:
        caption = "What each column is taken for, in its own unit."
        yield make_table(heads, used, caption, word_columns=3)
    else:
        yield Text("No column is used.", "warn")
    if unused:
        table = make_table(heads, unused, word_columns=3)
        title = f"{len(unused)} column{'s' * (len(unused) > 1)} not used"
        yield Folded(title, (table,)) if used else table


def _column_row(use: ColumnUse, table: TableOverview, heading: str) -> Row:
    values = table.raw.columns.get(use.column)
    taken = f"{use.signal.replace('.', ' ').replace('_', ' ')} {use.part}".strip()
    taken = f"{taken} [{use.unit}]" if use.unit else taken
    remarks, shown = [use.reason] if use.reason else [], ""
    if values is not None and len(values):
        finite = values[np.isfinite(values)]
        if len(finite) < len(values):
            remarks.append(f"{len(values) - len(finite)} of {len(values)} rows have no number")
        if len(finite):
            low, high = float(finite.min()), float(finite.max())
            shown = f"{format_significant(low, 4)} … {format_significant(high, 4)}"
            if low == high:
                shown = format_significant(low, 4)
                remarks.append("constant")
    tone: Tone = "warn" if use.certainty == "to be reviewed" else ""
    certainty = Cell(use.certainty, tone=tone)
    cells = (use.column, taken or "–", certainty, shown, "; ".join(remarks))
    return make_row(*cells, heading=heading)


def _signal_blocks(log: LogOverview, findings: Sequence[Finding], logs: int) -> Iterator[Block]:
    in_si = [] if log.recording is None else recording_lines(log.recording)
    used = [] if in_si else [(table, raw_lines(table, used=True)) for table in log.tables]
    others = [(table, raw_lines(table, used=False)[:_MAX_UNUSED]) for table in log.tables]
    shown: list[SignalLines] = [*in_si, *(line for _, lines in (*used, *others) for line in lines)]
    buckets = max(40, buckets_of(shown) // logs)
    spans = {finding.code: found for finding in findings if (found := finding_spans(finding))}
    marks = (*log.marks, *(span for found in spans.values() for span in found))
    xlabel = "time [s]" if in_si or all(table.raw.by_time for table in log.tables) else "row [–]"
    if log.recording is not None and log.recording.still:
        xlabel, marks = "number of the static pose [–]", ()
    elif not marks:
        yield Text("No gaps, rests, constant spans or spikes were found.")
    if marks and (column := marks_column(log.marks, spans, x_limits(in_si or shown), xlabel)):
        yield Pictures(column, _MARKS_CAPTION)
    if columns := line_columns(in_si, marks, xlabel, buckets):
        yield Pictures(columns, "Signals in SI; of long logs their extremes.")
    yield from _raw_pictures(used, marks, buckets)
    if unused := tuple(_raw_pictures(others, () if in_si else marks, buckets)):
        yield from [Folded("Columns that are not used", unused)] if in_si else unused


def _raw_pictures(
    lines: Sequence[tuple[TableOverview, list[SignalLines]]], marks: Sequence[Span], buckets: int
) -> Iterator[Pictures]:
    for table, panels in lines:
        xlabel = "time [s]" if table.raw.by_time else "row [–]"
        if panels:
            drawn = line_columns(panels, marks, xlabel, buckets)
            yield Pictures(drawn, "Columns in the units of the log.")


def finding_spans(finding: Finding) -> tuple[Span, ...]:
    """Return the spans of time that the evidence of a finding names."""
    evidence = finding.evidence
    pairs = [*evidence.get("spans", ()), *([evidence["between"]] if "between" in evidence else [])]
    return tuple(Span("finding", float(start), float(stop), 0) for start, stop in pairs)


def _clock_blocks(log: LogOverview) -> Iterator[Block]:
    rows = [
        (table.raw.info.topic or table.raw.path.name, *_clock_cells(table.clock))
        for table in log.tables
        if table.clock is not None
    ]
    if not rows:
        yield Text("The log has no time stamps, or the schema names none.", "muted")
        return
    counts = ("Gaps", "Repeated", "Backward", "No stamp")
    yield make_table(
        ("Stamps of", "Rows", "Span [s]", "Rate [Hz]", "Jitter [ms]", *counts),
        rows,
        "Stamps of the log. Rate: stamps a second outside gaps. Jitter: RMS difference from a "
        "uniform clock. Gaps: steps of more than five periods. Repeated, backward: rows with the "
        "stamp of the row before, or an earlier one.",
    )


def _clock_cells(clock: ClockSummary) -> Iterator[str | Cell]:
    yield str(clock.rows)
    yield f"{clock.duration:.5g}"
    yield f"{clock.rate_hz:.4g}"
    known = np.isfinite(clock.jitter) and clock.rate_hz > 0.0
    yield f"{1e3 * clock.jitter / clock.rate_hz:.3f}" if known else "–"
    for count in (clock.gaps, clock.repeated, clock.backward, clock.missing):
        yield Cell(str(count), tone="warn" if count else "")
