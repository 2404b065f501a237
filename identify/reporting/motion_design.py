"""HTML page of a designed motion: its curves beside their limits, and what it will give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from identify.arrays import Array, Vec3
from identify.pipeline.required_precision import INTERVAL_NAMES
from identify.reporting.canvas import AXES, ESTIMATE, OTHER, Column, Panel, PanelAxes
from identify.reporting.content import (
    BulletList,
    Cell,
    Pictures,
    Row,
    Section,
    Tile,
    Tiles,
    make_table,
    render_page,
    row,
)
from identify.reporting.rounding import significant

if TYPE_CHECKING:
    from identify.design import MotionDesign

_UNITS = {"mass": ("kg", 1.0), "com": ("mm", 1e3), "inertia": ("kg m²", 1.0)}
"""Unit of each quantity of `INTERVAL_NAMES`, and its factor from SI."""


def motion_design_html(
    design: MotionDesign, command: str, *, written: datetime | None = None
) -> str:
    """Return the page as HTML; the same design and time give the same text."""
    return render_page(
        "motion_design.html",
        [section for build in SECTIONS if (section := build(design)) is not None],
        title=f"Motion of {design.seconds:g} s to log, not yet run",
        command=command,
        written=written or datetime.now().astimezone(),
    )


def headline(design: MotionDesign) -> Section:
    """Return the headline: duration, gain over an unplanned motion, and needs."""
    name, share = max(design.shares.items(), key=lambda item: item[1])
    periods = round(design.seconds / design.period)
    tiles = [
        Tile(
            "motion", f"{design.seconds:g} s", f"{periods} × {design.period:g} s, at rest at ends"
        ),
        Tile("errors", f"{design.gain:.2f} ×", "of an unplanned motion (geometric mean)"),
        Tile("most used limit", f"{100.0 * share:.0f} %", name),
    ]
    if design.needs:
        met = len(design.needs) - len(design.unmet)
        detail = "; ".join(need.text for need in design.unmet)
        tone = "warn" if design.unmet else "good"
        tiles.append(Tile("needs met", f"{met} of {len(design.needs)}", detail, tone))
    return Section("result", "", (Tiles(tuple(tiles)), BulletList(design.plan.remarks)))


def precision(design: MotionDesign) -> Section | None:
    """Return the section of predicted half-widths beside the needs and an unplanned motion."""
    if design.prediction is None or design.unplanned is None:
        return None
    caption = (
        "95 % half-widths that are predicted for repeated logs. Unplanned: the median of random "
        "motions within the same limits and time. After: the time of this motion, repeated, after "
        "which the need is met."
    )
    heads = ("parameter", "unit", "designed", "unplanned", "need", "after [s]")
    return Section(
        "precision",
        "What it will give",
        (make_table(heads, _width_rows(design), caption, words=2),),
    )


def _width_rows(design: MotionDesign) -> Iterator[Row]:
    assert design.prediction is not None
    assert design.unplanned is not None
    widths, unplanned = (
        prediction.half_widths(design.seconds)
        for prediction in (design.prediction, design.unplanned)
    )
    for quantity, names in INTERVAL_NAMES.items():
        unit, factor = _UNITS[quantity]
        needs = [need for need in design.needs if need.quantity == quantity]
        for name in names:
            yield row(
                Cell(name[0], sub=name[1:]),
                unit,
                *(_number(factor * each[name]) for each in (widths, unplanned)),
                "; ".join(need.text for need in needs) if name == names[0] else "",
                _time_of(design, quantity) if name == names[0] else "",
            )


def _time_of(design: MotionDesign, quantity: str) -> str:
    """Return the time after which the needs of a quantity are met."""
    needs = [need for need in design.needs if need.quantity == quantity]
    if not needs or design.prediction is None:
        return ""
    seconds = design.prediction.seconds_for(needs, design.period)
    return "over 3600" if seconds is None else f"{seconds:g}"


def _number(value: float) -> str:
    return significant(value, 2) if np.isfinite(value) else "–"


def curves(design: MotionDesign) -> Section:
    """Return the section of the curves of each axis beside their limits."""
    columns = tuple(_axis_column(design, axis) for axis in range(len(design.plan.axes)))
    caption = (
        f"One period of {design.period:g} s; the horizontal lines are limits. Torques are shown as "
        "the share of their limit that is used."
    )
    return Section("curves", "The motion and its limits", (Pictures(columns, caption),))


def _axis_column(design: MotionDesign, axis: int) -> Column:
    low, high, speed, acceleration = design.axis_limits[:, axis]
    turns = not design.plan.prismatic[axis]
    factor, unit = (180.0 / np.pi, "°") if turns else (1e3, "mm")
    bounds = ((low, high), (-speed, speed), (-acceleration, acceleration))
    labels = (unit, f"{unit}/s", f"{unit}/s²")
    panels = [
        Panel(
            partial(
                _draw_curve,
                t=design.curve_times,
                x=factor * design.curves[order, :, axis],
                bounds=tuple(float(factor * bound) for bound in bounds[order]),
            ),
            label,
        )
        for order, label in enumerate(labels)
    ]
    name = f"the torque of {design.plan.axes[axis]}"
    if name in design.limit_names:
        share = 100.0 * design.limit_shares[:, design.limit_names.index(name)]
        draw = partial(_draw_curve, t=design.curve_times, x=share, bounds=(0.0, 100.0))
        panels.append(Panel(draw, "torque, %"))
    return Column(design.plan.axes[axis], "time [s]", tuple(panels), link="time")


def _draw_curve(axes: PanelAxes, *, t: Array, x: Array, bounds: tuple[float, ...]) -> None:
    for bound in bounds:
        if np.isfinite(bound):
            axes.axhline(bound, color=OTHER, lw=0.8)
    axes.plot(t, x, color=ESTIMATE, lw=1.0)
    axes.set_xlim(float(t[0]), float(t[-1]))


def other_limits(design: MotionDesign) -> Section | None:
    """Return the section of the shares of limits that are not of one axis, and the tool's path."""
    names = [name for name in design.limit_names if not name.startswith("the torque of ")]
    finite = [name for name in names if np.isfinite(design.shares[name]) and design.shares[name]]
    columns = []
    for name in finite[:12]:
        share = 100.0 * design.limit_shares[:, design.limit_names.index(name)]
        draw = partial(_draw_curve, t=design.curve_times, x=share, bounds=(100.0,))
        columns.append(Column(name, "time [s]", (Panel(draw, "%"),), link="time"))
    if design.path is not None:
        columns += _path_columns(design.path)
    if not columns:
        return None
    caption = "Path: origin of the tool's frame in the base of the robot, from the dot."
    return Section("path", "Path and other limits", (Pictures(tuple(columns), caption),))


def _path_columns(path: Vec3) -> Iterator[Column]:
    for i, j in ((0, 1), (0, 2)):
        draw = partial(_draw_path, x=path[:, i], y=path[:, j])
        name_i, name_j = AXES[i][0], AXES[j][0]
        yield Column(
            f"path, {name_i}{name_j}", f"{name_i} [m]", (Panel(draw, f"{name_j} [m]", height=2.2),)
        )


def _draw_path(axes: PanelAxes, *, x: Array, y: Array) -> None:
    axes.plot(x, y, color=ESTIMATE, lw=0.9)
    axes.plot(x[:1], y[:1], "o", color=OTHER, ms=5.0)


SECTIONS: tuple[Callable[[MotionDesign], Section | None], ...] = (
    headline,
    precision,
    curves,
    other_limits,
)
"""Functions that make the sections of the page, in their order."""
