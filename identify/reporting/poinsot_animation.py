"""Animation of Poinsot's construction, as an HTML page with a view that can be rotated.

The ellipsoid rolls on the invariable plane, which lies below as a floor; L points down to it.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from identify.arrays import Array
from identify.errors import SimulationError
from identify.files import write_text
from identify.reporting.content import render_page
from identify.reporting.rounding import format_significant
from identify.reporting.simulated_motion import LENGTH_UNIT, View, describe_extent, polhode_family
from identify.simulation.poinsot import Poinsot
from identify.simulation.poinsot_curves import herpolhode_curve, polhode_curve
from identify.spatial import rotation_from_quaternion

_VIEW_DIRECTION = View.of(azimuth=np.deg2rad(-60.0), elevation=np.deg2rad(20.0))
_MAX_FRAMES = 2000
_COORDINATE_DECIMALS = 5


def save_poinsot_animation(construction: Poinsot, path: Path | str) -> Path:
    """Write the animation as HTML, atomically.

    Args:
        construction: of one free rotation, over at least two times; up to 2000 of them are shown.
        path: ends in `.html`; its folder is made if need be.

    Returns:
        The path written.

    Raises:
        SimulationError: another ending, or fewer than two times.
    """
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise SimulationError(
            f"{path}: an animation ends in .html, not in {path.suffix or 'nothing'!r}"
        )
    write_text(path, poinsot_html(construction))
    return path


def poinsot_html(construction: Poinsot) -> str:
    """Return the animation as a self-contained HTML page, with controls for time and view.

    Raises `SimulationError`: fewer than two times.
    """
    count = len(construction.time)
    if count < 2:
        raise SimulationError(
            f"an animation needs at least two times, got {count}; pass more to `poinsot_motion`"
        )
    subset = np.unique(np.linspace(0, count - 1, min(count, _MAX_FRAMES)).round().astype(int))
    first, second, normal = construction.plane_axes.T
    up = np.stack((first, -second, -normal))  # the frame of the page: its third axis is against L
    time, trail = construction.time[subset], herpolhode_curve(construction)
    R_WB = rotation_from_quaternion(construction.quaternion[subset])
    rotations = up @ R_WB @ construction.axes
    reach = 1.12 * float(construction.semi_axes.max())  # half the width of what is shown
    curves, separatrix = polhode_family(construction.moments)

    def listed(array: Array) -> list:
        return np.round(array / reach, _COORDINATE_DECIMALS).tolist()

    data = json.dumps(  # numbers only, so nothing in it can end the script element
        {
            "inertia": (construction.moments * reach**2).tolist(),  # Σ I x² = 1, x in `reach`
            "rotations": np.round(rotations.reshape(-1, 9), _COORDINATE_DECIMALS).tolist(),
            "contact": listed(construction.herpolhode[subset] @ up.T),
            "trail": listed(trail.points @ up.T),
            "drawn": np.searchsorted(trail.time, time, side="right").tolist(),  # points so far
            "distance": construction.distance / reach,
            "curves": [listed(curve[::3]) for curve in curves],
            "separatrix": [listed(curve[::3]) for curve in separatrix],
            "polhode": listed(polhode_curve(construction)),
            "time": np.round(time, 6).tolist(),
            "view": _VIEW_DIRECTION.axes.tolist(),
        },
        separators=(",", ":"),
        allow_nan=False,
    )
    return render_page(
        "poinsot.html",
        (),
        data=data,
        facts=_describe_construction(construction, describe_extent(trail)),
    )


def _describe_construction(construction: Poinsot, extent_text: str) -> list[tuple[str, str]]:
    """Describe a Poinsot construction: moments, invariants and any cut of the herpolhode."""
    invariants = construction.invariants
    moments = ", ".join(format_significant(x, 4) for x in construction.moments)
    facts = [
        ("principal moments", f"{moments} kg m²"),
        ("kinetic energy K", f"{format_significant(float(invariants.kinetic_energy), 4)} J"),
        (
            "angular momentum |L|",
            f"{format_significant(float(invariants.angular_momentum), 4)} kg m²/s",
        ),
        ("plane at √(2K)/|L|", f"{format_significant(construction.distance, 4)} {LENGTH_UNIT}"),
    ]
    if np.isfinite(invariants.period):
        turn = float(np.rad2deg(invariants.precession))
        facts += [
            ("period of ω", f"{format_significant(float(invariants.period), 4)} s"),
            ("precession a period", f"{format_significant(turn, 4)}°"),
        ]
    if extent_text:
        facts.append(("herpolhode drawn", extent_text.removeprefix("; ")))
    return facts
