"""`identify check`: what may be wrong with logs, or with how their schema reads them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, UseAppendAction

from identify.commands.bodies import NOT_TO_BE_USED
from identify.commands.command import (
    Command,
    Number,
    Outcome,
    Vector,
    defer_what_no_fit_uses,
    option,
)
from identify.commands.output import shown_stages

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from identify.findings import Finding
    from identify.pipeline import LogCheck

_SAID = {"error": "Error", "warning": "Warning", "info": "Note"}


@dataclass(frozen=True, slots=True)
class Check(Command):
    """Look for what may be wrong with logs of a body: signs, units, frames, delays, drift, contact.

    Other readings of the logs, and faults such as a late wrench, are compared with how the schema
    reads them. What is found is printed, faults before their symptoms, with the line of the schema
    to change and what the estimate would then be; nothing is corrected. Exit status: 0 where all is
    well, 4 where a finding is a warning or an error.
    """

    logs: Annotated[tuple[Path, ...], Positional, option("LOG [LOG ...]", "(required)")]
    """Logs of the same body, as of `fit`."""

    schema: Annotated[Path, option("S.toml", "(required)")]
    """What the columns of the logs mean; identify init LOG writes a first one."""

    unloaded: Annotated[tuple[Path, ...], UseAppendAction, option("LOG", "(repeatable)")] = ()
    """A log without the payload; once for each."""

    mass: Annotated[Number, option("KG")] = None
    """Known mass; a body in free flight, whose force is zero, needs it."""

    gravity: Annotated[Vector, option("X Y Z", "(default: the schema's)")] = None
    """Gravity in world axes [m/s²]."""

    def with_more(self, words: Sequence[str]) -> Check:
        """The same check, of the logs that stand after an option too."""
        return replace(self, logs=(*self.logs, *map(Path, words)))

    def run(self, invocation: str) -> Outcome:
        """Check, and print what was found."""
        defer_what_no_fit_uses()
        from identify.logs import load_schema, open_log
        from identify.pipeline import FitSettings, check_logs

        schema = load_schema(self.schema)
        with shown_stages():
            found = check_logs(
                [open_log(log, schema) for log in self.logs],
                FitSettings(mass=self.mass, gravity=self.gravity),
                unloaded=[open_log(log, schema) for log in self.unloaded],
            )
        return Outcome(
            lines=lines_of(found),
            document=found.record,
            status=0 if found.clear else NOT_TO_BE_USED,
        )


def lines_of(found: LogCheck) -> Iterator[str]:
    """What a check found, as the terminal has it."""
    from identify.commands.summary import as_read

    if found.failure:
        said = "the logs give none as they are read." if found.findings else found.failure
        yield f"No estimate: {said}"
    for finding in found.findings:
        yield f"{_SAID[finding.severity]} [{finding.code}]: {finding}"
        if equivalent := _equivalent(finding):
            yield f"  as likely: {equivalent}"
    if found.result is not None:
        said = found.verdict.usable
        yield from map(as_read, found.result.logs)
        yield f"Estimate: {found.result.estimate.parameters!r}, usable: {said}."
        yield from found.result.checks.advice
    if found.clear:
        yield "Nothing wrong was found."


def _equivalent(finding: Finding) -> str:
    return ", ".join(finding.evidence.get("equivalent", ()))
