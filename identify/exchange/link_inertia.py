"""`LinkInertia`, the inertia of a link in a model file, and consistency of many links at once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from identify.arrays import Array, Mat33, Mat66, Phi, seal
from identify.inertia.consistency import BodyKind, body_kinds
from identify.inertia.matrices import inertia_about_com
from identify.inertia.parameters import InertialParameters
from identify.inertia.verdict import BodyVerdict, check_consistency

MAX_MATERIAL_DENSITY = 1e5
"""Largest plausible density of a link [kg/m³], a few times that of osmium."""

AIR_DENSITY = 1.2
"""Density of air [kg/m³], below which that of a link is not plausible."""

_BALL_VOLUME_RATIO = 9.0
"""Ratio of a ball's volume to the cube of its radius of gyration about its centre, rounded down: no
solid has a larger one."""

_MAX_GYRATION_PER_LENGTH = 10.0
"""Largest plausible ratio of a link's radius of gyration to the largest length in its model."""


@dataclass(frozen=True, slots=True)
class LinkInertia:
    """Inertia of one link (or body) of a model file.

    Attributes:
        name: of the link; within nested models, `outer::inner::link`.
        line: of its inertial element, or of the link without one; None where the file has no lines.
        phi: ten parameters about the link's origin in its axes, shape (10,); None for a massless
            frame, and if the file does not determine them (see the note).
        massless: whether it is a frame without mass.
        printed: the numbers of the file, about the centre of mass in axes C (of an estimate, phi);
            None if the file has no numbers.
        rounding_errors: largest rounding error of `printed` at its number of digits, shape (10,).
        added_mass: of the fluid, 6×6, linear first, as in the file; None for none.
        note: further information on the link; empty if there is none.
        order: of the numbers, by its name in `ENTRY_ORDERS`, or `diagonal` for moments only.
        axes: R_LC of the axes C of the printed numbers in the link's, shape (3, 3).
        axes_in_other_unit: R_LC if the angles in the file are in degrees instead of radians, or
            vice versa; None without angles.
        is_moving_frame: whether it is a massless frame that a joint moves, without fixed mass.
        filled_by_programs: whether it has no inertial element, but collision shapes that programs
            fill, and is attached to another link.
        unreadable: whether its element cannot be read (see the note).
        largest_length: largest length in the file [m]; None for none.
    """

    name: str
    line: int | None = None
    phi: Phi | None = None
    massless: bool = False
    printed: Phi | None = None
    rounding_errors: Array | None = None
    added_mass: Mat66 | None = None
    note: str = ""
    order: str = "urdf"
    axes: Mat33 = field(default_factory=lambda: np.eye(3))
    axes_in_other_unit: Mat33 | None = None
    is_moving_frame: bool = False
    filled_by_programs: bool = False
    unreadable: bool = False
    largest_length: float | None = None

    def __post_init__(self) -> None:
        for name in ("phi", "printed", "rounding_errors"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, seal(value, f"{self.name}: {name}", (10,)))

    @property
    def verdict(self) -> BodyVerdict | None:
        """Physical consistency of the body; None if the file does not determine the body."""
        if self.massless:
            return check_consistency(np.zeros(10))
        if self.phi_as_printed is None:
            return None
        return check_consistency(self.phi_as_printed, rounding_errors=self.rounding_errors)

    @property
    def parameters(self) -> InertialParameters | None:
        """Body about the link's origin in its axes; None if `phi` is None."""
        return None if self.phi is None else InertialParameters(self.phi)

    @property
    def phi_as_printed(self) -> Phi | None:
        """Parameters whose consistency is checked: those printed in the file, or else `phi`."""
        return self.phi if self.printed is None else self.printed

    @property
    def placeholder_warning(self) -> str:
        """Warning if all principal moments are one power of ten, which looks like a placeholder."""
        body = np.zeros(10) if self.phi_as_printed is None else self.phi_as_printed
        isotropic = (body[4:] == body[4] * np.array([1, 0, 0, 1, 0, 1])).all()
        if not isotropic or f"{body[4]:e}"[:8] != "1.000000":
            return ""
        return f"{body[0]:.6g} kg with {body[4]:g} kg m² about each axis look like a placeholder"

    @property
    def note_without_size(self) -> str:
        """Note on the link, without the part by `unit_note` on the size of the body."""
        parts = self.note.split("; ")
        return "; ".join(part for part in parts if not part.startswith("its radius"))


def unit_note(printed: Phi, largest_length: float | None) -> str:
    """Return a note if the size of a body suggests wrong units: mm for m, g for kg.

    The ten parameters are about the centre of mass; `largest_length` [m] is the largest in the
    model's file.
    """
    mass, trace = float(printed[0]), float(printed[[4, 7, 9]].sum())
    if not (mass > 0.0 and trace > 0.0):
        return ""
    k = math.sqrt(0.5 * trace / mass)
    if largest_length and k > _MAX_GYRATION_PER_LENGTH * largest_length:
        return (
            f"its radius of gyration is {k:.3g} m, but the largest length in the file is "
            f"{largest_length:.3g} m: are the units kg, m and kg m²?"
        )
    # Computed by its cube root: the cube of k may underflow.
    root = math.cbrt(mass / _BALL_VOLUME_RATIO) / k if k > 0.0 else math.inf
    density = min(root, 1e100) ** 3
    if density > MAX_MATERIAL_DENSITY:
        return (
            f"its radius of gyration of {k:.3g} m makes it denser than {density:.1g} kg/m³, and "
            f"so than any material: are the units kg, m and kg m²?"
        )
    return ""


def implied_density(phi: Phi, moments: Array | None = None) -> float:
    """Return the density of the solid cylinder with the mass and inertia of a body [kg/m³].

    The cylinder has the length l = √(12 s₃ / m) and the smallest principal moment of the body:
    ρ = m / (2π k² l) with k² = (s₁ + s₂) / m, for second moments s₁ ≤ s₂ ≤ s₃. It is about the
    smallest density of a solid (within 10 % for a ball too); infinite for a point or a rod.
    `moments`: its principal moments, ascending, if they are known already.
    """
    mass = float(phi[0])
    if moments is None:
        moments = np.linalg.eigvalsh(inertia_about_com(phi))
    second = np.maximum(0.5 * moments.sum() - moments[::-1], 0.0) / mass
    volume = 2.0 * math.pi * float(second[0] + second[1]) * math.sqrt(12.0 * float(second[2]))
    return mass / volume if volume > 0.0 else math.inf


def largest_magnitude(words: Iterable[str]) -> float | None:
    """Return the largest magnitude among words that are finite numbers; None if all are zero."""
    largest = 0.0
    for word in words:
        try:
            value = abs(float(word))
        except ValueError:
            continue
        largest = max(largest, value) if math.isfinite(value) else largest
    return largest or None


def link_body_kinds(links: Sequence[LinkInertia]) -> tuple[BodyKind | None, ...]:
    """Return `verdict.kind` of each link, None if the file does not determine the body.

    All bodies are classified in one call, which is faster than a verdict for each.
    """
    kinds = [BodyKind.MASSLESS if link.massless else None for link in links]
    known = [(i, link) for i, link in enumerate(links) if link.phi_as_printed is not None]
    if not known:
        return tuple(kinds)
    bodies = np.array([link.phi_as_printed for _, link in known])
    exact = np.zeros(10)
    units = np.array(
        [exact if link.rounding_errors is None else link.rounding_errors for _, link in known]
    )
    massless = np.all(np.abs(bodies) <= units, axis=-1)
    kinds_of_known = np.where(massless, np.str_(BodyKind.MASSLESS), body_kinds(bodies))
    for (i, _), kind in zip(known, kinds_of_known.tolist(), strict=True):
        kinds[i] = BodyKind(kind)
    return tuple(kinds)
