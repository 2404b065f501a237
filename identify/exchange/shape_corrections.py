"""Corrections of likely errors of convention in a link's numbers, the likeliest first."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np

from identify.arrays import Indices, Mat33, Vec3
from identify.exchange.written_bodies import (
    MAX_DEVIATION,
    MIN_DEVIATION_AS_WRITTEN,
    UniformBody,
    WrittenBody,
    deviations_from_shape,
)
from identify.inertia.conventions.axes import rotation_from_rpy
from identify.inertia.conventions.orders import ENTRY_ORDERS
from identify.inertia.matrices import inertia_from_second_moment, second_moment_from_inertia

_MAX_HULL_STEPS = 100
"""Maximum number of steps of the search for the nearest point of a convex hull."""

_SIZE_MISTAKES = {
    (2.0, 2.0, 1.0): "the diameter in place of the radius",
    (0.5, 0.5, 1.0): "half the radius",
    (1.0, 1.0, 2.0): "twice the length",
    (1.0, 1.0, 0.5): "half the length",
    (2.0, 2.0, 2.0): "twice its sizes",
    (0.5, 0.5, 0.5): "half its sizes",
}
"""Factors of the sizes of a shape along its axes, and what they are."""

_FORMULAS = {
    "a box": (1 / 12, 1 / 12, 1 / 12),
    "an ellipsoid": (1 / 20, 1 / 20, 1 / 20),
    "a cylinder along z": (1 / 16, 1 / 16, 1 / 12),
}
"""Second moments of solids along their axes, over their mass and the square of their extents."""

_SAME_FORMULA = 1e-3
"""Largest relative difference of second moments by one formula."""

ONE_NUMBER = "one of its six numbers is not its shape's, as the others are"
"""Text of the correction of one number by that of the shape."""

_BY_ROWS = ENTRY_ORDERS["urdf"]
_PRODUCTS = ("xy", "xz", "yz")
_MOMENTS = ("xx", "yy", "zz")
ENTRY_PLACES = {name: ("xyz".index(name[0]), "xyz".index(name[1])) for name in _BY_ROWS}
"""Row and column of the entries of an inertia by name."""

Correction = Callable[[WrittenBody, UniformBody], WrittenBody]


def about_origin(times: float) -> Correction:
    """Return the correction of an inertia with so many parallel-axis terms too many."""
    return lambda body, _: body.with_inertia_in_link(
        body.inertia_in_link - times * body.mass * parallel_axis(body.com)
    )


def parallel_axis(com: Vec3) -> Mat33:
    """Return cᵀc 1 − c cᵀ, which times the mass is the parallel-axis term."""
    return float(com @ com) * np.eye(3) - np.outer(com, com)


def _parts_shifted(times: float) -> Correction:
    """Return the correction of a sum of parts whose parallel-axis terms are missing or doubled."""
    return lambda body, uniform: body.with_inertia_in_link(
        body.inertia_in_link - times * (uniform.inertia - uniform.parts.sum(axis=0))
    )


def _parts_turned(body: WrittenBody, uniform: UniformBody) -> WrittenBody:
    """Correct a sum of parts, each in its own axes instead of the link's."""
    R = uniform.rotations
    in_own_axes = np.swapaxes(R, -1, -2) @ uniform.parts @ R
    turn = (uniform.parts - in_own_axes).sum(axis=0)
    return body.with_inertia_in_link(body.inertia_in_link + turn)


def _mapped(matrix: Mat33, *, com: bool = True, inertia: bool = True) -> Correction:
    """Return the correction of numbers in axes that are turned or mirrored by a matrix."""

    def correct(body: WrittenBody, _: UniformBody) -> WrittenBody:
        if inertia:
            body = body.with_inertia_in_link(matrix @ body.inertia_in_link @ matrix.T)
        return body._replace(com=matrix @ body.com) if com else body

    return correct


def _products_negated(signs: tuple[int, int, int]) -> Correction:
    """Return the correction of the signs of the products xy, xz and yz as written."""
    xy, xz, yz = signs
    factors = np.array([[1, xy, xz], [xy, 1, yz], [xz, yz, 1]], dtype=np.float64)
    return lambda body, _: body._replace(inertia=body.inertia * factors)


def _in_order(names: tuple[str, ...]) -> Correction:
    """Return the correction of six numbers that are in another order than the file's."""

    def correct(body: WrittenBody, _: UniformBody) -> WrittenBody:
        index = _written_places(names, ENTRY_ORDERS.get(body.order, names))
        return body._replace(inertia=body.inertia.ravel()[index])

    return correct


@cache
def _written_places(names: tuple[str, ...], places: tuple[str, ...]) -> Indices:
    """Return for each entry of an inertia the flat index where it is written, shape (3, 3)."""
    index = np.empty((3, 3), dtype=np.intp)
    for name, place in zip(names, places, strict=True):
        row, column = ENTRY_PLACES["".join(sorted(name))]
        place = ENTRY_PLACES["".join(sorted(place))]
        index[row, column] = index[column, row] = np.ravel_multi_index(place, (3, 3))
    return index


def _products_in_order(products: tuple[str, ...]) -> Correction:
    """Return the correction of products that are in this order instead of xy, xz, yz."""
    written: dict[str, str] = dict(zip(_PRODUCTS, products, strict=True))
    return _in_order(tuple(written.get(name, name) for name in _BY_ROWS))


def _moments_in_order(moments: tuple[str, ...]) -> Correction:
    """Return the correction of moments that are in this order instead of xx, yy, zz."""
    written = [_MOMENTS.index(name) for name in moments]

    def correct(body: WrittenBody, _: UniformBody) -> WrittenBody:
        inertia = body.inertia.copy()
        inertia[written, written] = np.diag(body.inertia)
        return body._replace(inertia=inertia)

    return correct


def _principal(body: WrittenBody, uniform: UniformBody) -> WrittenBody:
    """Correct principal moments without their axes, by the principal axes of the shape."""
    if np.triu(body.inertia, 1).any() or (body.axes != np.eye(3)).any():
        return body
    _, axes = np.linalg.eigh(uniform.inertia)
    return body._replace(inertia=(axes * np.sort(np.diag(body.inertia))) @ axes.T)


def _row_by_row(body: WrittenBody, uniform: UniformBody) -> WrittenBody:
    """Correct numbers that are xx, xy, xz, yx, yy, yz; the lost zz is the shape's."""
    places = ENTRY_ORDERS.get(body.order, _BY_ROWS)
    xx, xy, xz, _, yy, yz = (body.inertia[ENTRY_PLACES[name]] for name in places)
    zz = body.axes[:, 2] @ uniform.inertia @ body.axes[:, 2]
    return body._replace(inertia=np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def _other_number(body: WrittenBody, uniform: UniformBody) -> WrittenBody:
    """Correct the one of the six numbers that is farthest from the shape's, by the shape's."""
    expected = body.axes.T @ uniform.inertia @ body.axes
    sizes = np.sqrt(np.diag(expected))
    off = np.triu(np.abs(body.inertia - expected) / (sizes[:, None] * sizes))
    row, column = np.unravel_index(int(off.argmax()), (3, 3))
    inertia = body.inertia.copy()
    inertia[row, column] = inertia[column, row] = expected[row, column]
    return body._replace(inertia=inertia)


def _centre_inside(body: WrittenBody, uniform: UniformBody) -> WrittenBody:
    """Correct a centre of mass outside the convex hull of the shapes, if the inertia may fit."""
    trace, uniform_trace = float(np.trace(body.inertia)), float(np.trace(uniform.inertia))
    if abs(trace / uniform_trace - 1.0) > MAX_DEVIATION:
        return body
    limit = MAX_DEVIATION * math.sqrt(0.5 * uniform_trace / body.mass)
    outside = _distance_to_hull(body.com, uniform.corners, limit) > limit
    return body._replace(com=uniform.com) if outside else body


def _without_com(correct: Correction) -> Correction:
    """Return the correction of a link without a centre of mass, and of its inertia about it."""

    def corrected(body: WrittenBody, uniform: UniformBody) -> WrittenBody:
        if body.com.any():
            return body
        return exactly(correct(body._replace(com=uniform.com), uniform), body, uniform)

    return corrected


def exactly(read: WrittenBody, body: WrittenBody, uniform: UniformBody) -> WrittenBody:
    """Return a corrected body if it is its shape but for rounding, else the body as written."""
    return read if deviations_from_shape([read], uniform)[0] < MIN_DEVIATION_AS_WRITTEN else body


def _other_size(factors: tuple[float, float, float]) -> Correction:
    """Return the correction of the inertia of one part with sizes in its axes times factors."""

    def correct(body: WrittenBody, uniform: UniformBody) -> WrittenBody:
        if len(uniform.parts) > 1:
            return body
        D = uniform.rotations[0] @ np.diag(1.0 / np.array(factors)) @ uniform.rotations[0].T
        second = D @ second_moment_from_inertia(body.inertia_in_link) @ D
        read = body.with_inertia_in_link(inertia_from_second_moment(second))
        return exactly(read, body, uniform)

    return correct


def _other_formula(name: str) -> Correction:
    """Return the correction of the inertia of one solid that is that of another, as large.

    A box about an ellipsoid has the inertia of a thin shell of it, and is no mistake.
    """

    def correct(body: WrittenBody, uniform: UniformBody) -> WrittenBody:
        if len(uniform.parts) > 1:
            return body
        R = uniform.rotations[0]
        squares = np.square(uniform.corners[[4, 2, 1]] - uniform.corners[0]).sum(axis=1)

        def factors(inertia: Mat33) -> Mat33:
            return R.T @ (second_moment_from_inertia(inertia) / body.mass) @ R / squares

        of_shape, written = factors(uniform.inertia), factors(body.inertia_in_link)
        kind = next((k for k, f in _FORMULAS.items() if _is_close(of_shape, f, 1e-6)), name)
        if {kind, name} == {"an ellipsoid", "a box"} and kind != "a box":
            return body
        same = kind != name and _is_close(written, _FORMULAS[name], _SAME_FORMULA)
        return body.with_inertia_in_link(uniform.inertia) if same else body

    return correct


def _is_close(factors: Mat33, formula: tuple[float, float, float], tolerance: float) -> bool:
    return bool(np.abs(factors - np.diag(formula)).max() <= tolerance * max(formula))


def _without_products(body: WrittenBody, uniform: UniformBody) -> WrittenBody:
    """Correct products of inertia that are all zero, and far from those of the shape."""
    products = ~np.eye(3, dtype=bool)
    if body.inertia[products].any() or deviations_from_shape([body], uniform)[0] < MAX_DEVIATION:
        return body
    expected = body.axes.T @ uniform.inertia @ body.axes
    return body._replace(inertia=np.where(products, expected, body.inertia))


def _distance_to_hull(point: Vec3, corners: Vec3, tolerance: float) -> float:
    """Return the distance of a point from the convex hull of corners [m]; 0 up to the tolerance.

    Gilbert's algorithm (1966): from the nearest point so far, a line search to the corner farthest
    along the gradient.
    """
    offsets = corners - point
    nearest = offsets.mean(axis=0)
    square = float(nearest @ nearest)
    for _ in range(_MAX_HULL_STEPS):
        corner = offsets[int(np.argmin(offsets @ nearest))]
        if square <= tolerance**2:
            return 0.0
        if square - float(corner @ nearest) <= 1e-3 * square:
            break
        step = nearest - corner
        nearest = nearest - min(1.0, float(nearest @ step) / float(step @ step)) * step
        square = float(nearest @ nearest)
    return math.sqrt(square)


def _corrections() -> Iterator[tuple[str, Correction]]:
    """Yield the likely errors of convention, except of units: what is wrong, and its correction."""
    point = "centre of mass"
    yield f"its inertia is about the link's origin, not about the {point}", about_origin(1.0)
    yield (
        "its inertia is in the link's axes already, and rpy turns it again",
        lambda body, _: body._replace(axes=np.eye(3)),
    )
    yield (
        "its angles are in degrees where radians are expected, or vice versa",
        lambda body, _: body._replace(axes=body.axes_in_other_unit),
    )
    yield "its rpy is the inverse rotation", lambda body, _: body._replace(axes=body.axes.T)
    yield "its parts are added without their parallel-axis terms", _parts_shifted(-1.0)
    yield "its parts are added with their parallel-axis terms twice", _parts_shifted(1.0)
    yield "its inertia has the parallel-axis term twice", about_origin(2.0)
    yield f"its inertia was moved to the {point} twice", about_origin(-1.0)
    yield "its inertia is in the axes of its shapes, not in the link's", _parts_turned
    for products in itertools.permutations(_PRODUCTS):
        if products != _PRODUCTS:
            text = f"its products are in the order {', '.join(products)}"
            yield text, _products_in_order(products)
    for names in dict.fromkeys(ENTRY_ORDERS.values()):
        yield f"its six numbers are in the order {', '.join(names)}", _in_order(names)
    for moments in itertools.permutations(_MOMENTS):
        if moments != _MOMENTS:
            yield f"its moments are in the order {', '.join(moments)}", _moments_in_order(moments)
    yield "its six numbers are the matrix row by row (xx, xy, xz, yx, yy, yz)", _row_by_row
    yield "the signs of its three products are reversed", _products_negated((-1, -1, -1))
    for signs in ((-1, 1, 1), (1, -1, 1), (1, 1, -1), (-1, -1, 1), (-1, 1, -1), (1, -1, -1)):
        names = [f"i{n}" for n, sign in zip(_PRODUCTS, signs, strict=True) if sign < 0]
        text = f"the sign{'s' * (len(names) > 1)} of its {' and '.join(names)}"
        yield f"{text} {'are' if len(names) > 1 else 'is'} reversed", _products_negated(signs)
    for axis, letter in enumerate("xyz"):
        mirror = np.diag(np.where(np.arange(3) == axis, -1.0, 1.0))
        text = f"mirrored in {letter}, as of the link of the other side"
        yield f"its {point} and inertia are {text}", _mapped(mirror)
        yield f"its {point} is mirrored in {letter}", _mapped(mirror, inertia=False)
    yield f"the signs of its {point} are reversed", _mapped(-np.eye(3), inertia=False)
    for (axis, letter), degrees in itertools.product(enumerate("xyz"), (90, -90)):
        R = np.round(rotation_from_rpy(math.radians(degrees) * np.eye(3)[axis]))
        text = f"turned by {-degrees}° about {letter}"
        yield f"its inertia is {text}", _mapped(R, com=False)
        yield f"its {point} and inertia are {text}", _mapped(R)
    yield "its moments are principal ones without their axes", _principal
    at_origin = f"its {point} is left at the link's origin"
    yield at_origin, _without_com(lambda body, _: body)
    yield f"{at_origin}, and its inertia is about it", _without_com(about_origin(1.0))
    yield f"{at_origin}, and its inertia in the axes of its shapes", _without_com(_parts_turned)
    yield f"its {point} is outside its shapes", _centre_inside
    for factors, text in _SIZE_MISTAKES.items():
        yield f"its inertia is that of its shape with {text}", _other_size(factors)
    for name in _FORMULAS:
        yield f"its inertia is that of {name} as large as its shape", _other_formula(name)
    yield "its products of inertia are missing", _without_products
    yield ONE_NUMBER, _other_number


CORRECTIONS = tuple(_corrections())
"""Likely errors of convention, the likeliest first: what is wrong, and its correction."""
