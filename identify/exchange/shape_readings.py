"""Readings of a link's numbers by other conventions, of which the link's shape shows the right one.

A link whose inertia is that of its shape, filled with uniform density, in another convention (about
the origin, in other axes, another order, sign or unit) is written wrong, and the corrected numbers
are known. Where neither the numbers nor a reading of them fit, as of hollow links or those with
motors inside, the shape decides nothing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Flags, Indices, Mat33, Phi, Vec3
from identify.exchange.link_geometry import ShapeInertia
from identify.exchange.link_inertia import LinkInertia
from identify.inertia.conventions.axes import rotation_from_rpy
from identify.inertia.conventions.orders import ENTRY_ORDERS
from identify.inertia.matrices import (
    inertia_about_com,
    inertia_from_second_moment,
    phi_from_inertia,
    second_moment_from_inertia,
    symmetric_from_entries,
)

_MAX_DEVIATION = 0.1
"""Largest deviation from the shape of a reading that fits, see `_deviations`."""

_MIN_DEVIATION_AS_WRITTEN = 0.02
"""Smallest deviation from the shape of numbers that clearly do not fit."""

_UNIT_TOLERANCE = 0.01
"""Largest relative difference of a scale from that of a unit, per natural logarithm of the scale:
small scales are met by coincidence."""

_MIN_IMPROVEMENT = 4.0
"""Smallest ratio of the deviations as written and as read."""

_MAX_HULL_STEPS = 100
"""Maximum number of steps of the search for the nearest point of a convex hull."""

LIGHTEST_MATERIAL, DENSEST_MATERIAL = 10.0, 22_600.0
"""Densities of light foam and of osmium [kg/m³]."""

_USUAL_DENSITIES = 100.0, 12_000.0
"""Range of densities of links [kg/m³]; a unit that puts a link outside is less likely."""

_MATERIALS = {
    "water": 1000.0,
    "ABS": 1040.0,
    "PLA": 1240.0,
    "aluminium": 2700.0,
    "titanium": 4430.0,
    "steel": 7850.0,
}
"""Densities of materials [kg/m³] between which a change is recognised."""

_MATERIAL_TOLERANCE = 0.01
"""Largest relative difference of a density from that of a material."""

_SIZE_MISTAKES = {
    (2.0, 2.0, 1.0): "the diameter in place of the radius",
    (0.5, 0.5, 1.0): "half the radius",
    (1.0, 1.0, 2.0): "twice the length",
    (1.0, 1.0, 0.5): "half the length",
    (2.0, 2.0, 2.0): "twice its sizes",
    (0.5, 0.5, 0.5): "half its sizes",
}
"""Factors of the sizes of a shape along its axes, and what they are."""

_TYPED_FACTORS = {10.0: "10 times too large", 100.0: "100 times too large"} | {
    0.1: "10 times too small",
    0.01: "100 times too small",
}
"""Factors of an inertia by a decimal point."""

ONE_NUMBER = "one of its six numbers is not its shape's, as the others are"
"""Text of the correction of one number by that of the shape."""

_BY_ROWS = ENTRY_ORDERS["urdf"]
_PRODUCTS = ("xy", "xz", "yz")
_MOMENTS = ("xx", "yy", "zz")
_PLACES = {name: ("xyz".index(name[0]), "xyz".index(name[1])) for name in _BY_ROWS}
"""Row and column of the entries of an inertia by name."""

_MASS_UNITS = {"kg": 1.0, "g": 1e-3, "t": 1e3, "lb": 0.45359237, "oz": 0.45359237 / 16.0}
_LENGTH_UNITS = {"m": 1.0, "mm": 1e-3, "cm": 1e-2, "in": 0.0254, "ft": 0.3048}
_INERTIA_UNITS = (
    *(("kg", "m"), ("kg", "mm"), ("kg", "cm"), ("g", "mm"), ("g", "cm"), ("g", "m"), ("g", "in")),
    *(("t", "mm"), ("lb", "in"), ("lb", "ft"), ("oz", "in")),
)
"""Units of inertia, as a mass and a length, that programs print."""


class WrittenBody(NamedTuple):
    """Numbers of a link as they are written, or corrected.

    Attributes:
        mass: [kg].
        com: in the link's axes, from its origin [m], shape (3,).
        axes: R_LC of the axes C of the inertia in the link's, shape (3, 3).
        inertia: about the centre of mass in C [kg m²], shape (3, 3).
        order: of the six numbers in the file, by its name in `ENTRY_ORDERS`.
        axes_in_other_unit: R_LC if its angles are in degrees instead of radians, or vice versa.
    """

    mass: float
    com: Vec3
    axes: Mat33
    inertia: Mat33
    order: str
    axes_in_other_unit: Mat33

    @property
    def inertia_in_link(self) -> Mat33:
        """Inertia about the centre of mass in the link's axes [kg m²]."""
        return self.axes @ self.inertia @ self.axes.T

    def with_inertia_in_link(self, inertia: Mat33) -> WrittenBody:
        """Return the body with another inertia about its centre of mass, in the link's axes."""
        return self._replace(inertia=self.axes.T @ inertia @ self.axes)


class UniformBody(NamedTuple):
    """Shape of a link filled with uniform density to the link's mass.

    Attributes:
        density: [kg/m³].
        volume: [m³].
        com: its centre of mass in the link's axes, from its origin [m], shape (3,).
        inertia: about it, in the link's axes [kg m²], shape (3, 3).
        parts: inertia of each part about its own centre of mass [kg m²], shape (k, 3, 3).
        rotations: R_LP of the parts' own axes P in the link's, shape (k, 3, 3).
        corners: of the parts' bounding boxes, in the link's axes [m], shape (n, 3).
    """

    density: float
    volume: float
    com: Vec3
    inertia: Mat33
    parts: Mat33
    rotations: Mat33
    corners: Vec3

    @classmethod
    def of_shape(cls, shape: ShapeInertia, mass: float) -> UniformBody:
        """Fill a shape to a mass [kg]."""
        phi = shape.phi
        density = mass / float(phi[0])
        return cls(
            density,
            float(phi[0]),
            phi[1:4] / phi[0],
            density * inertia_about_com(phi),
            density * inertia_about_com(shape.parts),
            shape.rotations,
            shape.corners,
        )


class ShapeReading(NamedTuple):
    """Reading of a link's numbers in another convention, under which they fit the link's shape.

    Attributes:
        text: what is wrong, with the numbers before and after.
        fit: how far the link is from its shape as written and as read.
        body: the corrected numbers.
        moves_mass: whether mass or centre of mass are corrected.
    """

    text: str
    fit: str
    body: WrittenBody
    moves_mass: bool

    def central_phi(self, axes: Mat33) -> Phi:
        """Return the ten parameters about the centre of mass in axes C, given as R_LC."""
        return phi_from_inertia(
            self.body.mass, np.zeros(3), axes.T @ self.body.inertia_in_link @ axes
        )


Correction = Callable[[WrittenBody, UniformBody], WrittenBody]


def _about_origin(times: float) -> Correction:
    """Return the correction of an inertia with so many parallel-axis terms too many."""
    return lambda body, _: body.with_inertia_in_link(
        body.inertia_in_link - times * body.mass * _parallel_axis(body.com)
    )


def _parallel_axis(com: Vec3) -> Mat33:
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
        row, column = _PLACES["".join(sorted(name))]
        place = _PLACES["".join(sorted(place))]
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
    xx, xy, xz, _, yy, yz = (body.inertia[_PLACES[name]] for name in places)
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
    if abs(trace / uniform_trace - 1.0) > _MAX_DEVIATION:
        return body
    limit = _MAX_DEVIATION * math.sqrt(0.5 * uniform_trace / body.mass)
    outside = _distance_to_hull(body.com, uniform.corners, limit) > limit
    return body._replace(com=uniform.com) if outside else body


def _without_com(correct: Correction) -> Correction:
    """Return the correction of a link without a centre of mass, and of its inertia about it."""

    def corrected(body: WrittenBody, uniform: UniformBody) -> WrittenBody:
        if body.com.any():
            return body
        return _exact(correct(body._replace(com=uniform.com), uniform), body, uniform)

    return corrected


def _exact(read: WrittenBody, body: WrittenBody, uniform: UniformBody) -> WrittenBody:
    """Return a corrected body if it is its shape but for rounding, else the body as written."""
    return read if _deviations([read], uniform)[0] < _MIN_DEVIATION_AS_WRITTEN else body


def _other_size(factors: tuple[float, float, float]) -> Correction:
    """Return the correction of the inertia of one part with sizes in its axes times factors."""

    def correct(body: WrittenBody, uniform: UniformBody) -> WrittenBody:
        if len(uniform.parts) > 1:
            return body
        D = uniform.rotations[0] @ np.diag(1.0 / np.array(factors)) @ uniform.rotations[0].T
        second = D @ second_moment_from_inertia(body.inertia_in_link) @ D
        read = body.with_inertia_in_link(inertia_from_second_moment(second))
        return _exact(read, body, uniform)

    return correct


def _without_products(body: WrittenBody, uniform: UniformBody) -> WrittenBody:
    """Correct products of inertia that are all zero, and far from those of the shape."""
    products = ~np.eye(3, dtype=bool)
    if body.inertia[products].any() or _deviations([body], uniform)[0] < _MAX_DEVIATION:
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
    yield f"its inertia is about the link's origin, not about the {point}", _about_origin(1.0)
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
    yield "its inertia has the parallel-axis term twice", _about_origin(2.0)
    yield f"its inertia was moved to the {point} twice", _about_origin(-1.0)
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
    yield f"its {point} is outside its shapes", _centre_inside
    at_origin = f"its {point} is left at the link's origin"
    yield at_origin, _without_com(lambda body, _: body)
    yield f"{at_origin}, and its inertia is about it", _without_com(_about_origin(1.0))
    yield f"{at_origin}, and its inertia in the axes of its shapes", _without_com(_parts_turned)
    for factors, text in _SIZE_MISTAKES.items():
        yield f"its inertia is that of its shape with {text}", _other_size(factors)
    yield "its products of inertia are missing", _without_products
    yield ONE_NUMBER, _other_number


CORRECTIONS = tuple(_corrections())
"""Likely errors of convention, the likeliest first: what is wrong, and its correction."""


def read_by_shape(link: LinkInertia, shape: ShapeInertia) -> ShapeReading | None:
    """Return the reading under which a link's numbers fit its shape, if they clearly do not now.

    None if they fit as written, and if no reading fits: then the shape decides nothing.
    """
    written = _written_body(link)
    if written is None or link.placeholder_warning:
        return None
    uniform = UniformBody.of_shape(shape, written.mass)
    if not (written.inertia.any() and np.diag(uniform.inertia).min() > 0.0):
        return None
    as_written = float(_deviations([written], uniform)[0])
    if as_written < _MIN_DEVIATION_AS_WRITTEN:
        return None
    forms = [written]
    if written.order == "diagonal":  # as converted from six numbers in the link's axes
        forms.append(
            written._replace(axes=np.eye(3), inertia=written.inertia_in_link, order="urdf")
        )
    candidates = [
        *_unit_corrections(written, uniform),
        *((text, correct(form, uniform)) for form in forms for text, correct in CORRECTIONS),
    ]
    deviations = _deviations([body for _, body in candidates], uniform)
    best = float(deviations.min())
    if best > min(_MAX_DEVIATION, as_written / _MIN_IMPROVEMENT):
        return None
    # The likeliest of those that fit about as well as the best.
    index = int(np.argmax(deviations <= 1.5 * best + 0.002))
    text, body = candidates[index]
    return ShapeReading(
        f"{text}: {_changes(written, body)}",
        f"off {shape.description} of uniform density by {100.0 * as_written:.3g} % as written, by "
        f"{100.0 * deviations[index]:.1f} % as read",
        body,
        moves_mass=body.mass != written.mass or bool((body.com != written.com).any()),
    )


def _written_body(link: LinkInertia) -> WrittenBody | None:
    """Return the numbers of a link with a mass in a model's file; None for other links."""
    if link.phi is None or link.printed is None or link.line is None or not link.phi[0] > 0.0:
        return None
    mass = float(link.phi[0])
    six = symmetric_from_entries(link.printed[4:])
    axes = link.axes if link.axes_in_other_unit is None else link.axes_in_other_unit
    return WrittenBody(mass, link.phi[1:4] / mass, link.axes, six, link.order, axes)


def shape_warning(link: LinkInertia, shape: ShapeInertia) -> str:
    """Return a warning of a link that is its shape, filled, but for its place or its density."""
    written = _written_body(link)
    if written is None:
        return ""
    uniform = UniformBody.of_shape(shape, written.mass)
    as_written, at_shape = _deviations([written, written._replace(com=uniform.com)], uniform)
    if as_written > _MAX_DEVIATION:
        if at_shape >= _MIN_DEVIATION_AS_WRITTEN:
            return ""
        distance = float(np.linalg.norm(written.com - uniform.com))
        return (
            f"its inertia is that of {shape.description}, and its centre of mass is {distance:.3g} "
            f"m from that of the shape: is that meant?"
        )
    if LIGHTEST_MATERIAL <= uniform.density <= DENSEST_MATERIAL:
        return ""
    which = "lighter than foam" if uniform.density < LIGHTEST_MATERIAL else "denser than osmium"
    return (
        f"its {written.mass:.4g} kg are {uniform.density:.3g} kg/m³ of {shape.description}, "
        f"{which}: is its mass in kg?"
    )


def _deviations(bodies: Sequence[WrittenBody], uniform: UniformBody) -> Array:
    """Return how far bodies are from a shape of their mass and of uniform density, shape (n,).

    This is the largest |ΔI_ij| / √(I_ii I_jj) about the centre of mass in the link's axes, with I
    of the shape, and the distance of the centres of mass over the shape's radius of gyration.
    """
    total = uniform.density * uniform.volume
    masses = np.array([body.mass for body in bodies]) / total
    inertias = np.array([body.inertia for body in bodies]) / masses[:, None, None]
    axes = np.array([body.axes for body in bodies])
    excess = axes @ inertias @ np.swapaxes(axes, -1, -2) - uniform.inertia
    sizes = np.sqrt(np.diag(uniform.inertia))
    off = np.abs(excess / (sizes[:, None] * sizes)).max(axis=(-2, -1))
    distances = np.linalg.norm(np.array([body.com for body in bodies]) - uniform.com, axis=-1)
    return np.maximum(off, distances / math.sqrt(0.5 * float(np.trace(uniform.inertia)) / total))


def _unit_corrections(body: WrittenBody, uniform: UniformBody) -> Iterator[tuple[str, WrittenBody]]:
    """Yield corrections of units, and of a density of another material, the likeliest first."""
    inertia_ratio = float(np.trace(body.inertia) / np.trace(uniform.inertia))
    centre_ratio = float(body.com @ uniform.com / max(float(uniform.com @ uniform.com), 1e-300))
    mass, length, inertia = _UNIT_FACTORS.T
    fits = _is_scale(inertia_ratio, inertia / mass) & _is_scale(centre_ratio, length)
    density = uniform.density * mass
    fits &= (mass == 1.0) | ((density >= LIGHTEST_MATERIAL) & (density <= DENSEST_MATERIAL))
    unusual = (density < _USUAL_DENSITIES[0]) | (density > _USUAL_DENSITIES[1])
    unlikely = _UNIT_PENALTIES + 3 * unusual
    for i in sorted(np.flatnonzero(fits), key=unlikely.__getitem__):
        yield _UNIT_TEXTS[i], _rescaled(body, _UNIT_FACTORS[i])
    for factor, text in _TYPED_FACTORS.items():
        if abs(inertia_ratio / factor - 1.0) <= _UNIT_TOLERANCE:
            yield f"its inertia is {text}", body._replace(inertia=body.inertia / factor)
    if abs(inertia_ratio * body.mass - 1.0) <= _UNIT_TOLERANCE:
        yield "its inertia is that of 1 kg", body._replace(inertia=body.mass * body.inertia)
    by_inertia = next(_materials(inertia_ratio * uniform.density), None)
    by_mass = next(_materials(uniform.density), None)
    if by_inertia and by_mass and by_inertia != by_mass:
        text = f"its inertia is that of {by_inertia}, its mass that of {by_mass}"
        yield text, body._replace(inertia=body.inertia / inertia_ratio)


def _is_scale(ratio: float, factor: Array) -> Flags:
    """Return which factors explain the ratio of numbers as written and expected; 1 always does."""
    tolerance = np.minimum(_UNIT_TOLERANCE * np.abs(np.log(factor)), _MAX_DEVIATION)
    return (factor == 1.0) | (np.abs(ratio * factor - 1.0) <= tolerance)


def _rescaled(body: WrittenBody, factors: Array) -> WrittenBody:
    mass, length, inertia = factors
    return body._replace(
        mass=float(mass * body.mass), com=length * body.com, inertia=inertia * body.inertia
    )


def _materials(density: float) -> Iterator[str]:
    """Yield the materials of a density, with it."""
    for name, value in _MATERIALS.items():
        if abs(density / value - 1.0) <= _MATERIAL_TOLERANCE:
            yield f"{name} ({value:g} kg/m³)"


def _unit_systems() -> Iterator[tuple[str, int, tuple[float, float, float]]]:
    """Yield units of mass, length and inertia that are not all SI: text, how unlikely, factors.

    Fewer units that are not SI are likelier, and an inertia in the units of mass and length.
    """
    units = itertools.product(_MASS_UNITS, _LENGTH_UNITS, _INERTIA_UNITS)
    for mass, length, (inertia_mass, inertia_length) in units:
        inertia = f"{inertia_mass} {inertia_length}²"
        given = (
            ("mass", mass, "kg"),
            ("centre of mass", length, "m"),
            ("inertia", inertia, "kg m²"),
        )
        foreign = [(name, unit) for name, unit, si in given if unit != si]
        mixed = (mass != inertia_mass and "kg" not in (mass, inertia_mass)) or (
            length != inertia_length and "m" not in (length, inertia_length)
        )
        if mixed or not foreign:
            continue
        unlikely = 2 * len(foreign) + (inertia_mass != mass) + (inertia_length != length)
        text = ", ".join(f"its {name} is in {unit}" for name, unit in foreign)
        scale = _MASS_UNITS[inertia_mass] * _LENGTH_UNITS[inertia_length] ** 2
        yield text, unlikely, (_MASS_UNITS[mass], _LENGTH_UNITS[length], scale)


_SYSTEMS = tuple(_unit_systems())
_UNIT_TEXTS = tuple(text for text, _, _ in _SYSTEMS)
_UNIT_PENALTIES = np.array([unlikely for _, unlikely, _ in _SYSTEMS])
_UNIT_FACTORS = np.array([factors for _, _, factors in _SYSTEMS])


def _changes(before: WrittenBody, after: WrittenBody) -> str:
    """Format the numbers that a correction changes, the inertia in the axes of the file."""
    numbers = [("mass", before.mass, after.mass, " kg")]
    numbers += zip("xyz", before.com, after.com, [" m"] * 3, strict=True)
    inertia = before.axes.T @ after.inertia_in_link @ before.axes
    numbers += [
        (f"i{name}", before.inertia[place], inertia[place], "") for name, place in _PLACES.items()
    ]
    size = float(np.abs(inertia).max())
    changed = [
        f"{name} {was:.4g} → {0.0 if abs(now) < 1e-9 * size else now:.4g}{unit}"
        for name, was, now, unit in numbers
        if abs(now - was) > 1e-6 * (abs(now) if unit else size)
    ]
    return ", ".join(changed) + (" kg m²" if changed and not changed[-1][-1].isalpha() else "")
