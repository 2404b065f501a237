"""Poinsot's construction in motion: as a GIF, or as an HTML page that can be turned by hand.

The ellipsoid rolls on the invariable plane, which lies below as a floor; L points down to it.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from identify.arrays import Array, Indices, Mat33, Vec3
from identify.errors import SimulationError
from identify.files import write_bytes, write_text
from identify.reporting.canvas import BAND, GRID, INK, MEASURED, MUTED, OTHER, style
from identify.reporting.content import page_of
from identify.reporting.rounding import significant
from identify.reporting.simulated_motion import LENGTH, View, extent, family
from identify.simulation.poinsot import Poinsot
from identify.simulation.poinsot_curves import herpolhode_curve, polhode_curve
from identify.spatial import rotation_from_quaternion

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from PIL import Image

_VIEW = View.of(azimuth=np.deg2rad(-60.0), elevation=np.deg2rad(20.0))
_FLOOR = "#f4f6f8"
_INCHES = 4.6
_GROUND, _BODY, _ON_BODY, _ABOVE = 1.0, 2.0, 3.0, 4.0
"""What covers what."""
_CLEAR = 0.7
"""How much of what lies behind it the body hides."""
_FRAMES = 120
_MOST_FRAMES = 2000
_RATE_HZ = 20.0
_DECIMALS = 5


def save_poinsot_animation(construction: Poinsot, path: Path | str) -> Path:
    """Write the animation as a GIF or as HTML, as the path ends, whole or not at all.

    Args:
        construction: of one free rotation, over at least two times; a GIF takes up to 120 of them,
            HTML up to 2000, evenly.
        path: ends in `.gif` or `.html`; its folder is made if need be.

    Returns:
        The path written.

    Raises:
        SimulationError: another ending, or fewer than two times.
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind == ".gif":
        write_bytes(path, poinsot_gif(construction))
    elif kind in (".html", ".htm"):
        write_text(path, poinsot_html(construction))
    else:
        raise SimulationError(
            f"{path}: an animation ends in .gif or .html, not in {path.suffix or 'nothing'!r}"
        )
    return path


def poinsot_gif(
    construction: Poinsot, *, frames: int = _FRAMES, rate_hz: float = _RATE_HZ, dpi: float = 90.0
) -> bytes:
    """The bytes of a GIF that repeats: 4.6 by 4.6 inches, `rate_hz` frames a second.

    Raises:
        SimulationError: fewer than two times.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    scene, palette = _Scene.of(construction, _spread(construction, frames)), _palette()
    pictures = []
    with style():
        for index in range(len(scene.time)):
            figure = _picture(scene, index)
            figure.set_dpi(dpi)
            canvas = FigureCanvasAgg(figure)
            canvas.draw()
            picture = Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3])
            pictures.append(picture.quantize(palette=palette, dither=Image.Dither.NONE))
    stream = io.BytesIO()
    pictures[0].save(
        stream,
        format="GIF",
        save_all=True,
        append_images=pictures[1:],
        duration=round(1000.0 / rate_hz),
        loop=0,
    )
    return stream.getvalue()


def poinsot_html(construction: Poinsot) -> str:
    """The animation as a page that needs nothing else, to play, wind and turn.

    Raises:
        SimulationError: fewer than two times.
    """
    scene = _Scene.of(construction, _spread(construction, _MOST_FRAMES))
    return page_of("poinsot.html", (), data=_data(scene), facts=_facts(scene))


def _spread(construction: Poinsot, most: int) -> Indices:
    count = len(construction.time)
    if count < 2:
        raise SimulationError(
            f"an animation needs at least two times, got {count}; pass more to `poinsot_motion`"
        )
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


def _palette() -> Image.Image:
    """The inks on the grounds and what lies between them, so that no thin line loses its colour."""
    from matplotlib.colors import to_rgb
    from PIL import Image

    share = np.linspace(0.0, 1.0, 13)[:, None]
    mixed = [
        (1.0 - share) * np.array(to_rgb(ground)) + share * np.array(to_rgb(ink))
        for ground in ("white", _FLOOR, BAND)
        for ink in (INK, MUTED, MEASURED, OTHER, GRID, BAND)
    ]
    colours = np.unique(np.rint(255.0 * np.concatenate(mixed)).astype(np.uint8), axis=0)
    image = Image.new("P", (1, 1))
    image.putpalette(colours[:256].tobytes())
    return image


def _data(scene: _Scene) -> str:
    """The scene as JSON; numbers only, so nothing in it can end the script element."""

    def listed(array: Array) -> list:
        return np.round(array / scene.reach, _DECIMALS).tolist()

    return json.dumps(
        {
            "inertia": (scene.construction.moments * scene.reach**2).tolist(),
            "rotations": np.round(scene.rotations.reshape(-1, 9), _DECIMALS).tolist(),
            "contact": listed(scene.contact),
            "trail": listed(scene.trail),
            "drawn": scene.drawn.tolist(),
            "distance": scene.construction.distance / scene.reach,
            "curves": [listed(curve[::3]) for curve in scene.curves],
            "separatrix": [listed(curve[::3]) for curve in scene.separatrix],
            "own": listed(scene.own),
            "time": np.round(scene.time, 6).tolist(),
            "view": _VIEW.axes.tolist(),
        },
        separators=(",", ":"),
        allow_nan=False,
    )


def _facts(scene: _Scene) -> list[tuple[str, str]]:
    """What the page says beside the picture."""
    invariants = scene.construction.invariants
    moments = ", ".join(significant(x, 4) for x in scene.construction.moments)
    facts = [
        ("principal moments", f"{moments} kg m²"),
        ("kinetic energy K", f"{significant(float(invariants.kinetic_energy), 4)} J"),
        ("angular momentum |L|", f"{significant(float(invariants.angular_momentum), 4)} kg m²/s"),
        ("plane at √(2K)/|L|", f"{significant(scene.construction.distance, 4)} {LENGTH}"),
    ]
    if np.isfinite(invariants.period):
        turn = float(np.rad2deg(invariants.precession))
        facts += [
            ("period of ω", f"{significant(float(invariants.period), 4)} s"),
            ("precession a period", f"{significant(turn, 4)}°"),
        ]
    if scene.extent:
        facts.append(("herpolhode drawn", scene.extent.removeprefix("; ")))
    return facts


@dataclass(frozen=True, slots=True)
class _Scene:
    """What moves, in a frame with its third axis up, against L.

    Attributes:
        construction: of the motion.
        time: of the pictures [s], shape (n,).
        rotations: from principal axes to this frame, shape (n, 3, 3).
        contact: points of contact, shape (n, 3).
        trail: the herpolhode, smooth, from the first time on, shape (k, 3).
        drawn: how many of its points are behind each contact, shape (n,).
        extent: what is said of a trail that ends before the last time.
        reach: half the width of what is shown.
        curves, separatrix, own: on the ellipsoid, in principal axes, each (k, 3).
    """

    construction: Poinsot
    time: Array
    rotations: Mat33
    contact: Vec3
    trail: Vec3
    drawn: Indices
    extent: str
    reach: float
    curves: list[Array]
    separatrix: list[Array]
    own: Array

    @classmethod
    def of(cls, construction: Poinsot, subset: Indices) -> _Scene:
        """The scene at some of the construction's times."""
        first, second, normal = construction.plane_axes.T
        up = np.stack((first, -second, -normal))
        curve, time = herpolhode_curve(construction), construction.time[subset]
        curves, separatrix = family(construction.moments)
        R_WB = rotation_from_quaternion(construction.quaternion[subset])
        return cls(
            construction=construction,
            time=time,
            rotations=up @ R_WB @ construction.axes,
            contact=construction.herpolhode[subset] @ up.T,
            trail=curve.points @ up.T,
            drawn=np.searchsorted(curve.time, time, side="right"),
            extent=extent(curve),
            reach=1.12 * float(construction.semi_axes.max()),
            curves=curves,
            separatrix=separatrix,
            own=polhode_curve(construction),
        )


def _picture(scene: _Scene, index: int) -> Figure:
    """The scene at one of its times, the herpolhode up to there."""
    from matplotlib.figure import Figure

    distance, inertia = scene.construction.distance, np.diag(scene.construction.moments)
    figure = Figure(figsize=(_INCHES, _INCHES))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.set_xlim(-1.25 * scene.reach, 1.25 * scene.reach)
    middle = -0.25 * distance
    axes.set_ylim(middle - 1.25 * scene.reach, middle + 1.25 * scene.reach)
    _floor(axes, 1.1 * scene.reach, distance)
    done, contact = int(scene.drawn[index]), scene.contact[index]
    trail = scene.trail[:done]
    if done < len(scene.trail):
        trail = np.vstack((trail, contact))
    axes.plot(*_VIEW.flat(trail).T, color=OTHER, lw=1.6, zorder=_GROUND)
    body = View(_VIEW.axes @ scene.rotations[index])  # the same view from the body's axes
    outline = body.outline(inertia).T
    axes.fill(*outline, color=BAND, lw=0.0, alpha=_CLEAR, zorder=_BODY)
    looks = ((scene.curves, MEASURED, 0.7), (scene.separatrix, INK, 0.9), ([scene.own], OTHER, 1.8))
    for curves, color, width in looks:
        body.draw(axes, curves, inertia, faint=0.25, color=color, lw=width, zorder=_ON_BODY)
    axes.plot(*outline, color=MUTED, lw=0.9, zorder=_ON_BODY)
    touch = _VIEW.flat(contact)
    axes.plot([0.0, touch[0]], [0.0, touch[1]], color=OTHER, lw=1.2, zorder=_ABOVE)
    axes.plot(*touch, "o", color=OTHER, ms=6.0, mec="white", mew=0.9, zorder=_ABOVE)
    corner: dict[str, Any] = {"transform": axes.transAxes}
    axes.text(0.03, 0.97, "r = ω/√(2K)", color=OTHER, va="top", **corner)
    axes.text(0.97, 0.97, f"t = {scene.time[index]:.2f} s", va="top", ha="right", **corner)
    below = f"the floor is the invariable plane, {significant(distance, 3)} {LENGTH} below"
    below += scene.extent.replace(";", "\nherpolhode of")
    axes.text(0.03, 0.03, below, color=MUTED, **corner)
    return figure


def _floor(axes: Axes, half: float, distance: float) -> None:
    """A square of the plane with a grid, and the foot of L."""

    def flat(*points: tuple[float, float]) -> Array:
        return _VIEW.flat(np.array([(x, y, -distance) for x, y in points])).T

    corners = flat((-half, -half), (half, -half), (half, half), (-half, half))
    axes.fill(*corners, color=_FLOOR, lw=0.0, zorder=_GROUND)
    for x in np.linspace(-half, half, 9):
        for ends in (((x, -half), (x, half)), ((-half, x), (half, x))):
            axes.plot(*flat(*ends), color=GRID, lw=0.7, zorder=_GROUND)
    axes.plot(*flat((0.0, 0.0)), "+", color=INK, ms=7.0, zorder=_GROUND)
