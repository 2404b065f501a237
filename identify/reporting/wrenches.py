"""How well the body explains the measured wrench: on data held out, and over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from identify.arrays import Array, Vec6
from identify.regressors.newton_euler import FEATURE_TENSOR
from identify.reporting.canvas import (
    AXES,
    BAND,
    DASHES,
    ESTIMATE,
    MEASURED,
    MUTED,
    Column,
    Panel,
    PlaceT,
    compose,
)
from identify.reporting.content import (
    Block,
    Folded,
    Pictures,
    ReportTable,
    Section,
    Text,
    Tile,
    Tiles,
    table_of,
)
from identify.reporting.rounding import nines, prefixed, significant
from identify.reporting.timeline import Timeline, mark_logs, require_logs, timelines
from identify.spatial.columns import FORCE_AXES, TORQUE_AXES
from identify.validation import noise_rms

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult
    from identify.validation import HeldOutScores


def explained_section(result: FitResult, truth: InertialParameters | None) -> Section:
    """Errors on data held out beside what noise makes; the wrench and its residual over time."""
    still = all(log.recording.still for log in result.logs)
    blocks: list[Block] = []
    if result.validation.scores is not None:
        blocks += _scores(result, result.validation.scores, still=still)
    if len(result.logs) > 1:
        names = ", ".join(f"{i + 1} {log.name}" for i, log in enumerate(result.logs))
        blocks.append(Text(f"Logs: {names}.", "muted"))
    at = f"Wrench on the body at the origin of {result.estimate.frame_description}, in its axes"
    measured = (
        f"{at}, one mark a still pose. Measured: less the sensor offset of its log. Predicted: "
        "from the attitude and the ten parameters."
        if still
        else f"{at}. Measured: low-passed, and less the sensor offset of its log. Predicted: from "
        "the measured motion, low-passed alike, and the ten parameters of what moved."
    )
    left = (
        "Residual: measured wrench less the prediction, on a scale of its own. Noise alone looks "
        "alike all along the log and is distributed about normally; structure that repeats with "
        "the motion hints at contact, delay, a loose payload or a wrong frame."
    )
    if not still:
        left += (
            " The curves and their RMS also contain what the low-pass leaves above the cut-off, "
            "which the errors above do not count."
        )
    blocks.append(Pictures(wrench_columns(result), measured))
    blocks.append(Pictures(residual_columns(result), left, _residual_table(result)))
    return Section("fit", "How well it explains the logs", tuple(blocks))


def _scores(result: FitResult, found: HeldOutScores, *, still: bool) -> list[Block]:
    """Errors of what was held out, each beside its yardstick; R² and fitted errors are folded."""
    moved = [result.estimate.moved_in(number).phi for number in range(len(result.logs))]
    made = noise_rms(result.logs, np.array(moved), result.estimate.biases)
    said = []
    for kind, unit, axes in _KINDS:
        error, noise = (float(np.linalg.norm(of[axes])) for of in (found.rms, made))
        beside = f"noise of the signals alone makes {_quantity(unit, noise)}" if noise else ""
        said.append(Tile(f"{kind}, held-out error, RMS", _quantity(unit, error), beside))
    more = Folded("R², and errors on the data fitted to", (_fitted_table(result, found),))
    return [Tiles(tuple(said)), _held_out_table(found, made, still=still), more]


def _held_out_table(found: HeldOutScores, made: Vec6, *, still: bool) -> ReportTable:
    counted = (
        "" if still else " All numbers are of the frequencies up to the cut-off, as in the fit."
    )
    scores = zip(_AXES, found.rms, made, found.normalised_rms, strict=True)
    return table_of(
        ("Axis", "RMS error", "Noise makes", "error / noise", "of the signal"),
        (
            (
                name,
                _quantity(unit, error),
                _quantity(unit, noise) if noise else "–",
                significant(error / noise, 2) if noise else "–",
                f"{significant(100.0 * share, 2)} %",
            )
            for (name, unit), error, noise, share in scores
        ),
        f"Each of {found.folds} parts of the logs is left out in turn and predicted by a body "
        "fitted to the rest. Noise makes: the error that noise of the wrench and the motion alone "
        "would leave; beside it an error of about 1 is as good as the logs allow. Of the signal: "
        f"the error over the standard deviation of the measured wrench.{counted}",
    )


def _fitted_table(result: FitResult, found: HeldOutScores) -> ReportTable:
    fitted = ["RMS, fitted data"]
    if result.carrier is not None:
        fitted = ["RMS, fitted, loaded", "RMS, fitted, unloaded"]
    left = np.transpose([one.residual_rms for one in result.estimate.bodies])
    fits = zip(_AXES, found.r_squared, left, strict=True)
    return table_of(
        ("Axis", "R²", *fitted),
        (
            (name, nines(r_squared), *(_quantity(unit, one) for one in rms))
            for (name, unit), r_squared, rms in fits
        ),
        "An R² near 1 means that the axis is explained; one near or below 0 that it is not, as "
        "where there is little but noise.",
    )


def _quantity(unit: str, value: float) -> str:
    scale = prefixed(unit, value)
    return f"{significant(scale.of(value), 3)} {scale.name}"


def _residual_table(result: FitResult) -> ReportTable:
    """The curves of the residual in numbers."""
    left = np.concatenate([prediction.residual for prediction in predict(result)])
    rms, largest = np.sqrt(np.mean(left**2, axis=0)), np.abs(left).max(axis=0)
    rows = zip(_AXES, rms.tolist(), largest.tolist(), strict=True)
    return table_of(
        ("Residual", "RMS", "largest"),
        ((name, _quantity(unit, one), _quantity(unit, other)) for (name, unit), one, other in rows),
    )


_KINDS = (("Force", "N", FORCE_AXES), ("Torque", "N m", TORQUE_AXES))
"""The two halves of a wrench: title, unit and columns."""

_AXES = tuple((f"{title.lower()} {axis}", unit) for title, unit, _ in _KINDS for axis in "xyz")
"""Name and unit of each component."""

_FEWEST_FOR_HISTOGRAM = 100
_EDGES = np.linspace(-5.2, 5.2, 27)


def wrench(
    result: FitResult, log: int | None = None, *, ax: PlaceT | None = None
) -> Figure | PlaceT:
    """Measured wrench, less the sensor offset, and predicted one on six axes, both filtered alike.

    Args:
        result: of a fit.
        log: index of the only log to show; all, one after another, where not given.
        ax: axes to draw on in place of a figure of its own, see `identify.plot`.
    """
    return compose(wrench_columns(require_logs(result, "wrench"), log), ax=ax)


def wrench_columns(result: FitResult, log: int | None = None) -> tuple[Column, ...]:
    """The columns of `wrench`: force and torque."""
    predictions = predict(result)
    return tuple(
        _over_time(timeline, title, unit, columns, partial(_compared, predictions))
        for timeline in timelines(result.logs, log)
        for title, unit, columns in _KINDS
    )


def residuals(
    result: FitResult, log: int | None = None, *, ax: PlaceT | None = None
) -> Figure | PlaceT:
    """Residual wrench on six axes over time, with its root mean square, and its distribution.

    Args:
        result: of a fit.
        log: index of the only log to show; all, one after another, where not given.
        ax: axes to draw on in place of a figure of its own, see `identify.plot`.
    """
    return compose(residual_columns(require_logs(result, "residuals"), log), ax=ax)


def residual_columns(result: FitResult, log: int | None = None) -> tuple[Column, ...]:
    """The columns of `residuals`: force, torque and, where there are enough rows, histograms."""
    values = [prediction.residual for prediction in predict(result)]
    shown = timelines(result.logs, log)
    columns = [
        _over_time(timeline, f"{title} residual", unit, axes, partial(_left, values))
        for timeline in shown
        for title, unit, axes in _KINDS
    ]
    moving = [values[index] for line in shown if not line.still for index, _, _ in line.spans]
    if sum(map(len, moving)) >= _FEWEST_FOR_HISTOGRAM:
        together = np.concatenate(moving)
        columns += [_distribution(together[:, axes], title) for title, _, axes in _KINDS]
    return tuple(columns)


def _over_time(
    timeline: Timeline,
    title: str,
    unit: str,
    columns: slice,
    panel: Callable[[Timeline, str, str, int], Panel],
) -> Column:
    axes = zip("xyz", range(columns.start, columns.stop), strict=True)
    panels = tuple(panel(timeline, name, unit, axis) for name, axis in axes)
    return Column(timeline.titled(title), timeline.label, panels, link=timeline.link)


def _compared(
    predictions: Sequence[Prediction], timeline: Timeline, name: str, unit: str, axis: int
) -> Panel:
    shown = [predictions[index] for index, _, _ in timeline.spans]
    scale = prefixed(unit, max(float(np.abs(one.measured[:, axis]).max()) for one in shown))

    def draw(axes: Axes) -> None:
        measured = timeline.trace([one.measured[:, axis] / scale.factor for one in predictions])
        predicted = timeline.trace([one.predicted[:, axis] / scale.factor for one in predictions])
        wide = {"ls": "-", "lw": 2.0}
        thin = {"lw": 0.9, "ls": (0, DASHES)}
        if timeline.still:
            wide = {"marker": "o", "ls": "", "ms": 8.0, "mew": 0.0}
            thin = {"marker": "x", "ls": "", "ms": 5.0, "mew": 1.4}
        axes.plot(*measured, color=MEASURED, label="measured, less sensor offset", **wide)
        axes.plot(*predicted, color=ESTIMATE, label="predicted", **thin)
        mark_logs(axes, timeline, numbered=axis % 3 == 0)

    return Panel(draw, f"{name} [{scale.name}]")


def _left(values: Sequence[Array], timeline: Timeline, name: str, unit: str, axis: int) -> Panel:
    shown = np.concatenate([values[index][:, axis] for index, _, _ in timeline.spans])
    scale = prefixed(unit, float(np.abs(shown).max()))
    level = scale.of(float(np.sqrt(np.mean(shown**2))))

    def draw(axes: Axes) -> None:
        axes.axhspan(-level, level, color=BAND, lw=0.0, label="± RMS")
        axes.axhline(0.0, color=MUTED, lw=0.7)
        x, y = timeline.trace([one[:, axis] / scale.factor for one in values])
        look = {"ls": "-", "lw": 0.7}
        if timeline.still:
            look = {"marker": "o", "ls": "", "ms": 4.5, "mew": 0.0}
        axes.plot(x, y, color=ESTIMATE, label="measured − predicted", **look)
        largest = max(float(np.nanmax(np.abs(y))), level, np.finfo(float).tiny)
        axes.set_ylim(-1.12 * largest, 1.12 * largest)
        mark_logs(axes, timeline, numbered=axis % 3 == 0, lift=14.0)

    note = f"RMS {significant(level, 3)} {scale.name}"
    return Panel(draw, f"{name} [{scale.name}]", note)


def _distribution(values: Array, title: str) -> Column:
    rms = np.sqrt(np.mean(values**2, axis=0))
    # What lies beyond the axis is counted at its ends.
    inside = np.clip(values / np.where(rms > 0.0, rms, 1.0), _EDGES[0], _EDGES[-1])

    def draw(axes: Axes) -> None:
        fine = np.linspace(_EDGES[0], _EDGES[-1], 101)
        bell = np.exp(-0.5 * fine**2) / np.sqrt(2.0 * np.pi)
        axes.fill_between(fine, bell, color=BAND, lw=0.0, label="normal")
        middles = 0.5 * (_EDGES[:-1] + _EDGES[1:])
        for (name, color, dashes), column in zip(AXES, inside.T, strict=True):
            density = np.histogram(column, _EDGES, density=True)[0]
            axes.plot(middles, density, color=color, ls=dashes, lw=1.3, label=name)
        axes.set_ylim(bottom=0.0)

    panel = Panel(draw, ylabel="density [–]", height=1.5)
    return Column(f"{title}, distribution", "residual over its RMS [–]", (panel,))


@dataclass(frozen=True, slots=True)
class Prediction:
    """Measured and predicted wrench on the body at Bo in B, filtered alike [N, N m].

    Attributes:
        measured: sensor offset removed, shape (n, 6).
        predicted: Y(ψ) φ, shape (n, 6).
    """

    measured: Vec6
    predicted: Vec6

    @property
    def residual(self) -> Vec6:
        """Measured less predicted, shape (n, 6)."""
        return self.measured - self.predicted


def predict(result: FitResult) -> tuple[Prediction, ...]:
    """The prediction for each log, in their order, by what moved in it."""
    estimate = result.estimate
    return tuple(
        Prediction(
            # The filter acted on the constant too, so the offset goes with the first column.
            measured=log.wrench - log.rows[:, :1] * offset,
            predicted=np.asarray(log.features @ (FEATURE_TENSOR @ estimate.moved_in(number).phi)),
        )
        for number, (log, offset) in enumerate(zip(result.logs, estimate.biases, strict=True))
    )
