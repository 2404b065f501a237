"""Replays, i.e. the motion simulated from the estimate: report section, figures, Parquet tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np

from identify.arrays import Array
from identify.errors import ProblemError
from identify.reporting import colors
from identify.reporting.canvas import AxesT, Column, Panel, PanelAxes, make_figure, set_log_scale
from identify.reporting.content import Pictures, Section, Text, Tile, Tiles
from identify.reporting.rounding import Unit, unit_of_length, with_power_of_ten, with_si_prefix
from identify.reporting.timeline import require_logs, thin_signal
from identify.validation import ESTIMATE as BODY, Replay, ReplayErrors, SingleShot
from identify.validation.replaying import thinned_indices

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from identify.inertia import InertialParameters
    from identify.pipeline import Result


def replay_section(result: Result, truth: InertialParameters | None) -> Section:
    """Return the section of replay errors and paths, or of the reasons for missing replays."""
    validation = result.validation
    columns = replay_columns(result)
    alone = validation.unloaded
    missing = (
        *validation.missing,
        *(f"Unloaded: {reason}" for reason in (alone.missing if alone else ())),
    )
    reasons = [Text(reason, "muted") for reason in missing]
    if not columns:
        reasons = reasons or [Text("There is no replay.", "muted")]
        return Section("replay", "Replay", tuple(reasons))
    blocks = (*_error_tiles(validation.replay), Pictures(columns, _caption(result)), *reasons)
    return Section("replay", "Replay", blocks)


def _caption(result: Result) -> str:
    validation = result.validation
    replay, shot = validation.replay, validation.single_shot
    sentences = []
    if replay:
        sentences.append(
            f"{replay.windows} windows of the log, each simulated from its measured initial state "
            "by the body and the measured wrench, with the sensor offset subtracted. Replay error: "
            "distance of the simulated from the measured pose over all windows; force noise and "
            "small errors accumulate with time. Replayed path: simulated and measured positions."
        )
    if replay and replay.noise:
        sentences.append(
            "Errors as large as those expected from the noise of the wrench are no evidence "
            "against the body. Windows are short enough for that noise to stay below a tenth of "
            "the motion."
        )
    if replay and replay.band:
        sentences.append(
            f"The band contains 95 % of the errors of {replay.band.samples} bodies drawn from the "
            "uncertainty of the estimate."
        )
    if shot:
        sentences.append(
            "In one shot: the longest segment simulated from its initial state to its end, so that "
            "all errors accumulate."
        )
    if shot and shot.ended:
        sentences.append("It ends when the noise of the wrench causes a tenth of the motion.")
    if validation.unloaded:
        sentences.append(
            "Payload and carrier are simulated as one body; in the unloaded logs only the carrier."
        )
    return " ".join(sentences)


def _error_tiles(replay: Replay | None) -> tuple[Tiles, ...]:
    """Return tiles of the errors at the end of replay windows, beside those expected of noise."""
    if replay is None:
        return ()
    expected = f"expected from wrench noise: {_final_errors(replay.noise)}" if replay.noise else ""
    return (Tiles((Tile("Replay error, RMS", _final_errors(replay.errors[BODY]), expected),)),)


def _final_errors(errors: ReplayErrors) -> str:
    return f"{format_pose_error(errors)} in {errors.horizon[-1]:.3g} s"


def format_pose_error(errors: ReplayErrors) -> str:
    """Format the final error of position and attitude of a replay."""
    length = unit_of_length(float(errors.position[-1]))
    position, angle = length.of(errors.position[-1]), np.rad2deg(errors.attitude[-1])
    return f"{position:.3g} {length.name} and {angle:.3g}°"


_ERROR_POINTS, _PATH_POINTS = 600, 4000
"""Maximum numbers of points of an error curve and of a replayed path, which can be zoomed."""

_LOG_SCALE_RATIO = 8.0
"""Ratio of the largest to the smallest final replay error above which the axis is logarithmic."""

_MIN_DRAWN_SHARE = 1e-6
"""Minimum drawn replay error on a logarithmic axis, relative to the largest error."""

_LINE_STYLES = (
    {"color": colors.ESTIMATE, "lw": 1.3},
    {"color": colors.OTHER_BODY, "lw": 2.6, "ls": (0, (4, 1.2))},
    {"color": colors.AXIS_STYLES[2][1], "lw": 3.4, "ls": (0, (1.2, 1.2))},
)
"""Line styles of the replays of the estimate and of other bodies, which are drawn below it."""

NOISE_LABEL = "noise of the wrench alone"
_NOISE_LINE_STYLE = {"color": colors.TEXT, "lw": 1.0, "ls": (0, (1.0, 1.0))}


def replay(result: Result, *, ax: AxesT | None = None) -> Figure | AxesT:
    """Plot pose errors of the replay over its horizon, its path, and the single-shot simulation.

    Args:
        result: of a fit.
        ax: axes to draw on instead of a new figure, see `identify.plot`.

    Raises:
        ProblemError: the result has no replay.
    """
    columns = replay_columns(require_logs(result, "replay"))
    if not columns:
        raise ProblemError(
            " ".join(result.validation.missing) or "the result has no replay to plot"
        )
    return make_figure(columns, ax=ax)


def replay_columns(result: Result) -> tuple[Column, ...]:
    """Return the columns of the figure `replay`; none without replays."""
    validation = result.validation
    columns = columns_of_replay(validation.replay, validation.single_shot)
    if (alone := validation.unloaded) is None:
        return columns
    more = columns_of_replay(alone.windows, alone.single_shot)
    return (
        *columns,
        *(dataclasses.replace(column, title=f"{column.title}, unloaded") for column in more),
    )


def columns_of_replay(windows: Replay | None, single_shot: SingleShot | None) -> tuple[Column, ...]:
    """Return plots of a replay: errors and path of its windows, errors of the single shot."""
    columns: list[Column] = []
    if windows is not None:
        where = "time since the measured start of the window [s]"
        columns.append(_error_column(windows, "Replay error", where, of=", RMS"))
        columns.append(_path_column(windows))
    if single_shot is not None:
        where = "time since the first state [s]"
        columns.append(_error_column(single_shot, "In one shot", where, logarithmic=True))
    return tuple(columns)


def _error_column(
    replay: Replay | SingleShot, title: str, xlabel: str, *, of: str = "", logarithmic: bool = False
) -> Column:
    alone = {} if replay.noise is None else {NOISE_LABEL: replay.noise}
    errors, band = {**replay.errors, **alone}, replay.band
    position = {name: one.position for name, one in errors.items()}
    attitude = {name: np.rad2deg(one.attitude) for name, one in errors.items()}
    largest = max(float(values.max()) for values in attitude.values())
    length = with_si_prefix("m", max(float(values.max()) for values in position.values()))
    angle = with_power_of_ten("°", largest) if largest < 1e-2 else Unit("°", 1.0)
    horizon = {name: one.horizon for name, one in errors.items()}
    edges = (None, None) if band is None else (band.position, np.rad2deg(band.attitude))
    panels = []
    for quantity, unit, values, strip in (
        ("position", length, position, edges[0]),
        ("attitude", angle, attitude, edges[1]),
    ):
        scaled_values = {name: errors / unit.factor for name, errors in values.items()}
        ends = [float(errors[-1]) for errors in scaled_values.values()]
        end = f"{ends[0]:.3g}{'' if unit.name == '°' else ' '}{unit.name}"
        drawn = partial(
            _draw_error_growth,
            horizon=horizon,
            values=scaled_values,
            band=None if band is None or strip is None else (band.horizon, *strip / unit.factor),
            logarithmic=logarithmic or (0.0 < _LOG_SCALE_RATIO * min(ends) < max(ends)),
        )
        note = f"estimate, at the end: {end}"
        panels.append(Panel(drawn, f"{quantity}{of} [{unit.name}]", note, height=1.545))
    return Column(title, xlabel, tuple(panels))


def _draw_error_growth(
    axes: PanelAxes,
    horizon: Mapping[str, Array],
    values: Mapping[str, Array],
    band: tuple[Array, Array, Array] | None,
    logarithmic: bool,
) -> None:
    """Draw errors over time on a band, given by its times, lower and upper edge."""
    minimum = _MIN_DRAWN_SHARE * max(float(errors.max()) for errors in values.values())
    if band is not None:
        first = int(logarithmic)  # errors are zero at the start
        times, low, high = (edge[first:] for edge in band)
        axes.fill_between(
            times, low, high, color=colors.BAND, lw=0.0, label="95 % of its uncertainty"
        )
    for number, name in reversed(list(enumerate(values))):
        x, y = thin_signal(horizon[name], values[name], _ERROR_POINTS // 2)
        if logarithmic:
            x, y = x[y > minimum], y[y > minimum]
        look = (
            _NOISE_LINE_STYLE
            if name == NOISE_LABEL
            else _LINE_STYLES[min(number, len(_LINE_STYLES) - 1)]
        )
        axes.plot(x, y, label=name, **look)
    axes.set_xlim(0.0, max(float(x[-1]) for x in horizon.values()))
    if logarithmic:
        axes.set_yscale("log")
        axes.set_ylim(bottom=max(axes.get_ylim()[0], minimum))
        set_log_scale(axes, vertical=True)
    else:
        axes.set_ylim(bottom=0.0)


def _path_column(windows: Replay) -> Column:
    times = _consecutive_times(windows.times)
    scale = unit_of_length(
        float(max(np.abs(windows.measured).max(), np.abs(windows.simulated).max()))
    )
    measured, simulated = (
        values / scale.factor for values in (windows.measured, windows.simulated)
    )
    panels = tuple(
        Panel(
            partial(
                _draw_windows, times=times, measured=measured[..., k], simulated=simulated[..., k]
            ),
            ylabel=f"{name} [{scale.name}]",
        )
        for k, name in enumerate("xyz")
    )
    return Column("Replayed path", "time [s]", panels, zoom_group="replay")


def _consecutive_times(times: Array) -> Array:
    """Shift the times of replay windows so that each log follows the previous log."""
    shifted = times.copy()
    for index in range(1, len(times)):
        back = shifted[index - 1, -1] - shifted[index, 0]
        if back > 1e-6 * (times[index, -1] - times[index, 0]):
            shifted[index:] += back
    return shifted


def _draw_windows(axes: PanelAxes, times: Array, measured: Array, simulated: Array) -> None:
    kept = thinned_indices(times.shape[1] - 1, max(4, _PATH_POINTS // len(times)))

    def line(values: Array) -> Array:
        """Join the windows to one line with NaN between them."""
        return np.pad(values[:, kept], ((0, 0), (0, 1)), constant_values=np.nan).ravel()

    x = line(times)
    axes.plot(x, line(measured), color=colors.MEASURED, lw=2.4, label="measured")
    axes.plot(
        x,
        line(simulated),
        color=colors.ESTIMATE,
        lw=0.9,
        ls=(0, colors.PREDICTED_DASHES),
        label="replayed",
    )
    starts = {"ms": 2.2, "mew": 0.0, "ls": "none", "color": colors.ESTIMATE}
    axes.plot(times[:, 0], simulated[:, 0], marker="o", label="start of a window", **starts)
    axes.set_xlim(float(times[0, 0]), float(times[-1, -1]))


def windows_table(replay: Replay) -> bytes:
    """Return the windows of a replay as a Parquet file, with the positions of the first body.

    Columns: `window`, `t` [s], `since_start` [s], `simulated_px` … and `measured_px` … [m].
    """
    windows, count = replay.times.shape
    return _parquet_bytes(
        {
            "window": np.repeat(np.arange(windows), count),
            "t": replay.times.ravel(),
            "since_start": (replay.times - replay.times[:, :1]).ravel(),
            **_numbered_columns("simulated_p", replay.simulated.reshape(-1, 3)),
            **_numbered_columns("measured_p", replay.measured.reshape(-1, 3)),
        }
    )


def single_shot_table(single_shot: SingleShot) -> bytes:
    """Return a single-shot simulation as a Parquet file: time, poses, errors [s, m, rad]."""
    columns = {
        "t": single_shot.time,
        **_numbered_columns("simulated_p", single_shot.position),
        **_numbered_columns("simulated_q", single_shot.quaternion),
        **_numbered_columns("measured_p", single_shot.measured_position),
        **_numbered_columns("measured_q", single_shot.measured_quaternion),
    }
    for name, errors in single_shot.errors.items():
        label = name.replace(" ", "_")
        columns[f"position_error_{label}"] = errors.position
        columns[f"attitude_error_{label}"] = errors.attitude
    return _parquet_bytes(columns)


def _numbered_columns(name: str, values: Array) -> dict[str, Array]:
    return {f"{name}{axis}": column for axis, column in zip("xyzw", values.T, strict=False)}


def _parquet_bytes(columns: Mapping[str, Array]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = BytesIO()
    pq.write_table(pa.table(dict(columns)), buffer, compression="zstd", write_page_checksum=True)
    return buffer.getvalue()
