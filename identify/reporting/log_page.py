"""The page of logs before any fit: columns, signals, attitudes and clocks, and findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from identify.diagnosis import Span
from identify.diagnosis.signal_marks import ClockSummary, rows_per_sample, summarise_clock
from identify.findings import Finding
from identify.logs.column_use import ColumnUse, schema_comments
from identify.logs.draft_lines import NEEDS_REVIEW
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
    number_heads,
    render_page,
)
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

_TONES: Mapping[str, Tone] = {"error": "bad", "warning": "warn", "info": ""}
_SEVERITIES = {"error": "Error", "warning": "Warning", "info": "Note"}


_MARKS_CAPTION = (
    "Marks: spans and samples that stand out. A body at rest moves by less than 0.05 rad/s and "
    "10 mm/s. Constant: a signal keeps its value far longer than it usually does. A spike is a "
    "sample that differs from both its neighbours by more than twelve times as much as usual, and "
    "by a hundredth of the range. Of long logs the extremes of the signals are drawn."
)


def log_page_html(
    logs: Sequence[LogOverview], check: LogCheck | None = None, *, written: datetime | None = None
) -> str:
    """Return the page of one or more logs as HTML.

    Args:
        logs: what they have and lack.
        check: of the same logs, whose findings are shown at their spans of time.
        written: date of the page; by default the present time.
    """
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
        written=written or datetime.now().astimezone(),
    )


def _findings_section(check: LogCheck) -> Section:
    blocks: list[Block] = []
    if check.fit_error:
        blocks.append(Text(f"No estimate: {check.fit_error}"))
    rows = [
        make_row(
            Cell(_SEVERITIES[finding.severity], tone=_TONES[finding.severity]),
            finding.code,
            " ".join(filter(None, (finding.text, finding.remedy))),
            finding.where,
        )
        for finding in check.findings
    ]
    if rows:
        heads = (Head("Severity"), Head("Code"), Head("Finding", "prose"), Head("Log"))
        blocks.append(ReportTable(heads, tuple(rows)))
    if check.passed:
        blocks.append(Text("No faults were found."))
    worst = next((f.severity for f in check.findings), "")
    tone: Tone = "bad" if check.fit_error else _TONES.get(worst, "good") or "good"
    return Section("findings", "Findings", tuple(blocks), tone)


def _log_sections(log: LogOverview, findings: Sequence[Finding], logs: int) -> Iterator[Section]:
    yield _summary_section(log)
    yield _missing_section(log)
    yield Section("columns", "Columns", tuple(_column_blocks(log)))
    yield Section("signals", "Signals over time", tuple(_signal_blocks(log, findings, logs)))
    directions = None if log.recording is None else gravity_directions(log.recording)
    if directions is not None and len(directions):
        yield Section("attitudes", "Attitudes", (attitude_drawing(directions),))
    else:
        reason = (
            "The log cannot be read in SI."
            if log.recording is None
            else (
                "The log has neither a pose nor an accelerometer that shows where gravity points."
            )
        )
        yield Section("attitudes", "Attitudes", (Text(reason, "muted"),))
    if clocks := tuple(_clock_blocks(log)):
        yield Section("clocks", "Clocks", clocks)
    name = "Schema, drafted from the names of the columns" if log.drafted else "Schema"
    yield Section("schema", "Schema", (Listing(name, log.schema_text, copyable=True),))


def _summary_section(log: LogOverview) -> Section:
    table = max(log.tables, key=lambda each: len(each.raw))
    used = sum(bool(use.signal) for each in log.tables for use in each.uses)
    count = sum(len(each.uses) for each in log.tables)
    details, time = ["without time stamps"], table.raw.time
    if time is not None and len(time) > 1:
        clock = summarise_clock(time)
        assumed = "" if table.raw.stamped else " (assumed)"
        details = [f"{clock.duration:.4g} s at {clock.rate_hz:.4g} Hz{assumed}"]
    elif log.recording is not None and log.recording.still:
        details = ["static poses"]
    if len(log.tables) > 1:
        details.append(f"the longest of {len(log.tables)} tables")
    tiles = (
        Tile("rows", str(len(table.raw)), "; ".join(details)),
        Tile("columns used", f"{used} of {count}"),
        Tile(
            "schema",
            "reads the log" if log.recording is not None else "does not read the log",
            "drafted from the columns' names" if log.drafted else "as given",
            "good" if log.recording is not None else "warn",
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
    """Return the section of what a fit still needs, and of the lines to review."""
    blocks: list[Block] = []
    if log.missing:
        heads = (Head("Missing", "prose"), Head("Needed for", "prose"), Head("Line", "prose"))
        rows = [
            make_row(
                entry.name, entry.purpose, " · ".join(f"`{x}`" for x in entry.remedy.split("\n"))
            )
            for entry in log.missing
        ]
        blocks.append(
            ReportTable(heads, tuple(rows), "What is missing, and the line that gives it.")
        )
    else:
        blocks.append(Text("Nothing: the log can be checked and fitted."))
    review = [
        make_row(
            f"[{key.rpartition('.')[0]}]",
            f"`{line.line}`",
            line.comment.replace(NEEDS_REVIEW, "").strip() or "it depends on the robot",
        )
        for key, line in schema_comments(log.schema_text).items()
        if NEEDS_REVIEW in line.comment
    ]
    if review:
        heads = (Head("Table"), Head("Line", "prose"), Head("Uncertain because", "prose"))
        table = ReportTable(heads, tuple(review), "Lines of the draft to review.")
        blocks.append(table)
    return Section("missing", "What is missing for a fit", tuple(blocks))


def _column_blocks(log: LogOverview) -> Iterator[Block]:
    used = [row for table in log.tables for row in _column_rows(table, log, used=True)]
    unused = [row for table in log.tables for row in _column_rows(table, log, used=False)]
    heads = (
        Head("Column"),
        Head("Taken for"),
        Head("How certain"),
        *number_heads("Range"),
        Head("Remarks", "prose"),
    )
    if used:
        yield ReportTable(heads, tuple(used), "What each column is taken for, in its own unit.")
    else:
        yield Text("No column is used.", "warn")
    if unused:
        table = ReportTable(heads, tuple(unused))
        title = f"{len(unused)} column{'s' * (len(unused) > 1)} not used"
        yield Folded(title, (table,)) if used else table


def _column_rows(table: TableOverview, log: LogOverview, *, used: bool) -> Iterator[Row]:
    heading = table.raw.info.topic or (table.raw.path.name if len(log.tables) > 1 else "")
    for use in table.uses:
        if bool(use.signal) == used:
            yield _column_row(use, table, heading)
            heading = ""


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
    raw = [(each, raw_lines(each, used=True)) for each in log.tables]
    others = [(each, raw_lines(each, used=False)[:_MAX_UNUSED]) for each in log.tables]
    shown: list[SignalLines] = [*in_si, *(line for _, lines in (*raw, *others) for line in lines)]
    buckets = max(40, buckets_of(shown) // logs)
    spans = {finding.code: finding_spans(finding) for finding in findings}
    spans = {code: found for code, found in spans.items() if found}
    marks = (*log.marks, *(span for found in spans.values() for span in found))
    xlabel = "time [s]"
    if log.recording is not None and log.recording.still:
        xlabel, marks = "number of the static pose [–]", ()
    elif not in_si and not all(table.raw.by_time for table in log.tables):
        xlabel = "row [–]"
    columns = marks_column(log.marks, spans, x_limits(in_si or shown), xlabel) if marks else ()
    if not marks and not xlabel.startswith("number"):
        yield Text("No gaps, rests, constant spans or spikes were found.")
    if in_si:
        columns += line_columns(in_si, marks, xlabel, buckets)
    if columns:
        caption = "Signals in SI; of long logs their extremes."
        yield Pictures(columns, _MARKS_CAPTION if marks else caption)
    as_logged = tuple(_raw_pictures(raw, marks, buckets))
    if as_logged:
        yield from [Folded("The same columns as logged", as_logged)] if in_si else as_logged
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
        make_row(table.raw.info.topic or table.raw.path.name, *_clock_cells(table.clock))
        for table in log.tables
        if table.clock is not None
    ]
    heads = ("Stamps of", "Rows", "Span [s]", "Rate [Hz]", "Jitter [ms]")
    heads = (*heads, "Gaps", "Repeated", "Backward", "No stamp")
    if rows:
        caption = (
            "Stamps of the log. Rate: stamps a second outside gaps. Jitter: RMS difference from a "
            "uniform clock. Gaps: steps of more than five periods. Repeated, backward: rows with "
            "the stamp of the row before, or an earlier one."
        )
        yield make_table(heads, rows, caption)
    else:
        yield Text("The log has no time stamps, or the schema names none.", "muted")
    if log.recording is None or log.recording.time is None:
        return
    held = [
        (name.replace("_", " "), ratio)
        for name, values in log.recording.signals.items()
        if (ratio := rows_per_sample(values)) > 1.0
    ]
    if held:
        rate = summarise_clock(log.recording.time).rate_hz
        lines = [(name, f"{ratio:.3g}", f"{rate / ratio:.4g}") for name, ratio in held]
        caption = "Signals whose samples are held, as those of a slower sensor."
        yield make_table(("Signal", "New value every … rows", "Rate [Hz]"), lines, caption)


def _clock_cells(clock: ClockSummary) -> Iterator[str | Cell]:
    yield str(clock.rows)
    yield f"{clock.duration:.5g}"
    yield f"{clock.rate_hz:.4g}"
    known = np.isfinite(clock.jitter) and clock.rate_hz > 0.0
    yield f"{1e3 * clock.jitter / clock.rate_hz:.3f}" if known else "–"
    for count in (clock.gaps, clock.repeated, clock.backward, clock.missing):
        yield Cell(str(count), tone="warn" if count else "")
