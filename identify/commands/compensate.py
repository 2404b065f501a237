"""`identify compensate`: a log with the payload taken off its wrench, so that contacts are left."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from identify.commands.bodies import (
    AT,
    BODY,
    PoseNumbers,
    UnusableEstimate,
    moved,
    pose_of,
    read_bodies,
    reasons_of,
    require_one_frame,
    status_of,
)
from identify.commands.command import Command, Flag, Number, Outcome, UsageError, numbers, option
from identify.commands.output import require_writable, shown_stages, unwritable
from identify.texts import printable

if TYPE_CHECKING:
    from identify.exchange import SavedEstimate
    from identify.logs import LogFile, Recording
    from identify.pipeline import CompensatedLog

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Compensate(Command):
    """Write a log with the payload's gravity and inertia and the sensor offset off its wrench.

    What is left are the contact forces, on the body, in the log's axes and at its point [N, N m],
    with motion as the log has it, in SI. The clock is that of the log, in seconds, and its other
    columns of numbers are kept. The schema of OUT is written beside it. Exit status: 2 for bad use
    or bad input, also where the frames of log and estimate differ and --at is missing, or the
    offset is not known; 4, with nothing written, for an estimate that its findings say not to use.
    """

    log: Annotated[Path, Positional, option("LOG", "(required)")]
    """A log of the body; not necessarily one it was fitted to."""

    schema: Annotated[Path, option("S.toml", "(required)")]
    """What the columns of the log mean."""

    estimate: Annotated[Path, option("E.json", "(required)", help=BODY)]

    output: Annotated[Path, option("OUT", "(required)", short="-o")]
    """File to write to, .csv or .parquet; its schema is called alike, with .toml."""

    at: Annotated[PoseNumbers | None, option(AT, "(default: the same)")] = None
    """Pose of the estimate's frame in that of the log: position [m] and rotation vector [rad]."""

    offset: Annotated[
        tuple[float, float, float, float, float, float] | None,
        numbers(6),
        option("FX FY FZ TX TY TZ", "(default: the estimate's for this log)"),
    ] = None
    """The sensor offset at Bo in B [N, N m], as `bias` of an estimate.json; zeros for none."""

    zero_seconds: Annotated[Number, option("S")] = None
    """Nothing is touched in the first S seconds: the offset is the mean of what is left there."""

    cutoff: Annotated[Number, option("HZ", "(default: 5 Hz or rate/10)")] = None
    """As of `fit`: what the log lacks is differentiated with a pass-band of three times this."""

    accept_findings: Flag = False
    """Take off an estimate that is not to be used, with the reasons in the schema of OUT."""

    quiet: Flag = False
    """Print nothing but errors."""

    def run(self, invocation: str) -> Outcome:
        """Write the log and its schema."""
        self._require_choice()
        (saved,) = read_bodies(self.estimate)
        reasons, unusable = reasons_of(saved), bool(status_of(saved.verdict))
        if unusable and not self.accept_findings:
            raise UnusableEstimate(self.estimate, reasons)
        from identify.logs import Recording, open_log
        from identify.logs.writing import OtherColumns, write_chunks
        from identify.pipeline import compensate_log

        source = open_log(self.log, self.schema)
        recording = source if isinstance(source, Recording) else source.recording
        found = compensate_log(
            source,
            self._in_frame_of(source, saved),
            offset=self.offset,
            zero_seconds=self.zero_seconds,
            cutoff_hz=self.cutoff,
        )
        comment = [*self._comment(found, saved), *(reasons if unusable else ())]
        schema = self.output.with_suffix(".toml")
        try:
            with shown_stages(shown=not self.quiet):
                _LOG.info("compensating %s", self.log)
                rows = write_chunks(
                    found.chunks(),
                    self.output,
                    schema,
                    map(printable, comment),
                    OtherColumns.of(recording),
                )
        except OSError as error:
            raise unwritable(self.output, error) from error
        offset = ", ".join(f"{x:.4g}" for x in found.offset)
        return Outcome(
            lines=[
                f"Sensor offset taken off: [{offset}] N, N m ({found.origin}).",
                f"{rows} rows of {len(source)}.",
            ],
            messages=[*reasons, *_uncorrected(saved)],
            document=lambda: {
                "offset": found.offset,
                "offset_origin": found.origin,
                "rows": rows,
                "rows_read": len(source),
                "reasons": reasons,
            },
            files=[self.output, schema],
            quiet=self.quiet,
        )

    def _require_choice(self) -> None:
        if self.offset is not None and self.zero_seconds is not None:
            raise UsageError("compensate: --offset and --zero-seconds exclude each other")
        beside = self.output.with_suffix(".toml")
        if self.output.suffix not in (".csv", ".parquet"):
            raise UsageError(f"compensate: -o {self.output}: expected a name in .csv or .parquet")
        for path in (self.output, beside):
            for given in (self.log, self.schema, self.estimate):
                if path.resolve() == given.resolve():
                    raise UsageError(f"compensate: {path} would be written over: give another -o")
        require_writable(self.output.parent, (self.output.name, beside.name))

    def _in_frame_of(self, source: Recording | LogFile, saved: SavedEstimate) -> SavedEstimate:
        """The body about the log's Bo in its B."""
        from identify.exchange import SavedEstimate
        from identify.logs import Recording

        recording = source if isinstance(source, Recording) else source.recording
        of_log = SavedEstimate(saved.parameters, frames=recording.body_frame)
        if self.at is not None:
            return moved(saved, pose_of(self.at, "compensate"), of_log)
        require_one_frame((self.log, self.estimate), (of_log, saved), "--at")
        return saved

    def _comment(self, found: CompensatedLog, saved: SavedEstimate) -> Iterator[str]:
        """What the log is, for the head of its schema."""
        from identify.exchange.estimate_json import estimate_digest

        yield f"Contact forces of {self.log} (sha256 {found.source.sha256}), on the body."
        yield f"Taken off are gravity and inertia of {self.estimate}, mass {saved.mass:.6g} kg"
        yield f"(sha256 of its contents {estimate_digest(saved)}),"
        offset = ", ".join(f"{x:.6g}" for x in found.offset)
        yield f"and the sensor offset [{offset}] N, N m at Bo in B ({found.origin})."
        if status_of(saved.verdict):
            yield "This estimate is not to be used, and its findings were accepted:"


def _uncorrected(saved: SavedEstimate) -> Iterator[str]:
    """That what the fit corrected of its logs is not corrected here, where there is something."""
    applied = saved.provenance.get("applied")
    codes = [
        str(each["code"])
        for each in (applied if isinstance(applied, list | tuple) else ())
        if isinstance(each, dict) and "code" in each
    ]
    if codes:
        yield f"note: the fit corrected {', '.join(codes)}; here the log is as its schema has it"
