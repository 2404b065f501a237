"""Poinsot's construction as it is seen: the ellipsoid on the invariable plane, at one moment.

The plane lies below as a floor, L points down to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from identify.arrays import Array, Indices, Mat33, Vec3
from identify.reporting.canvas import BAND, GRID, INK, MEASURED, MUTED, OTHER
from identify.reporting.ellipsoid_view import View
from identify.reporting.figures.poinsot import LENGTH, extent, family
from identify.reporting.rounding import significant
from identify.simulation.poinsot import Poinsot
from identify.simulation.poinsot_curves import herpolhode_curve, polhode_curve
from identify.spatial import rotation_from_quaternion

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

VIEW = View.of(azimuth=np.deg2rad(-60.0), elevation=np.deg2rad(20.0))
FLOOR = "#f4f6f8"
_INCHES = 4.6
_GROUND, _BODY, _ON_BODY, _ABOVE = 1.0, 2.0, 3.0, 4.0
"""What covers what."""
_CLEAR = 0.7
"""How much of what lies behind it the body hides."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What moves, in a frame with its third axis up, against L.

    Attributes:
        inertia: in principal axes, diagonal, shape (3, 3).
        rotations: from principal axes to this frame, shape (n, 3, 3).
        contact: points of contact, shape (n, 3).
        trail: the herpolhode, smooth, from the first time on, shape (k, 3).
        drawn: how many of its points are behind each contact, shape (n,).
        extent: what is said of a trail that ends before the last time.
        distance: of the floor below the centre.
        reach: half the width of what is shown.
        curves, separatrix, own: on the ellipsoid, in principal axes, each (k, 3).
        time: [s], shape (n,).
    """

    inertia: Mat33
    rotations: Mat33
    contact: Vec3
    trail: Vec3
    drawn: Indices
    extent: str
    distance: float
    reach: float
    curves: list[Array]
    separatrix: list[Array]
    own: Array
    time: Array

    @classmethod
    def of(cls, construction: Poinsot, picked: Indices) -> Scene:
        """The scene at some of the construction's times."""
        first, second, normal = construction.plane_axes.T
        up = np.stack((first, -second, -normal))
        R_WB = rotation_from_quaternion(construction.quaternion[picked])
        curves, separatrix = family(construction.moments)
        curve, time = herpolhode_curve(construction), construction.time[picked]
        return cls(
            inertia=np.diag(construction.moments),
            rotations=up @ R_WB @ construction.axes,
            contact=construction.herpolhode[picked] @ up.T,
            trail=curve.points @ up.T,
            drawn=np.searchsorted(curve.time, time, side="right"),
            extent=extent(curve),
            distance=construction.distance,
            reach=1.12 * float(construction.semi_axes.max()),
            curves=curves,
            separatrix=separatrix,
            own=polhode_curve(construction),
            time=time,
        )

    def behind(self, index: int) -> Vec3:
        """The herpolhode up to one of the times, as far as it is drawn, shape (k, 3)."""
        done = int(self.drawn[index])
        trail = self.trail[:done]
        whole = done == len(self.trail)
        return trail if whole else np.concatenate((trail, self.contact[index, None]))


def empty_picture(scene: Scene) -> tuple[Figure, Axes]:
    """A figure and its axes, as large as all the scene needs."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_INCHES, _INCHES))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_aspect("equal")
    middle = -0.25 * scene.distance
    axes.set_xlim(-1.25 * scene.reach, 1.25 * scene.reach)
    axes.set_ylim(middle - 1.25 * scene.reach, middle + 1.25 * scene.reach)
    return figure, axes


def draw_scene(axes: Axes, scene: Scene, index: int) -> None:
    """Draw the scene at one of its times, the herpolhode up to there."""
    view, R = VIEW, scene.rotations[index]
    _floor(axes, scene)
    axes.plot(*view.flat(scene.behind(index)).T, color=OTHER, lw=1.6, zorder=_GROUND)
    body = View(view.axes @ R)  # the same view from the body's axes
    outline = body.outline(scene.inertia).T
    axes.fill(*outline, color=BAND, lw=0.0, alpha=_CLEAR, zorder=_BODY)
    looks = (
        (scene.curves, MEASURED, 0.7),
        (scene.separatrix, INK, 0.9),
        ([scene.own], OTHER, 1.8),
    )
    for curves, color, width in looks:
        for curve in curves:
            near, far = body.parts(curve, scene.inertia)
            axes.plot(*far.T, color=color, lw=0.8 * width, alpha=0.25, zorder=_ON_BODY)
            axes.plot(*near.T, color=color, lw=width, zorder=_ON_BODY)
    axes.plot(*outline, color=MUTED, lw=0.9, zorder=_ON_BODY)
    touch = view.flat(scene.contact[index])
    axes.plot([0.0, touch[0]], [0.0, touch[1]], color=OTHER, lw=1.2, zorder=_ABOVE)
    axes.plot(*touch, "o", color=OTHER, ms=6.0, mec="white", mew=0.9, zorder=_ABOVE)
    axes.text(0.03, 0.97, "r = ω/√(2K)", color=OTHER, transform=axes.transAxes, va="top")
    axes.text(
        0.97, 0.97, f"t = {scene.time[index]:.2f} s", transform=axes.transAxes, va="top", ha="right"
    )
    axes.text(
        0.03,
        0.03,
        f"the floor is the invariable plane, {significant(scene.distance, 3)} {LENGTH} below"
        + scene.extent.replace(";", "\nherpolhode of"),
        transform=axes.transAxes,
        color=MUTED,
    )


def _floor(axes: Axes, scene: Scene) -> None:
    """A square of the plane with a grid, and the foot of L."""
    half = 1.1 * scene.reach
    lines = np.linspace(-half, half, 9)
    corners = half * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    axes.fill(*_on_floor(scene, corners).T, color=FLOOR, lw=0.0, zorder=_GROUND)
    for x in lines:
        for ends in ([[x, -half], [x, half]], [[-half, x], [half, x]]):
            axes.plot(*_on_floor(scene, np.array(ends)).T, color=GRID, lw=0.7, zorder=_GROUND)
    axes.plot(*_on_floor(scene, np.zeros((1, 2))).T, "+", color=INK, ms=7.0, zorder=_GROUND)


def _on_floor(scene: Scene, points: Array) -> Array:
    """Points of the plane as they are seen."""
    return VIEW.flat(np.column_stack((points, np.full(len(points), -scene.distance))))
