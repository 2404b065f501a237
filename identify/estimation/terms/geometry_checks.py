"""Checks of points and lengths in constraints: unit errors, coplanar points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from identify.arrays import Array
from identify.estimation.errors import TermError

_LIGHTEST_CUBE, _DENSEST_CUBE = 1e-4, 3e4
"""Plausible range of the mass over the cube of the longest side [kg/m³]. The lightest solids, and
straws a metre long, have more than ten times the lower limit; osmium has 22 600. A length in
millimetres changes the value by 1e9."""

_MAX_COPLANAR_THICKNESS = 1e-9
"""Thickness, relative to the length, below which points count as coplanar."""


def require_metres(shape: str, mass: float, longest: float, *, filled: bool) -> None:
    """Raise unless a shape's size in metres is plausible for a mass.

    `shape`: description of the shape, such as "box of the mass"; `mass`: mass of the body [kg];
    `longest`: longest side of the bounding box [m]; `filled`: whether all of the mass must be in
    the shape, so that it can be too small as well.
    Raises `TermError`: the density would be lower or higher than that of any body.
    """
    density = abs(mass) / longest**3
    lead = f"{shape}: {longest:g} m long, which for the {mass:.3g} kg of the data gives at most"
    if density < _LIGHTEST_CUBE:
        raise TermError(
            f"{lead} {density:.1e} kg/m³, lighter than any body: its lengths look like "
            "millimetres; give them in metres"
        )
    if filled and density > _DENSEST_CUBE:
        raise TermError(
            f"{shape}: {longest:g} m long, which for the {mass:.3g} kg of the data gives at least "
            f"{density:.1e} kg/m³, denser than any material: check its lengths [m], and the units "
            "of the log"
        )


def validated_points(points: object, shape: str) -> tuple[tuple[float, float, float], ...]:
    """Validate points [m], shape (n, 3), and convert them to tuples.

    Raises `TermError`: the points are not finite, or not three numbers each.
    """
    try:
        array = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TermError(
            f"{shape}: expected finite points [m], three numbers each, got {points!r}: {error}"
        ) from error
    if array.ndim != 2 or array.shape[1] != 3 or not (len(array) and np.isfinite(array).all()):
        raise TermError(
            f"{shape}: expected finite points [m], three numbers each, got {array.tolist()} of "
            f"shape {array.shape}"
        )
    return tuple((float(x), float(y), float(z)) for x, y, z in array)


def coplanar(points: Sequence[Sequence[float]]) -> bool:
    """Return whether points lie in a plane."""
    away = np.array(points) - np.mean(points, axis=0)
    thickness = np.linalg.svd(away, compute_uv=False)
    return len(points) < 4 or bool(thickness[-1] <= _MAX_COPLANAR_THICKNESS * thickness[0])


def longest_side(points: Sequence[Sequence[float]] | Array) -> float:
    """Return the longest side of the axis-aligned bounding box [m]."""
    return float(np.ptp(np.asarray(points), axis=0).max())
