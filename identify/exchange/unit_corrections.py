"""Corrections of the units of a link's numbers, and of the density of another material."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from identify.arrays import Array, Flags
from identify.exchange.body_formats.units import LENGTH_UNITS, MASS_UNITS
from identify.exchange.written_bodies import MAX_DEVIATION, UniformBody, WrittenBody
from identify.inertia.shapes import MATERIAL_DENSITIES

_UNIT_TOLERANCE = 0.01
"""Largest relative difference of a scale from that of a unit, per natural logarithm of the scale:
small scales are met by coincidence."""

LIGHTEST_MATERIAL, DENSEST_MATERIAL = 10.0, 22_600.0
"""Densities of light foam and of osmium [kg/m³]."""

_USUAL_DENSITIES = 100.0, 12_000.0
"""Range of densities of links [kg/m³]; a unit that puts a link outside is less likely."""

_MATERIALS = ("water", "abs", "pla", "aluminium", "titanium", "steel")
"""Materials between which a change is recognised."""

_MATERIAL_TOLERANCE = 0.01
"""Largest relative difference of a density from that of a material."""

_TYPED_FACTORS = {10.0: "10 times too large", 100.0: "100 times too large"} | {
    0.1: "10 times too small",
    0.01: "100 times too small",
}
"""Factors of an inertia by a decimal point."""

_MASSES, _LENGTHS = ("kg", "g", "t", "lb", "oz"), ("m", "mm", "cm", "in", "ft")
_INERTIA_UNITS = (
    *(("kg", "m"), ("kg", "mm"), ("kg", "cm"), ("g", "mm"), ("g", "cm"), ("g", "m"), ("g", "in")),
    *(("t", "mm"), ("lb", "in"), ("lb", "ft"), ("oz", "in")),
)
"""Units of inertia, as a mass and a length, that programs print."""


def unit_corrections(body: WrittenBody, uniform: UniformBody) -> Iterator[tuple[str, WrittenBody]]:
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
    tolerance = np.minimum(_UNIT_TOLERANCE * np.abs(np.log(factor)), MAX_DEVIATION)
    return (factor == 1.0) | (np.abs(ratio * factor - 1.0) <= tolerance)


def _rescaled(body: WrittenBody, factors: Array) -> WrittenBody:
    mass, length, inertia = factors
    return body._replace(
        mass=float(mass * body.mass), com=length * body.com, inertia=inertia * body.inertia
    )


def _materials(density: float) -> Iterator[str]:
    """Yield the materials of a density, with it."""
    for name in _MATERIALS:
        if abs(density / MATERIAL_DENSITIES[name] - 1.0) <= _MATERIAL_TOLERANCE:
            yield f"{name} ({MATERIAL_DENSITIES[name]:g} kg/m³)"


def _unit_systems() -> Iterator[tuple[str, int, tuple[float, float, float]]]:
    """Yield units of mass, length and inertia that are not all SI: text, how unlikely, factors.

    Fewer units that are not SI are likelier, and an inertia in the units of mass and length.
    """
    units = itertools.product(_MASSES, _LENGTHS, _INERTIA_UNITS)
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
        scale = MASS_UNITS[inertia_mass] * LENGTH_UNITS[inertia_length] ** 2
        yield text, unlikely, (MASS_UNITS[mass], LENGTH_UNITS[length], scale)


_SYSTEMS = tuple(_unit_systems())
_UNIT_TEXTS = tuple(text for text, _, _ in _SYSTEMS)
_UNIT_PENALTIES = np.array([unlikely for _, unlikely, _ in _SYSTEMS])
_UNIT_FACTORS = np.array([factors for _, _, factors in _SYSTEMS])
