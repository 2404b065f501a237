"""`identify compensate`: subtract the payload's wrench from a log, which leaves contact forces."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from identify.commands.bodies import (
    BODY_HELP,
    POSE_METAVAR,
    PoseNumbers,
    UnusableEstimate,
    change_frame,
    exit_status,
    pose_from_numbers,
    read_bodies,
    require_one_frame,
    verdict_messages,
)
from identify.commands.command import (
    Command,
    Flag,
    Number,
    Outcome,
    UsageError,
    number_parser,
    option,
)
from identify.commands.output import require_writable, stages_on_terminal, write_error
from identify.texts import escape_unprintable

if TYPE_CHECKING:
    from identify.exchange import SavedEstimate
    from identify.logs import LogFile, Recording
    from identify.pipeline import CompensatedLog

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Compensate(Command):
    """Subtract the payload's wrench and the sensor offset from a log.

    The result is the contact wrench on the body, in the log's axes and at its point [N, N m], with
    the motion of the log in SI. The clock is that of the log, in seconds, and its other numeric
    columns are kept. The schema of OUT is written next to it. Exit status: 2 for bad use or bad
    input, also if the frames of log and estimate differ and --at is missing, or if the offset is
    unknown; 4, with nothing written, for an estimate that must not be used.
    """

    log: Annotated[Path, Positional, option("LOG", "(required)")]
    """Log of the body, not necessarily one used in the fit."""

    schema: Annotated[Path, option("S.toml", "(required)")]
    """Schema that names the log's columns, units and frames."""

    estimate: Annotated[Path, option("E.json", "(required)", help=BODY_HELP)]

    output: Annotated[Path, option("OUT", "(required)", short="-o")]
    """Output file, .csv or .parquet; its schema gets the same name with .toml."""

    at: Annotated[PoseNumbers | None, option(POSE_METAVAR, "(default: the same frame)")] = None
    """Pose of the estimate's frame in the log's frame: position [m] and rotation vector [rad]."""

    offset: Annotated[
        tuple[float, float, float, float, float, float] | None,
        number_parser(6, "0.5 -0.2 1.1 0.01 0 -0.02 [N, N m]"),
        option("FX FY FZ TX TY TZ", "(default: the estimate's for this log)"),
    ] = None
    """Sensor offset at Bo in B [N, N m], like `bias` in an estimate.json; zeros for no offset."""

    zero_seconds: Annotated[Number, option("S")] = None
    """Length of a contact-free start [s], from which the sensor offset is computed."""

    cutoff: Annotated[Number, option("HZ", "(default: 5 Hz or rate/10)")] = None
    """Cut-off as in `identify fit`; derivatives have a pass-band of three times this."""

    accept_findings: Flag = False
    """Accept an estimate that must not be used, with the reasons in the schema of OUT."""

    quiet: Flag = False
    """Print nothing but errors."""

    def run(self, invocation: str) -> Outcome:
        """Write the compensated log and its schema."""
        self._require_one_offset_source()
        (saved,) = read_bodies(self.estimate)
        reasons, unusable = verdict_messages(saved), bool(exit_status(saved.verdict))
        if unusable and not self.accept_findings:
            raise UnusableEstimate(self.estimate, reasons)
        from identify.logs import Recording, open_log
        from identify.logs.log_writing import ColumnsOutsideSchema, write_chunks
        from identify.pipeline import compensate_log

        source = open_log(self.log, self.schema, "wrench")
        recording = source if isinstance(source, Recording) else source.recording
        compensated = compensate_log(
            source,
            self._body_in_log_frame(source, saved),
            offset=self.offset,
            zero_seconds=self.zero_seconds,
            cutoff_hz=self.cutoff,
        )
        comment = [*self._schema_comment(compensated, saved), *(reasons if unusable else ())]
        schema = self.output.with_suffix(".toml")
        try:
            with stages_on_terminal(shown=not self.quiet):
                _LOGGER.info("compensating %s", self.log)
                rows = write_chunks(
                    compensated.chunks(),
                    self.output,
                    schema,
                    map(escape_unprintable, comment),
                    ColumnsOutsideSchema.of(recording),
                )
        except OSError as error:
            raise write_error(self.output, error) from error
        offset = ", ".join(f"{x:.4g}" for x in compensated.offset)
        return Outcome(
            lines=[
                f"Subtracted sensor offset: [{offset}] N, N m ({compensated.origin}).",
                f"Wrote {rows} of {len(source)} rows.",
            ],
            messages=[*reasons, *_uncorrected_log_notes(saved)],
            document=lambda: {
                "offset": compensated.offset,
                "offset_origin": compensated.origin,
                "rows": rows,
                "rows_read": len(source),
                "reasons": reasons,
            },
            files=[self.output, schema],
            quiet=self.quiet,
        )

    def _require_one_offset_source(self) -> None:
        if self.offset is not None and self.zero_seconds is not None:
            raise UsageError("compensate: --offset cannot be combined with --zero-seconds")
        schema_path = self.output.with_suffix(".toml")
        if self.output.suffix not in (".csv", ".parquet"):
            raise UsageError(f"compensate: -o {self.output}: expected the suffix .csv or .parquet")
        for path in (self.output, schema_path):
            for given in (self.log, self.schema, self.estimate):
                if path.resolve() == given.resolve():
                    raise UsageError(f"compensate: {path} is an input; choose another -o")
        require_writable(self.output.parent, (self.output.name, schema_path.name))

    def _body_in_log_frame(
        self, source: Recording | LogFile, saved: SavedEstimate
    ) -> SavedEstimate:
        """Return the body about the log's Bo, in the log's body frame B."""
        from identify.exchange import SavedEstimate
        from identify.logs import Recording

        recording = source if isinstance(source, Recording) else source.recording
        of_log = SavedEstimate(saved.parameters, frames=recording.body_frame)
        if self.at is not None:
            return change_frame(saved, pose_from_numbers(self.at, "compensate"), of_log)
        require_one_frame((self.log, self.estimate), (of_log, saved))
        return saved

    def _schema_comment(self, log: CompensatedLog, saved: SavedEstimate) -> Iterator[str]:
        """Return the comment at the head of the written schema: log, estimate and offset."""
        from identify.exchange.estimate_json import estimate_digest

        yield f"Contact forces on the body in {self.log} (sha256 {log.source.sha256})."
        yield f"Subtracted: gravity and inertia of {self.estimate}, mass {saved.mass:.6g} kg"
        yield f"(sha256 of its contents {estimate_digest(saved)}),"
        offset = ", ".join(f"{x:.6g}" for x in log.offset)
        yield f"and the sensor offset [{offset}] N, N m at Bo in B ({log.origin})."
        if exit_status(saved.verdict):
            yield "This estimate must not be used; --accept-findings overrode its findings:"


def _uncorrected_log_notes(saved: SavedEstimate) -> Iterator[str]:
    """Note that corrections applied by the fit are not applied to this log."""
    applied = saved.provenance.get("applied")
    codes = [
        str(correction["code"])
        for correction in (applied if isinstance(applied, list | tuple) else ())
        if isinstance(correction, dict) and "code" in correction
    ]
    if codes:
        yield f"note: the fit corrected {', '.join(codes)}; this log is not corrected"
