"""Readings of a link's numbers by other conventions, of which the link's shape shows the right one.

A link whose inertia is that of its shape, filled with uniform density, in another convention (about
the origin, in other axes, another order, sign or unit) is written wrong, and the corrected numbers
are known. Where neither the numbers nor a reading of them fit, as of hollow links or those with
motors inside, the shape decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from identify.arrays import Mat33, Phi
from identify.exchange.link_geometry import ShapeInertia
from identify.exchange.link_inertia import AIR_DENSITY, MAX_MATERIAL_DENSITY, LinkInertia
from identify.exchange.shape_corrections import (
    CORRECTIONS,
    ENTRY_PLACES,
    ONE_NUMBER,
    about_origin,
    exactly,
    parallel_axis,
)
from identify.exchange.unit_corrections import (
    DENSEST_MATERIAL,
    LIGHTEST_MATERIAL,
    unit_corrections,
)
from identify.exchange.written_bodies import (
    MAX_DEVIATION,
    MIN_DEVIATION_AS_WRITTEN,
    UniformBody,
    WrittenBody,
    deviations_from_shape,
    written_body,
)
from identify.inertia.matrices import phi_from_inertia

_MIN_IMPROVEMENT = 4.0
"""Smallest ratio of the deviations as written and as read."""

_MAX_DEVIATION_OF_OTHERS = 0.01
"""Largest deviation of the other numbers beside a single one that is not its shape's.

Two equal moments of a link with motors inside are within 7 % of those of a cylinder by chance.
"""


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


class ShapeFit(NamedTuple):
    """Numbers of a link beside its shape.

    Attributes:
        shape: of the link.
        uniform: the shape filled to the link's mass.
        written: the numbers.
        as_written: their deviation, see `deviations_from_shape`.
        at_shape: with the centre of mass of the shape.
    """

    shape: ShapeInertia
    uniform: UniformBody
    written: WrittenBody
    as_written: float
    at_shape: float


def fit_to_shape(link: LinkInertia, shape: ShapeInertia) -> ShapeFit | None:
    """Compare the numbers of a link with its shape; None without a mass in numbers or extent."""
    written = written_body(link)
    if written is None:
        return None
    uniform = UniformBody.of_shape(shape, written.mass)
    if not np.diag(uniform.inertia).min() > 0.0:
        return None
    bodies = [written, written._replace(com=uniform.com)]
    return ShapeFit(shape, uniform, written, *deviations_from_shape(bodies, uniform).tolist())


def read_by_shape(link: LinkInertia, fit: ShapeFit) -> ShapeReading | None:
    """Return the reading under which a link's numbers fit its shape, if they clearly do not now.

    None if they fit as written, and if no reading fits: then the shape decides nothing.
    """
    shape, uniform, written, as_written, _ = fit
    if as_written < MIN_DEVIATION_AS_WRITTEN or link.placeholder_warning:
        return None
    if not written.inertia.any():
        return None
    forms = [written]
    if written.order == "diagonal":  # as converted from six numbers in the link's axes
        forms.append(
            written._replace(axes=np.eye(3), inertia=written.inertia_in_link, order="urdf")
        )
    candidates = [
        *unit_corrections(written, uniform),
        *((text, correct(form, uniform)) for form in forms for text, correct in CORRECTIONS),
        *_units_about_origin(written, uniform),
    ]
    deviations = deviations_from_shape([body for _, body in candidates], uniform)
    single = np.array([text == ONE_NUMBER for text, _ in candidates])
    deviations[single & (deviations > _MAX_DEVIATION_OF_OTHERS)] = np.inf
    best = float(deviations.min())
    if best > min(MAX_DEVIATION, as_written / _MIN_IMPROVEMENT):
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


def _units_about_origin(
    written: WrittenBody, uniform: UniformBody
) -> Iterator[tuple[str, WrittenBody]]:
    """Yield corrections of units of an inertia that is also about the link's origin."""
    shift = uniform.density * uniform.volume * parallel_axis(uniform.com)
    correct = about_origin(1.0)
    for text, body in unit_corrections(written, uniform._replace(inertia=uniform.inertia + shift)):
        read = exactly(correct(body, uniform), written, uniform)
        yield f"{text}, and about the link's origin", read


def shape_warning(fit: ShapeFit) -> str:
    """Return a warning of a link that is its shape, filled, but for its place or its density."""
    shape, uniform, written, as_written, at_shape = fit
    is_other = as_written > MAX_DEVIATION
    if is_other and at_shape < MIN_DEVIATION_AS_WRITTEN:
        distance = float(np.linalg.norm(written.com - uniform.com))
        return (
            f"its inertia is that of {shape.description}, and its centre of mass is {distance:.3g} "
            f"m from that of the shape: is that meant?"
        )
    low, high = LIGHTEST_MATERIAL, DENSEST_MATERIAL
    if is_other:  # the shape may be a rough one
        low, high = AIR_DENSITY, MAX_MATERIAL_DENSITY
    if low <= uniform.density <= high:
        return ""
    which = "lighter than foam" if uniform.density < LIGHTEST_MATERIAL else "denser than osmium"
    return (
        f"its {written.mass:.4g} kg are {uniform.density:.3g} kg/m³ of {shape.description}, "
        f"{which}: is its mass in kg?"
    )


def _changes(before: WrittenBody, after: WrittenBody) -> str:
    """Format the numbers that a correction changes, the inertia in the axes of the file."""
    numbers = [("mass", before.mass, after.mass, " kg")]
    numbers += zip("xyz", before.com, after.com, [" m"] * 3, strict=True)
    inertia = before.axes.T @ after.inertia_in_link @ before.axes
    numbers += [
        (f"i{name}", before.inertia[place], inertia[place], "")
        for name, place in ENTRY_PLACES.items()
    ]
    size = float(np.abs(inertia).max())
    changed = [
        f"{name} {was:.4g} → {0.0 if abs(now) < 1e-9 * size else now:.4g}{unit}"
        for name, was, now, unit in numbers
        if abs(now - was) > 1e-6 * (abs(now) if unit else size)
    ]
    return ", ".join(changed) + (" kg m²" if changed and not changed[-1][-1].isalpha() else "")
