"""Lengths that cannot be metres, told by the mass."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from identify.arrays import Array
from identify.estimation.errors import TermError

_LIGHTEST_CUBE, _DENSEST_CUBE = 1e-4, 3e4
"""Mass over the cube of the longest side [kg/m³]. Solids of the lightest stuff, and straws a
metre long, have more than ten times the least; a slip of a thousand in length is a factor of 1e9.
Osmium has 22 600."""


_FLAT_SHARE = 1e-9
"""Thickness, in shares of the length, that is none."""


def require_metres(what: str, mass: float, longest: float, *, filled: bool) -> None:
    """Raise unless a body of some mass may have a size.

    Args:
        what: words for the shape, such as "box of the mass".
        mass: [kg].
        longest: longest side of a box around it [m].
        filled: whether all of the mass has to be in it, so that it may be too small as well.

    Raises:
        TermError: it has to be lighter than any body, or denser.
    """
    density = abs(mass) / longest**3
    said = f"{what}: {longest:g} m long, which with the {mass:.3g} kg of the data makes at most"
    if density < _LIGHTEST_CUBE:
        raise TermError(
            f"{said} {density:.1e} kg/m³, lighter than any body: its lengths look like "
            "millimetres; give them in metres"
        )
    if filled and density > _DENSEST_CUBE:
        raise TermError(
            f"{what}: {longest:g} m long, into which the {mass:.3g} kg of the data go only at "
            f"{density:.1e} kg/m³ or more, denser than any material: check its lengths [m], and "
            "the units of the log"
        )


def sealed_points(points: object, what: str) -> tuple[tuple[float, float, float], ...]:
    """Points [m], shape (n, 3), as a term keeps them.

    Raises:
        TermError: they are not finite numbers, three a point.
    """
    try:
        array = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TermError(
            f"{what}: expected finite points [m], three numbers each, got {points!r}: {error}"
        ) from error
    if array.ndim != 2 or array.shape[1] != 3 or not (len(array) and np.isfinite(array).all()):
        raise TermError(
            f"{what}: expected finite points [m], three numbers each, got {array.tolist()} of "
            f"shape {array.shape}"
        )
    return tuple((float(x), float(y), float(z)) for x, y, z in array)


def flat(points: Sequence[Sequence[float]]) -> bool:
    """Whether points lie in a plane."""
    away = np.array(points) - np.mean(points, axis=0)
    thickness = np.linalg.svd(away, compute_uv=False)
    return len(points) < 4 or bool(thickness[-1] <= _FLAT_SHARE * thickness[0])


def longest_side(points: Sequence[Sequence[float]] | Array) -> float:
    """Of the box around points along the axes [m]."""
    return float(np.ptp(np.asarray(points), axis=0).max())
