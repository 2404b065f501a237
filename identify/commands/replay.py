"""`identify replay`: a log regenerated from an estimate, beside what was measured."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from identify.commands.bodies import read_bodies, reasons_of, status_of
from identify.commands.command import Command, Flag, Number, Outcome, option
from identify.commands.output import require_writable, shown_stages, write_file

if TYPE_CHECKING:
    from identify.pipeline import LogReplay
    from identify.validation import ReplayErrors

WINDOWS, SINGLE_SHOT, FIGURE = "windows.parquet", "single_shot.parquet", "replay.png"

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ReplayCommand(Command):
    """Regenerate the motion of a log from an estimate and the measured wrench.

    Writes OUT/windows.parquet, OUT/single_shot.parquet and OUT/replay.png and prints how far the
    simulated pose is from the measured one: in windows begun at measured states, and in one shot
    from the first state. Exit status: 2 for bad use or bad input, 3 where a motion diverges, 4
    where the estimate is not to be used.
    """

    log: Annotated[Path, Positional, option("LOG", "(required)")]
    """A log of the body, with pose and wrench; not necessarily one it was fitted to."""

    schema: Annotated[Path, option("S.toml", "(required)")]
    """What the columns of the log mean."""

    estimate: Annotated[Path, option("E.json", "(required)")]
    """The body: an estimate.json, or model.urdf#LINK."""

    output: Annotated[Path, option("OUT", "(required)", short="-o")]
    """Folder of the results, made if need be; those of an earlier replay are replaced."""

    truth: Annotated[Path | None, option("FILE.json")] = None
    """Another body to replay beside it."""

    no_bias: Flag = False
    """The sensor has no offset. By default it is the estimate's for this log, or fitted on it."""

    horizon: Annotated[Number, option("S", "(default: 1, or less)")] = None
    """Length of a window [s]; by default noise of the wrench is a tenth of the motion at most."""

    hold: Flag = False
    """The wrench is held between samples. By default it is a straight line from one to the next."""

    quiet: Flag = False
    """Print nothing but errors."""

    def run(self, invocation: str) -> Outcome:
        """Replay, and write the files."""
        require_writable(self.output, (WINDOWS, SINGLE_SHOT, FIGURE))
        from identify.logs import load_schema, read_log
        from identify.pipeline import replay_log

        estimate, *others = read_bodies(*filter(None, (self.estimate, self.truth)))
        truth = others[0].parameters if others else None
        with shown_stages(shown=not self.quiet):
            _LOG.info("reading %s", self.log)
            recording = read_log(self.log, load_schema(self.schema))
            _LOG.info("replaying")
            done = replay_log(
                recording,
                estimate,
                no_bias=self.no_bias,
                truth=truth,
                horizon=self.horizon,
                interpolation="hold" if self.hold else "linear",
            )
            _LOG.info("drawing")
            written = self._write(done)
        reasons = reasons_of(estimate)
        return Outcome(
            lines=lines_of(done),
            messages=reasons,
            document=lambda: {**record_of(done), "reasons": reasons},
            files=written,
            status=status_of(estimate.verdict),
            quiet=self.quiet,
        )

    def _write(self, done: LogReplay) -> list[Path]:
        from identify.reporting.canvas import make_figure, png
        from identify.reporting.replays import columns_of, single_shot_table, windows_table

        figure = make_figure(columns_of(done.windows, done.single_shot), across=3)
        files = {
            WINDOWS: None if done.windows is None else windows_table(done.windows),
            SINGLE_SHOT: None if done.single_shot is None else single_shot_table(done.single_shot),
            FIGURE: png(figure),
        }
        for name, content in files.items():
            write_file(self.output / name, content)
        return [self.output / name for name, content in files.items() if content is not None]


def record_of(done: LogReplay) -> dict[str, object]:
    """The sensor offset and the errors at the end of the windows and of the one shot, SI."""

    def last(errors: ReplayErrors | None) -> dict[str, float] | None:
        if errors is None:
            return None
        names = ("horizon", "position", "attitude")
        return {name: float(getattr(errors, name)[-1]) for name in names}

    runs = {"windows": done.windows, "single_shot": done.single_shot}
    return {
        "offset": done.bias,
        "offset_origin": done.bias_origin,
        **{
            name: run
            and {
                "errors": {body: last(errors) for body, errors in run.errors.items()},
                "noise": last(run.noise),
            }
            for name, run in runs.items()
        },
        "missing": done.missing,
    }


def lines_of(done: LogReplay) -> Iterator[str]:
    """The sensor offset, the errors of each body, and why something is missing."""
    offset = ", ".join(f"{x:.4g}" for x in done.bias)
    yield f"Sensor offset taken off: [{offset}] N, N m ({done.bias_origin})."
    if done.windows is not None:
        for name, errors in done.windows.errors.items():
            said = _said(errors, done.windows.noise)
            yield f"{done.windows.windows} windows, {name}: RMS {said}"
    if done.single_shot is not None:
        for name, errors in done.single_shot.errors.items():
            yield f"In one shot, {name}: {_said(errors, done.single_shot.noise)}"
    yield from done.missing


def _said(errors: ReplayErrors, noise: ReplayErrors | None) -> str:
    from identify.commands.summary import beside_noise, pose_error

    after = f"after {errors.horizon[-1]:.4g} s"
    return f"{pose_error(errors)} from the measured pose {after}{beside_noise(noise)}"
