"""`identify look`: a page of a log before any fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from identify.commands.command import (
    Command,
    Outcome,
    UsageError,
    defer_unused_numpy_modules,
    option,
)
from identify.commands.drafting import SCHEMA, make_draft, settle
from identify.commands.output import require_writable_file, write_file
from identify.logs.draft_lines import drafted_keys

if TYPE_CHECKING:
    from identify.logs.draft_schema import DraftSchema
    from identify.pipeline import LogCheck
    from identify.pipeline.log_overview import LogOverview


@dataclass(frozen=True, slots=True)
class Look(Command):
    """Look at a log before any fit, also before its schema is right.

    Writes a page with what each column is taken for and how certain that is, the signals over time
    with gaps, spikes and rests, the attitudes, the clocks, and what is missing for a fit, with the
    lines of the schema that give it. Exit status: 0 if the page was written, also of a log that
    cannot be read with its schema.
    """

    log: Annotated[Path, Positional, option("LOG", "(required)")]
    """The log: a file of any supported format, or the folder of a bag."""

    output: Annotated[Path, option("PAGE.html", "(required)", short="-o")]
    """HTML file to write."""

    schema: Annotated[Path | None, option("S.toml", "(default: drafted as by init)")] = None
    """Schema that names columns, units and frames; it may be incomplete or wrong."""

    def run(self, invocation: str) -> Outcome:
        """Write the page."""
        require_page(self.output, "look")
        defer_unused_numpy_modules()
        schema = self.schema
        if schema is None:  # as a fit would draft it
            draft = make_draft(self.log, Path(SCHEMA), None, None, asks=False)
            schema = settle(draft, self.log, Path(SCHEMA), None).schema
        (log,) = write_log_page(self.output, [self.log], schema)
        return Outcome(lines=_overview_lines(log), document=log.record, files=[self.output])


def require_page(path: Path | None, command: str) -> None:
    """Raise unless a page can be written."""
    if path is not None and path.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"{command}: -o {path}: expected the suffix .html")
    require_writable_file(path)


def write_log_page(
    page: Path, logs: Sequence[Path], schema: Path | DraftSchema, check: LogCheck | None = None
) -> list[LogOverview]:
    """Write the page of some logs, with the findings of a check of them, and return what it has."""
    from identify.pipeline.log_overview import look_at_log
    from identify.reporting.log_page import log_page_html

    overviews = [look_at_log(log, schema) for log in logs]
    html = log_page_html(overviews, check)
    write_file(page, html.encode("utf-8", errors="backslashreplace"))
    return overviews


def _overview_lines(log: LogOverview) -> Iterator[str]:
    if log.problem:
        yield f"The schema does not read the log: {log.problem}"
    for table in log.tables:
        used = [use.column for use in table.uses if use.signal]
        topic = f"{table.raw.info.topic}: " if table.raw.info.topic else ""
        yield f"{topic}{len(table.raw)} rows; {len(used)} of {len(table.uses)} columns used."
    for entry in log.missing:
        yield f"Missing: {entry.name} (for {entry.purpose})."
    yield from (f"Review: {key}" for key in drafted_keys(log.schema_text) if key.uncertain)
