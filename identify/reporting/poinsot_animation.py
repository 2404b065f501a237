"""Poinsot's construction in motion: as a GIF, or as an HTML page that can be turned by hand."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from identify.arrays import Array, Indices
from identify.errors import SimulationError
from identify.files import write_bytes, write_text
from identify.reporting.canvas import BAND, GRID, INK, MEASURED, MUTED, OTHER, style
from identify.reporting.figures.poinsot import LENGTH
from identify.reporting.poinsot_scene import FLOOR, VIEW, Scene, draw_scene, empty_picture
from identify.reporting.rounding import significant
from identify.simulation.poinsot import Poinsot

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL import Image

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
    """The animation as the bytes of a GIF that repeats.

    Args:
        construction: of one free rotation.
        frames: at most as many, evenly taken from its times.
        rate_hz: frames a second.
        dpi: pixels an inch, of 4.6 by 4.6 inches.

    Raises:
        SimulationError: fewer than two times.
    """
    from PIL import Image

    scene = Scene.of(construction, _picked(construction, frames))
    pictures = [Image.fromarray(frame) for frame in _frames(scene, dpi)]
    palette = _palette()
    indexed = [p.quantize(palette=palette, dither=Image.Dither.NONE) for p in pictures]
    stream = io.BytesIO()
    indexed[0].save(
        stream,
        format="GIF",
        save_all=True,
        append_images=indexed[1:],
        duration=round(1000.0 / rate_hz),
        loop=0,
    )
    return stream.getvalue()


def poinsot_frame(construction: Poinsot, index: int = -1) -> Figure:
    """One picture of the animation.

    Args:
        construction: of one free rotation.
        index: of its times; the herpolhode is drawn up to there.
    """
    scene = Scene.of(construction, np.arange(len(construction.time)))
    with style():
        figure, axes = empty_picture(scene)
        draw_scene(axes, scene, range(len(construction.time))[index])
    return figure


def poinsot_html(construction: Poinsot) -> str:
    """The animation as a page that needs nothing else, to play, wind and turn.

    Args:
        construction: of one free rotation.

    Raises:
        SimulationError: fewer than two times.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    scene = Scene.of(construction, _picked(construction, _MOST_FRAMES))
    environment = Environment(
        loader=PackageLoader("identify.reporting"), autoescape=True, undefined=StrictUndefined
    )
    template = environment.get_template("poinsot.html")
    return template.render(data=_data(scene), facts=_facts(construction, scene.extent))


def _picked(construction: Poinsot, most: int) -> Indices:
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
        for ground in ("white", FLOOR, BAND)
        for ink in (INK, MUTED, MEASURED, OTHER, GRID, BAND)
    ]
    colours = np.unique(np.rint(255.0 * np.concatenate(mixed)).astype(np.uint8), axis=0)
    image = Image.new("P", (1, 1))
    image.putpalette(colours[:256].tobytes())
    return image


def _frames(scene: Scene, dpi: float) -> list[Array]:
    """Pictures as arrays of red, green and blue, shape (height, width, 3)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    with style():
        figure, axes = empty_picture(scene)
        figure.set_dpi(dpi)
        canvas = FigureCanvasAgg(figure)
        pictures = []
        for index in range(len(scene.time)):
            for artist in [*axes.lines, *axes.patches, *axes.texts]:
                artist.remove()
            draw_scene(axes, scene, index)
            canvas.draw()
            pictures.append(np.asarray(canvas.buffer_rgba())[..., :3].copy())
    return pictures


def _data(scene: Scene) -> str:
    """The scene as JSON; numbers only, so nothing in it can end the script element."""

    def listed(array: Array) -> list:
        return np.round(array / scene.reach, _DECIMALS).tolist()

    return json.dumps(
        {
            "inertia": (np.diagonal(scene.inertia) * scene.reach**2).tolist(),
            "rotations": np.round(scene.rotations.reshape(-1, 9), _DECIMALS).tolist(),
            "contact": listed(scene.contact),
            "trail": listed(scene.trail),
            "drawn": scene.drawn.tolist(),
            "distance": scene.distance / scene.reach,
            "curves": [listed(curve[::3]) for curve in scene.curves],
            "separatrix": [listed(curve[::3]) for curve in scene.separatrix],
            "own": listed(scene.own),
            "time": np.round(scene.time, 6).tolist(),
            "view": VIEW.axes.tolist(),
        },
        separators=(",", ":"),
        allow_nan=False,
    )


def _facts(construction: Poinsot, extent: str) -> list[tuple[str, str]]:
    """What the page says beside the picture."""
    invariants = construction.invariants
    moments = ", ".join(significant(x, 4) for x in construction.moments)
    facts = [
        ("principal moments", f"{moments} kg m²"),
        ("kinetic energy K", f"{significant(float(invariants.kinetic_energy), 4)} J"),
        ("angular momentum |L|", f"{significant(float(invariants.angular_momentum), 4)} kg m²/s"),
        ("plane at √(2K)/|L|", f"{significant(construction.distance, 4)} {LENGTH}"),
    ]
    if np.isfinite(invariants.period):
        turn = float(np.rad2deg(invariants.precession))
        facts += [
            ("period of ω", f"{significant(float(invariants.period), 4)} s"),
            ("precession a period", f"{significant(turn, 4)}°"),
        ]
    if extent:
        facts.append(("herpolhode drawn", extent.removeprefix("; ")))
    return facts
