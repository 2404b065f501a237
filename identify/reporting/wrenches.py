"""Report section of the wrench: held-out errors, measured and predicted wrench, residual."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from identify.arrays import Array, Vec6
from identify.regressors.newton_euler import FEATURE_TENSOR
from identify.reporting import colors
from identify.reporting.canvas import AxesT, Column, Panel, PanelAxes, make_figure
from identify.reporting.content import (
    Block,
    Pictures,
    ReportTable,
    Section,
    Text,
    Tile,
    Tiles,
    make_table,
)
from identify.reporting.rounding import format_r_squared, format_significant, with_si_prefix
from identify.reporting.timeline import Timeline, mark_logs, require_logs, timelines
from identify.spatial.columns import FORCE_AXES, TORQUE_AXES
from identify.validation import noise_rms

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from identify.inertia import InertialParameters
    from identify.pipeline import Result
    from identify.regressors.equations import Offsets
    from identify.validation import HeldOutScores


def wrench_section(result: Result, truth: InertialParameters | None) -> Section:
    """Return the report section of the wrench: held-out errors, wrench and residual over time."""
    still = all(log.recording.still for log in result.wrench_logs)
    blocks: list[Block] = []
    if result.validation.scores is not None:
        blocks += _score_blocks(result, result.validation.scores, still=still)
    if len(result.wrench_logs) > 1:
        names = ", ".join(f"{i + 1} {log.name}" for i, log in enumerate(result.wrench_logs))
        blocks.append(Text(f"Logs: {names}.", "muted"))
    wrench_caption = (
        f"Wrench on the body at the origin of {result.estimate.frame_description}, in its axes: "
        "measured, without the sensor offset and the fitted small faults, and predicted from the "
        + (
            "attitude, one mark for each static pose."
            if still
            else "measured motion, both low-passed."
        )
    )
    residual_caption = (
        "Residual, measured minus predicted wrench: noise alone is uniform along the log and "
        "about normally distributed. Structure that repeats with the motion hints at contact, a "
        "delay, a loose payload or a wrong frame."
    )
    if not still:
        residual_caption += (
            " The curves and their RMS also contain the part above the cut-off that the low-pass "
            "does not remove; the held-out errors do not."
        )
    blocks.append(Pictures(wrench_columns(result), wrench_caption))
    blocks.append(Pictures(residual_columns(result), residual_caption, _residual_table(result)))
    return Section("fit", "How well it explains the logs", tuple(blocks))


def _score_blocks(result: Result, scores: HeldOutScores, *, still: bool) -> list[Block]:
    """Return report blocks of the wrench errors: held-out and expected of noise, R², fitted."""
    moved = [
        result.estimate.moving_assembly(number).phi for number in range(len(result.wrench_logs))
    ]
    expected_rms = noise_rms(result.wrench_logs, np.array(moved), result.estimate.biases)
    tiles = []
    for kind, unit, axes in FORCE_AND_TORQUE:
        error, noise = (float(np.linalg.norm(rms[axes])) for rms in (scores.rms, expected_rms))
        expected = f"expected from noise: {_with_unit(unit, noise)}" if noise else ""
        tiles.append(Tile(f"{kind}, held-out error, RMS", _with_unit(unit, error), expected))
    return [Tiles(tuple(tiles)), _held_out_table(result, scores, expected_rms, still=still)]


def _held_out_table(
    result: Result, scores: HeldOutScores, expected_rms: Vec6, *, still: bool
) -> ReportTable:
    band = "" if still else " All numbers are of the frequencies up to the cut-off, as in the fit."
    known = bool(expected_rms.any())
    heads = ["expected from noise", "error / noise"] if known else []
    heads += ["of the signal", "R²"]
    heads += ["fitted"] if result.carrier is None else ["fitted, loaded", "fitted, unloaded"]
    fitted_rms = np.transpose([body.residual_rms for body in result.estimate.bodies])
    rows = []
    for k, (name, unit) in enumerate(_WRENCH_COMPONENTS):
        error, noise = float(scores.rms[k]), float(expected_rms[k])
        cells = [name, _with_unit(unit, error)]
        if known:
            cells.append(_with_unit(unit, noise) if noise else "–")
            cells.append(format_significant(error / noise, 2) if noise else "–")
        cells.append(f"{format_significant(100.0 * scores.normalised_rms[k], 2)} %")
        cells.append(format_r_squared(float(scores.r_squared[k])))
        cells += [_with_unit(unit, value) for value in fitted_rms[k].tolist()]
        rows.append(cells)
    explanation = (
        "Expected from noise: the error due to the noise of wrench and motion; a ratio error / "
        "noise of about 1 is the best that the logs allow. "
    )
    return make_table(
        ("Axis", "RMS error", *heads),
        rows,
        f"Held-out errors: each of {scores.folds} parts of the logs is predicted by a body fitted "
        f"to the other parts. {explanation if known else ''}Of the signal: the error relative to "
        "the standard deviation of the measured wrench. R²: near 1, the body explains the axis; "
        "near or below 0, it does not, for example because the axis contains little but noise. "
        f"Fitted: RMS error on the data of the fit itself.{band}",
        look="lines",
    )


def _with_unit(unit: str, value: float) -> str:
    scale = with_si_prefix(unit, value)
    return f"{format_significant(scale.of(value), 3)} {scale.name}"


def _residual_table(result: Result) -> ReportTable:
    residual = np.concatenate([prediction.residual for prediction in predict_wrenches(result)])
    rms, largest = np.sqrt(np.mean(residual**2, axis=0)), np.abs(residual).max(axis=0)
    rows = zip(_WRENCH_COMPONENTS, rms.tolist(), largest.tolist(), strict=True)
    return make_table(
        ("Residual", "RMS", "largest"),
        (
            (name, _with_unit(unit, typical), _with_unit(unit, maximum))
            for (name, unit), typical, maximum in rows
        ),
    )


FORCE_AND_TORQUE = (("Force", "N", FORCE_AXES), ("Torque", "N m", TORQUE_AXES))
"""Title, unit and columns of the force and of the torque."""

_WRENCH_COMPONENTS = tuple(
    (f"{title.lower()} {axis}", unit) for title, unit, _ in FORCE_AND_TORQUE for axis in "xyz"
)
"""Name and unit of each of the six components of a wrench."""

_MIN_ROWS_FOR_HISTOGRAM = 100
"""Minimum number of rows in motion for histograms of the residual."""

_HISTOGRAM_EDGES = np.linspace(-5.2, 5.2, 27)
"""Bin edges of a histogram of the residual, in units of its RMS."""


def wrench(result: Result, log: int | None = None, *, ax: AxesT | None = None) -> Figure | AxesT:
    """Plot the measured wrench, without the sensor offset, and the predicted wrench.

    Args:
        result: of a fit.
        log: index of the only log to show; by default all logs one after another.
        ax: axes to draw on instead of a new figure, see `identify.plot`.
    """
    return make_figure(wrench_columns(require_logs(result, "wrench"), log), ax=ax)


def wrench_columns(result: Result, log: int | None = None) -> tuple[Column, ...]:
    """Return the columns of the figure `wrench`: force and torque."""
    predictions = predict_wrenches(result)
    return tuple(
        _time_column(timeline, title, unit, columns, partial(_wrench_panel, predictions))
        for timeline in timelines(result.wrench_logs, log)
        for title, unit, columns in FORCE_AND_TORQUE
    )


def residuals(result: Result, log: int | None = None, *, ax: AxesT | None = None) -> Figure | AxesT:
    """Plot the residual wrench over time with its RMS, and its distribution.

    Args:
        result: of a fit.
        log: index of the only log to show; by default all logs one after another.
        ax: axes to draw on instead of a new figure, see `identify.plot`.
    """
    return make_figure(residual_columns(require_logs(result, "residuals"), log), ax=ax)


def residual_columns(result: Result, log: int | None = None) -> tuple[Column, ...]:
    """Return the columns of the figure `residuals`: force, torque, and histograms."""
    values = [prediction.residual for prediction in predict_wrenches(result)]
    all_timelines = timelines(result.wrench_logs, log)
    columns = [
        _time_column(timeline, f"{title} residual", unit, axes, partial(_residual_panel, values))
        for timeline in all_timelines
        for title, unit, axes in FORCE_AND_TORQUE
    ]
    moving = [
        values[index]
        for timeline in all_timelines
        if not timeline.static_poses
        for index, _, _ in timeline.spans
    ]
    if sum(map(len, moving)) >= _MIN_ROWS_FOR_HISTOGRAM:
        residual = np.concatenate(moving)
        columns += [
            _histogram_panel(residual[:, axes], title) for title, _, axes in FORCE_AND_TORQUE
        ]
    return tuple(columns)


def _time_column(
    timeline: Timeline,
    title: str,
    unit: str,
    columns: slice,
    panel: Callable[[Timeline, str, str, int], Panel],
) -> Column:
    axes = zip("xyz", range(columns.start, columns.stop), strict=True)
    panels = tuple(panel(timeline, name, unit, axis) for name, axis in axes)
    return Column(
        timeline.title_with_motion(title), timeline.label, panels, zoom_group=timeline.zoom_group
    )


def _wrench_panel(
    predictions: Sequence[Prediction], timeline: Timeline, name: str, unit: str, axis: int
) -> Panel:
    plotted = [predictions[index] for index, _, _ in timeline.spans]
    scale = with_si_prefix(unit, max(float(np.abs(log.measured[:, axis]).max()) for log in plotted))

    def draw(axes: PanelAxes) -> None:
        measured = timeline.trace([log.measured[:, axis] / scale.factor for log in predictions])
        predicted = timeline.trace([log.predicted[:, axis] / scale.factor for log in predictions])
        wide = {"ls": "-", "lw": 2.0}
        thin = {"lw": 0.9, "ls": (0, colors.PREDICTED_DASHES)}
        if timeline.static_poses:
            wide = {"marker": "o", "ls": "", "ms": 8.0, "mew": 0.0}
            thin = {"marker": "x", "ls": "", "ms": 5.0, "mew": 1.4}
        axes.plot(*measured, color=colors.MEASURED, label="measured, less sensor offset", **wide)
        axes.plot(*predicted, color=colors.ESTIMATE, label="predicted", **thin)
        mark_logs(axes, timeline, numbered=axis % 3 == 0)

    return Panel(draw, f"{name} [{scale.name}]")


def _residual_panel(
    values: Sequence[Array], timeline: Timeline, name: str, unit: str, axis: int
) -> Panel:
    residual = np.concatenate([values[index][:, axis] for index, _, _ in timeline.spans])
    scale = with_si_prefix(unit, float(np.abs(residual).max()))
    rms = scale.of(float(np.sqrt(np.mean(residual**2))))

    def draw(axes: PanelAxes) -> None:
        axes.axhspan(-rms, rms, color=colors.BAND, lw=0.0, label="± RMS")
        axes.axhline(0.0, color=colors.MUTED, lw=0.7)
        x, y = timeline.trace([log[:, axis] / scale.factor for log in values])
        look = {"ls": "-", "lw": 0.7}
        if timeline.static_poses:
            look = {"marker": "o", "ls": "", "ms": 4.5, "mew": 0.0}
        axes.plot(x, y, color=colors.ESTIMATE, label="measured − predicted", **look)
        largest = max(float(np.nanmax(np.abs(y))), rms, np.finfo(float).tiny)
        axes.set_ylim(-1.12 * largest, 1.12 * largest)
        mark_logs(axes, timeline, numbered=axis % 3 == 0, lift=14.0)

    note = f"RMS {format_significant(rms, 3)} {scale.name}"
    return Panel(draw, f"{name} [{scale.name}]", note)


def _histogram_panel(values: Array, title: str) -> Column:
    rms = np.sqrt(np.mean(values**2, axis=0))
    # Values beyond the axis are counted in the outermost bins.
    inside = np.clip(
        values / np.where(rms > 0.0, rms, 1.0), _HISTOGRAM_EDGES[0], _HISTOGRAM_EDGES[-1]
    )

    def draw(axes: PanelAxes) -> None:
        fine = np.linspace(_HISTOGRAM_EDGES[0], _HISTOGRAM_EDGES[-1], 101)
        bell = np.exp(-0.5 * fine**2) / np.sqrt(2.0 * np.pi)
        axes.fill_between(fine, bell, color=colors.BAND, lw=0.0, label="normal")
        middles = 0.5 * (_HISTOGRAM_EDGES[:-1] + _HISTOGRAM_EDGES[1:])
        for (name, color, dashes), column in zip(colors.AXIS_STYLES, inside.T, strict=True):
            density = np.histogram(column, _HISTOGRAM_EDGES, density=True)[0]
            axes.plot(middles, density, color=color, ls=dashes, lw=1.3, label=name)
        axes.set_ylim(bottom=0.0)

    panel = Panel(draw, ylabel="density [–]", height=1.5)
    return Column(f"{title}, distribution", "residual over its RMS [–]", (panel,))


@dataclass(frozen=True, slots=True)
class Prediction:
    """Measured and predicted wrench on the body at Bo in B, filtered equally [N, N m].

    Attributes:
        measured: sensor offset removed, shape (n, 6).
        predicted: Y(ψ) φ, shape (n, 6).
    """

    measured: Vec6
    predicted: Vec6

    @property
    def residual(self) -> Vec6:
        """Measured minus predicted wrench, shape (n, 6)."""
        return self.measured - self.predicted


def predict_wrenches(result: Result) -> tuple[Prediction, ...]:
    """Predict the wrench in each log from the body, or bodies, in it.

    Rows are corrected for the small faults of the sensor. The offset that is subtracted is that of
    the corrected rows: the one in the estimate is that of the log as it was read.
    """
    estimate, logs = result.estimate, result.wrench_logs
    predicted = [
        np.asarray(log.features @ (FEATURE_TENSOR @ estimate.moving_assembly(number).phi))
        for number, log in enumerate(logs)
    ]
    # The filter acted on the constant too, so the offset multiplies the first column.
    constants = [log.rows[:, :1] for log in logs]
    residuals = [log.wrench - wrench for log, wrench in zip(logs, predicted, strict=True)]
    offsets = _offsets_of_rows(constants, residuals, result.settings.bias)
    return tuple(
        Prediction(measured=log.wrench - constant * offset, predicted=wrench)
        for log, wrench, constant, offset in zip(logs, predicted, constants, offsets, strict=True)
    )


def _offsets_of_rows(
    constants: Sequence[Array], residuals: Sequence[Vec6], bias: Offsets
) -> Sequence[Vec6]:
    """Fit the sensor offset of each log to its residual wrench [N, N m], by least squares."""
    if bias == "none":
        return [np.zeros(6)] * len(residuals)
    if bias == "shared":
        constant, residual = np.concatenate(constants), np.concatenate(residuals)
        return [np.linalg.lstsq(constant, residual)[0][0]] * len(residuals)
    return [
        np.linalg.lstsq(constant, residual)[0][0]
        for constant, residual in zip(constants, residuals, strict=True)
    ]
