"""`check`: whether ten numbers are a possible body, and why not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Mat33, Phi, Vec3, seal
from identify.inertia.central_spectrum import ROUNDING, within_reach
from identify.inertia.consistency import pseudo_eigenvalues
from identify.inertia.kinds import KIND_BY_RANK, BodyKind
from identify.inertia.pseudo_inertia import pseudo_inertia
from identify.inertia.second_moment import rounding_about_com, second_moment_about_com
from identify.inertia.violations import (
    Violation,
    boundless_violation,
    inertia_violations,
    mass_violation,
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a body is possible, what kind it is, and what it violates.

    Attributes:
        kind: solid, plate, rod, point, massless or impossible.
        mass: m [kg].
        com: centre of mass from Bo [m], shape (3,); None without mass.
        principal_moments: of the inertia about the centre of mass (about Bo without mass),
            ascending [kg m²], shape (3,).
        second_moments: eigenvalues of S_c (of S without mass), ascending [kg m²], shape (3,).
        pseudo_eigenvalues: of Pi about Bo in SI, ascending, shape (4,). Their signs are the same
            for every frame and unit, their sizes are not: see `margin`.
        violations: what makes the body impossible; none if it is possible.
    """

    kind: BodyKind
    mass: float
    com: Vec3 | None
    principal_moments: Array
    second_moments: Array
    pseudo_eigenvalues: Array
    violations: tuple[Violation, ...]

    @property
    def impossible(self) -> bool:
        """Whether no mass density makes these numbers. A massless frame is possible."""
        return bool(self.violations)

    @property
    def by_rounding(self) -> bool:
        """Whether the body is impossible by no more than the rounding of its printed numbers."""
        return self.impossible and all(v.by_rounding for v in self.violations)

    @property
    def margin(self) -> float:
        """Smallest eigenvalue of Pi about the centre of mass, scaled to unit mass and spread.

        Zero for a plate, 1/3 for a ball, below zero by how far an impossible body fails, −inf
        without a positive mass.
        """
        if self.mass <= 0.0 or not np.isfinite(self.second_moments).all():
            return -np.inf
        spread = float(np.abs(self.second_moments).sum())
        return float(self.second_moments[0]) / spread if spread > 0.0 else 0.0

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the body is impossible, one sentence a violation."""
        return tuple(v.message for v in self.violations)

    def __str__(self) -> str:
        if self.kind == BodyKind.MASSLESS:
            return "a massless frame"
        if not self.impossible:
            return f"possible: {self.kind}"
        words = "impossible by rounding: " if self.by_rounding else "impossible: "
        return words + "; ".join(self.reasons)


def check(phi: Phi, *, tolerance: float = ROUNDING, half_units: Array | None = None) -> Verdict:
    """Whether some mass density makes the ten numbers (m > 0 and Pi ⪰ 0), and by how much not.

    Impossible is what violates a rule by more than `tolerance` of the body's own spread, and by
    more than double precision can tell of numbers given about Bo (`rounding_about_com`).

    Files print few digits, and of a plate or rod every other one then comes out impossible. With
    `half_units` those are told apart: a violation is *by rounding* where numbers within half a unit
    of the printed ones undo it. The rounding is that of phi; for an inertia printed about the
    centre of mass, check the body there: phi = [m, 0, 0, 0, I_c].

    Args:
        phi: ten parameters about Bo in B, shape (10,).
        tolerance: relative to the sum of the second moments about the centre of mass.
        half_units: how far each of the ten may be from what it stood for, shape (10,); see
            `half_unit` for a printed number.

    Raises:
        ModelError: not ten finite numbers, or the half units not as many.
    """
    phi = seal(phi, "phi", (10,))
    units = np.zeros(10) if half_units is None else seal(half_units, "half_units", (10,))
    spectrum = _spectrum(phi, tolerance)
    massless = bool((np.abs(phi) <= units).all())
    violations = () if massless else _violations(phi, spectrum, units)
    if violations:
        kind = BodyKind.IMPOSSIBLE
    elif massless:
        kind = BodyKind.MASSLESS
    else:
        kind = KIND_BY_RANK[int(np.sum(spectrum.values > spectrum.limit))]
    return Verdict(
        kind=kind,
        mass=float(phi[0]),
        com=spectrum.com,
        principal_moments=_sealed(spectrum.moments),
        second_moments=_sealed(spectrum.values),
        pseudo_eigenvalues=_sealed(pseudo_eigenvalues(phi)),
        violations=violations,
    )


class _Spectrum(NamedTuple):
    com: Vec3 | None
    values: Array
    axes: Mat33
    moments: Array
    limit: float


def _spectrum(phi: Phi, tolerance: float) -> _Spectrum:
    """Second moments and principal moments about the centre of mass; about Bo without mass."""
    with np.errstate(over="ignore", invalid="ignore"):
        com = phi[1:4] / phi[0] if phi[0] != 0.0 else None
        Sc = pseudo_inertia(phi)[:3, :3] if com is None else second_moment_about_com(phi)
        floor = 0.0 if com is None else float(rounding_about_com(phi))
    if com is not None:
        com = _sealed(com)
    if com is not None and not within_reach(com, Sc):
        return _Spectrum(com, np.full(3, -np.inf), np.eye(3), np.full(3, np.nan), 0.0)
    values, axes = np.linalg.eigh(Sc)
    limit = max(tolerance * float(np.abs(values).sum()), floor)
    return _Spectrum(com, values, axes, values.sum() - values[::-1], limit)


def _violations(phi: Phi, spectrum: _Spectrum, units: Array) -> tuple[Violation, ...]:
    found = mass_violation(phi, units)
    com, values, axes, _, limit = spectrum
    if com is None:
        return found
    if not np.isfinite(values).all():
        return (*found, boundless_violation(com))
    return (*found, *inertia_violations(com, values, axes, limit, units))


def _sealed(array: Array) -> Array:
    array = array.copy()
    array.flags.writeable = False
    return array
