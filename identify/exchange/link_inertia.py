"""`LinkInertia`: what a model file says of one link; verdicts of many at once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from identify.arrays import Array, Mat33, Mat66, Phi, seal
from identify.inertia.consistency import BodyKind, body_kinds
from identify.inertia.matrices import second_moment_about_com
from identify.inertia.parameters import InertialParameters
from identify.inertia.verdict import BodyVerdict, check

DENSEST_LINK = 1e5
"""A few times the density of osmium [kg/m³]."""

_BALL_VOLUME = 9.0
"""Volume over k³ of a ball, k² = tr S / m, rounded down: no solid of the same k has more."""

_TOO_WIDE = 10.0
"""Radii of gyration in the largest length of a model that are hard to believe."""


@dataclass(frozen=True, slots=True)
class LinkInertia:
    """The inertia of one link (or body) of a model.

    Attributes:
        name: of the link; within nested models, `outer::inner::link`.
        line: of its inertial element, or of the link without one; None where the file has no lines.
        phi: ten parameters about the link's origin in its axes, shape (10,); None for a massless
            frame, and where the file does not say (the note tells why).
        massless: whether it is a frame without mass.
        printed: the body as the numbers are printed, about the centre of mass in axes of its own
            (of an estimate as phi); None where no numbers are.
        half_units: what rounding to the digits printed may have done to `printed`, shape (10,).
        added_mass: of the fluid, 6×6, linear first, as the file has it; None for none.
        note: what else a reader should know, in a sentence, or nothing.
        order: of the numbers, by its name in `SIX_ORDERS`, or `diagonal` of moments alone.
        axes: R_LC of the axes that the numbers are printed in, in those of the link, shape (3, 3).
        moves_alone: whether it is a massless frame that a joint moves, with no mass fixed to it.
        unreadable: whether its element cannot be read, as the note says.
        largest_length: largest length that the file mentions [m]; None for none.
    """

    name: str
    line: int | None = None
    phi: Phi | None = None
    massless: bool = False
    printed: Phi | None = None
    half_units: Array | None = None
    added_mass: Mat66 | None = None
    note: str = ""
    order: str = "urdf"
    axes: Mat33 = field(default_factory=lambda: np.eye(3))
    moves_alone: bool = False
    unreadable: bool = False
    largest_length: float | None = None

    def __post_init__(self) -> None:
        for name in ("phi", "printed", "half_units"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, seal(value, f"{self.name}: {name}", (10,)))

    @property
    def verdict(self) -> BodyVerdict | None:
        """Whether the body is possible; None where the file does not say it."""
        if self.massless:
            return check(np.zeros(10))
        return None if self.judged is None else check(self.judged, half_units=self.half_units)

    @property
    def parameters(self) -> InertialParameters | None:
        """The body about the link's origin in its axes; None where `phi` is."""
        return None if self.phi is None else InertialParameters(self.phi)

    @property
    def judged(self) -> Phi | None:
        """What the verdict is about: the numbers as printed, where there are any."""
        return self.phi if self.printed is None else self.printed

    @property
    def placeholder(self) -> str:
        """How a body with one power of ten about each axis looks like a placeholder, or nothing."""
        body = np.zeros(10) if self.judged is None else self.judged
        even = (body[4:] == body[4] * np.array([1, 0, 0, 1, 0, 1])).all()
        if not even or f"{body[4]:e}"[:8] != "1.000000":
            return ""
        return f"{body[0]:.6g} kg with {body[4]:g} kg m² about each axis look like a placeholder"

    @property
    def note_beyond_size(self) -> str:
        """The note without what `unit_note` says of the size of the body."""
        parts = self.note.split("; ")
        return "; ".join(part for part in parts if not part.startswith("its radius"))


def unit_note(printed: Phi, largest_length: float | None) -> str:
    """What in a body looks like wrong units, in a sentence or nothing: mm for m, g for kg.

    The ten parameters are about the centre of mass; `largest_length` [m] is the largest that the
    model's file mentions.
    """
    mass, trace = float(printed[0]), float(printed[[4, 7, 9]].sum())
    if not (mass > 0.0 and trace > 0.0):
        return ""
    k = math.sqrt(0.5 * trace / mass)
    if largest_length and k > _TOO_WIDE * largest_length:
        return (
            f"its radius of gyration is {k:.3g} m, but the largest length in the file is "
            f"{largest_length:.3g} m: are the units kg, m and kg m²?"
        )
    # By its cube root: the cube of k may leave double precision.
    root = math.cbrt(mass / _BALL_VOLUME) / k if k > 0.0 else math.inf
    density = min(root, 1e100) ** 3
    if density > DENSEST_LINK:
        return (
            f"its radius of gyration of {k:.3g} m makes it denser than {density:.1g} kg/m³, which "
            f"no material is: are the units kg, m and kg m²?"
        )
    return ""


def implied_density(phi: Phi) -> float:
    """Density that a body has at the least, by how little of its mass is away from an axis.

    Of a solid cylinder of the same mass, with a length of √(12 s₃ / m) and its smallest principal
    moment: ρ = m / (2π k² l) with k² = (s₁ + s₂) / m, of second moments s₁ ≤ s₂ ≤ s₃. Within 10 %
    for a ball too. In kg/m³; infinite for a point or a rod.
    """
    mass = float(phi[0])
    second = np.maximum(np.linalg.eigvalsh(second_moment_about_com(phi)), 0.0) / mass
    volume = 2.0 * math.pi * float(second[0] + second[1]) * math.sqrt(12.0 * float(second[2]))
    return mass / volume if volume > 0.0 else math.inf


def largest_of(words: Iterable[str]) -> float | None:
    """The largest magnitude among words that are finite numbers; None without any above zero."""
    largest = 0.0
    for word in words:
        try:
            value = abs(float(word))
        except ValueError:
            continue
        largest = max(largest, value) if math.isfinite(value) else largest
    return largest or None


def link_kinds(links: Sequence[LinkInertia]) -> tuple[BodyKind | None, ...]:
    """What `verdict.kind` of each link is; None where the file does not say it.

    All are judged at once: a verdict of each takes its time, and few need one.
    """
    kinds = [BodyKind.MASSLESS if link.massless else None for link in links]
    known = [(i, link) for i, link in enumerate(links) if link.judged is not None]
    if not known:
        return tuple(kinds)
    bodies = np.array([link.judged for _, link in known])
    exact = np.zeros(10)
    units = np.array([exact if link.half_units is None else link.half_units for _, link in known])
    massless = np.all(np.abs(bodies) <= units, axis=-1)
    judged = np.where(massless, np.str_(BodyKind.MASSLESS), body_kinds(bodies))
    for (i, _), kind in zip(known, judged.tolist(), strict=True):
        kinds[i] = BodyKind(kind)
    return tuple(kinds)
