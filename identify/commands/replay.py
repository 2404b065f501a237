"""`identify replay`: simulate a log from an estimate, and compare with the measurement."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from identify.commands.bodies import exit_status, read_bodies, verdict_messages
from identify.commands.command import Command, Flag, Number, Outcome, option
from identify.commands.output import require_writable, stages_on_terminal, write_file

if TYPE_CHECKING:
    from identify.pipeline import LogReplay
    from identify.validation import ReplayErrors

WINDOWS = "windows.parquet"
SINGLE_SHOT = "single_shot.parquet"
FIGURE = "replay.png"

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ReplayCommand(Command):
    """Simulate the motion of a log from an estimate and the measured wrench.

    Writes OUT/windows.parquet, OUT/single_shot.parquet and OUT/replay.png, and prints the error of
    the simulated pose: in windows that start at measured states, and in one shot from the first
    state. Exit status: 2 for bad use or bad input, 3 if a motion diverges, 4 if the estimate must
    not be used.
    """

    log: Annotated[Path, Positional, option("LOG", "(required)")]
    """Log of the body with pose and wrench, not necessarily one used in the fit."""

    schema: Annotated[Path, option("S.toml", "(required)")]
    """Schema that names the log's columns, units and frames."""

    estimate: Annotated[Path, option("E.json", "(required)")]
    """The body: an estimate.json, or model.urdf#LINK."""

    output: Annotated[Path, option("OUT", "(required)", short="-o")]
    """Result folder, created if it does not exist; results of an earlier replay are replaced."""

    truth: Annotated[Path | None, option("FILE.json")] = None
    """Reference body to replay as well."""

    no_bias: Flag = False
    """Assume no sensor offset; by default it is the estimate's, or fitted to this log."""

    horizon: Annotated[Number, option("S", "(default: 1, or less)")] = None
    """Length of a window [s]; by default limited by the effect of the wrench noise."""

    hold: Flag = False
    """Hold the wrench between samples; by default it is interpolated linearly."""

    quiet: Flag = False
    """Print nothing but errors."""

    def run(self, invocation: str) -> Outcome:
        """Replay the log, and write the files."""
        require_writable(self.output, (WINDOWS, SINGLE_SHOT, FIGURE))
        from identify.logs import load_schema, read_log
        from identify.pipeline import replay_log

        estimate, *others = read_bodies(*filter(None, (self.estimate, self.truth)))
        truth = others[0].parameters if others else None
        with stages_on_terminal(shown=not self.quiet):
            _LOGGER.info("reading %s", self.log)
            recording = read_log(self.log, load_schema(self.schema), "wrench")
            _LOGGER.info("replaying")
            replay = replay_log(
                recording,
                estimate,
                no_bias=self.no_bias,
                truth=truth,
                horizon=self.horizon,
                interpolation="hold" if self.hold else "linear",
            )
            _LOGGER.info("drawing")
            written = self._write(replay)
        reasons = verdict_messages(estimate)
        return Outcome(
            lines=replay_lines(replay),
            messages=reasons,
            document=lambda: {**replay_record(replay), "reasons": reasons},
            files=written,
            status=exit_status(estimate.verdict),
            quiet=self.quiet,
        )

    def _write(self, replay: LogReplay) -> list[Path]:
        from identify.reporting.canvas import make_figure, png_bytes
        from identify.reporting.replays import columns_of_replay, single_shot_table, windows_table

        figure = make_figure(
            columns_of_replay(replay.windows, replay.single_shot), columns_per_row=3
        )
        files = {
            WINDOWS: None if replay.windows is None else windows_table(replay.windows),
            SINGLE_SHOT: None
            if replay.single_shot is None
            else single_shot_table(replay.single_shot),
            FIGURE: png_bytes(figure),
        }
        for name, content in files.items():
            write_file(self.output / name, content)
        return [self.output / name for name, content in files.items() if content is not None]


def replay_record(replay: LogReplay) -> dict[str, object]:
    """Return the JSON document: sensor offset, and final errors of all replays [SI]."""

    def last(errors: ReplayErrors | None) -> dict[str, float] | None:
        if errors is None:
            return None
        names = ("horizon", "position", "attitude")
        return {name: float(getattr(errors, name)[-1]) for name in names}

    runs = {"windows": replay.windows, "single_shot": replay.single_shot}
    return {
        "offset": replay.bias,
        "offset_origin": replay.bias_origin,
        **{
            name: run
            and {
                "errors": {body: last(errors) for body, errors in run.errors.items()},
                "noise": last(run.noise),
            }
            for name, run in runs.items()
        },
        "missing": replay.missing_reasons,
    }


def replay_lines(replay: LogReplay) -> Iterator[str]:
    """Format the sensor offset, the errors of each body, and reasons for missing replays."""
    offset = ", ".join(f"{x:.4g}" for x in replay.bias)
    yield f"Subtracted sensor offset: [{offset}] N, N m ({replay.bias_origin})."
    if replay.windows is not None:
        for name, errors in replay.windows.errors.items():
            error = _error_text(errors, replay.windows.noise)
            yield f"{replay.windows.windows} windows, {name}: RMS {error}"
    if replay.single_shot is not None:
        for name, errors in replay.single_shot.errors.items():
            yield f"In one shot, {name}: {_error_text(errors, replay.single_shot.noise)}"
    yield from replay.missing_reasons


def _error_text(errors: ReplayErrors, noise: ReplayErrors | None) -> str:
    from identify.commands.summary import format_noise_suffix
    from identify.reporting.replays import format_pose_error

    after = f"after {errors.horizon[-1]:.4g} s"
    return f"{format_pose_error(errors)} from the measured pose {after}{format_noise_suffix(noise)}"
