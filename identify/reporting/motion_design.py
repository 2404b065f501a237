"""HTML page of a designed motion: its curves beside their limits, and what it will give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from identify.arrays import Array, Vec3
from identify.design.prediction import DISPLAY_UNITS
from identify.pipeline.required_precision import INTERVAL_NAMES
from identify.reporting import colors
from identify.reporting.canvas import COLUMN_MARGIN, COLUMN_WIDTH, Column, Panel, PanelAxes
from identify.reporting.content import (
    BulletList,
    Cell,
    Pictures,
    Row,
    Section,
    Tile,
    Tiles,
    make_row,
    make_table,
    render_page,
)
from identify.reporting.rounding import format_significant

if TYPE_CHECKING:
    from identify.design import MotionDesign

_PATH_HEIGHT = 3.0
"""Height of the panels of the tool's path, in units of `COLUMN_WIDTH`."""

_MAX_CURVES = 12
"""Largest number of curves of limits that are not of one axis: a page of twelve can be compared."""


def motion_design_html(design: MotionDesign, command: str) -> str:
    """Return the page as HTML."""
    return render_page(
        "motion_design.html",
        (build(design) for build in SECTIONS),
        title=f"Motion of {design.seconds:g} s to log, not yet run",
        command=command,
    )


def headline(design: MotionDesign) -> Section:
    """Return the headline: duration, gain over an unplanned motion, and needs."""
    name, share = design.most_used_limit
    tiles = [
        Tile(
            "motion",
            f"{design.seconds:g} s",
            f"{design.periods} × {design.period:g} s, from rest",
        ),
        Tile(
            "errors",
            f"{design.relative_to_unplanned:.2f} ×",
            "of an unplanned motion (geometric mean)",
        ),
        Tile("most used limit", f"{100.0 * share:.1f} %", name),
    ]
    if design.needs:
        met = len(design.needs) - len(design.unmet)
        unmet = "; ".join(need.text for need in design.unmet)
        detail = f"not met: {unmet}" if unmet else ""
        tone = "warn" if design.unmet else "good"
        tiles.append(Tile("needs met", f"{met} of {len(design.needs)}", detail, tone))
    return Section("result", "", (Tiles(tuple(tiles)), BulletList(design.remarks)))


def precision(design: MotionDesign) -> Section | None:
    """Return the section of predicted half-widths beside the needs and an unplanned motion."""
    if design.body is None:
        return None
    caption = (
        "95 % half-widths that are predicted for repeated logs. Unplanned: the median of random "
        "motions within the same limits and time."
    )
    heads = ("parameter", "unit", "designed", "unplanned")
    if design.needs:
        heads += ("need", "after [s]")
        caption += " After: the time of this motion, repeated, after which the need is met."
    return Section(
        "precision",
        "What it will give",
        (make_table(heads, _width_rows(design), caption, word_columns=2),),
    )


def _width_rows(design: MotionDesign) -> Iterator[Row]:
    predictions = (design.predict(motion) for motion in (design.motion, design.unplanned))
    widths, unplanned = (
        each.half_widths(design.seconds, total=True) for each in predictions if each
    )
    for quantity, names in INTERVAL_NAMES.items():
        unit, factor = DISPLAY_UNITS[quantity]
        widest = max(names, key=lambda name: widths[name])
        for name in names:
            yield make_row(
                Cell(name[0], subscript=name[1:]),
                unit,
                *(_number(factor * each[name]) for each in (widths, unplanned)),
                *_need_cells(design, quantity, name == widest),
            )


def _need_cells(design: MotionDesign, quantity: str, is_widest: bool) -> tuple[str, ...]:
    """Return the needs of a quantity and when they are met, in the row of its widest half-width.

    No cells if the design has no needs.
    """
    if not design.needs:
        return ()
    needs = [need for need in design.needs if need.quantity == quantity]
    if not is_widest or not needs or design.prediction is None:
        return "", ""
    seconds = design.prediction.seconds_for(needs, design.period)
    text = "over 3600" if seconds is None else f"{seconds:g}"
    return "; ".join(need.text for need in needs), text


def _number(value: float) -> str:
    return format_significant(value, 2) if np.isfinite(value) else "–"


def curves(design: MotionDesign) -> Section:
    """Return the section of the curves of each axis beside their limits."""
    t, torques = design.curve_times, _shares_of_limits(design)
    motion = design.positions(t)
    limits = design.problem.limits
    start = design.problem.start
    bounds = (start + limits.low, start + limits.high, limits.speed, limits.acceleration)
    prismatic = design.plan.prismatic
    columns = []
    for k, name in enumerate(design.problem.axes):
        factor, unit = (1e3, "mm") if prismatic[k] else (180.0 / np.pi, "°")
        low, high, speed, acceleration = (float(factor * bound[k]) for bound in bounds)
        pairs = ((low, high), (-speed, speed), (-acceleration, acceleration))
        x = factor * motion[:, :, k]
        panels = [
            Panel(partial(_draw_curve, t=t, x=x[order], bounds=pairs[order]), label)
            for order, label in enumerate((unit, f"{unit}/s", f"{unit}/s²"))
        ]
        if f"the torque of {name}" in torques:
            share = torques[f"the torque of {name}"]
            draw = partial(_draw_curve, t=t, x=share, bounds=(100.0,))
            panels.append(Panel(draw, "torque, %"))
        columns.append(Column(name, "time [s]", tuple(panels), zoom_group="time"))
    caption = (
        f"One period of {design.period:g} s; the horizontal lines are limits. Torques are shown as "
        "the share of their limit that is used."
    )
    return Section("curves", "The motion and its limits", (Pictures(tuple(columns), caption),))


def _shares_of_limits(design: MotionDesign) -> dict[str, Array]:
    """Return the shares of limits that are not of one axis alone over time, in %, by name."""
    shares = design.problem.rows(design.motion.at(design.curve_times)).shares
    return dict(zip(design.problem.limit_names, 100.0 * shares.T, strict=True))


def _draw_curve(axes: PanelAxes, *, t: Array, x: Array, bounds: tuple[float, ...]) -> None:
    for bound in bounds:
        if np.isfinite(bound):
            axes.axhline(bound, color=colors.OTHER_BODY, lw=0.8)
    axes.plot(t, x, color=colors.ESTIMATE, lw=1.0)
    axes.set_xlim(float(t[0]), float(t[-1]))


def other_limits(design: MotionDesign) -> Section | None:
    """Return the section of the shares of limits that are not of one axis, and the tool's path."""
    columns = []
    for name, share in _shares_of_limits(design).items():
        if name.startswith("the torque of ") or share.max() <= 0.0 or len(columns) == _MAX_CURVES:
            continue
        draw = partial(_draw_curve, t=design.curve_times, x=share, bounds=(100.0,))
        columns.append(Column(name, "time [s]", (Panel(draw, "%"),), zoom_group="time"))
    caption = ""
    if (path := design.path) is not None:
        columns += _path_columns(path)
        caption = (
            "Path: origin of the tool's frame in the base of the robot, from the dot. Of a box or "
            "a floor, 0 % is a tenth of a metre inside the limit; shares below are left out."
        )
    if not columns:
        return None
    return Section("path", "Path and other limits", (Pictures(tuple(columns), caption),))


def _path_columns(path: Vec3) -> Iterator[Column]:
    for i, j in ((0, 1), (0, 2), (1, 2)):
        draw = partial(_draw_path, x=path[:, i], y=path[:, j])
        name_i, name_j = colors.AXIS_STYLES[i][0], colors.AXIS_STYLES[j][0]
        yield Column(
            f"path, {name_i}{name_j}",
            f"{name_i} [m]",
            (Panel(draw, f"{name_j} [m]", height=_PATH_HEIGHT),),
        )


def _draw_path(axes: PanelAxes, *, x: Array, y: Array) -> None:
    inches = np.array([COLUMN_WIDTH - 2.0 * COLUMN_MARGIN, _PATH_HEIGHT])
    low, high = np.array([(v.min(), v.max()) for v in (x, y)]).T
    half = 0.55 * inches * max(((high - low) / inches).max(), 1e-6)  # one scale on both axes
    middle = 0.5 * (low + high)
    axes.set_xlim(*(middle[0] + half[0] * np.array([-1.0, 1.0])))
    axes.set_ylim(*(middle[1] + half[1] * np.array([-1.0, 1.0])))
    axes.plot(x, y, color=colors.ESTIMATE, lw=0.9)
    axes.plot(x[:1], y[:1], "o", color=colors.OTHER_BODY, ms=5.0)


SECTIONS: tuple[Callable[[MotionDesign], Section | None], ...] = (
    headline,
    precision,
    curves,
    other_limits,
)
"""Functions that make the sections of the page, in their order."""
