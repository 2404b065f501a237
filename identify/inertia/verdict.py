"""`check`: whether ten numbers are a possible body, and why not.

Each rule that an impossible body breaks is a linear function of phi at the centre of mass that the
body has, for instance vᵀ Pi v with v = [u, −u · c], the second moment along u. Numbers that are
each off by up to a half unit change it by no more than the sum of its coefficients' magnitudes
times those.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from identify.arrays import Array, Mat33, PhiLike, Vec3, seal
from identify.errors import ModelError
from identify.inertia.consistency import KIND_BY_RANK, ROUNDING, BodyKind, within_reach
from identify.inertia.matrices import (
    PSEUDO_INERTIA_BASIS,
    pseudo_inertia,
    rounding_about_com,
    second_moment_about_com,
)

Rule: TypeAlias = Literal["mass", "definite", "triangle", "pseudo-inertia"]
"""m > 0; I_c ⪰ 0; no principal moment above the sum of the others; Pi ⪰ 0."""


_NUMBER = re.compile(
    r"\s*[+-]?(?P<whole>\d*)(?:\.(?P<digits>\d*))?(?:[eE](?P<power>[+-]?\d+))?\s*",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that a body breaks.

    Attributes:
        rule: which one.
        absolute: by how much [kg for the mass, kg m² else].
        relative: the same over the largest principal moment (definite, triangle) or over the sum of
            the magnitudes of the second moments (pseudo-inertia), about the centre of mass;
            infinite for the mass.
        by_rounding: whether numbers within the half units of those given do not break it.
        gradient: of the rule's function of phi, which is `−absolute` and would have to be zero or
            more, shape (10,).
        message: the sentence for a person.
    """

    rule: Rule
    absolute: float
    relative: float
    by_rounding: bool
    gradient: Array
    message: str


@dataclass(frozen=True, slots=True)
class BodyVerdict:
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


def check(
    phi: PhiLike, *, tolerance: float = ROUNDING, half_units: Array | None = None
) -> BodyVerdict:
    """Whether some mass density makes the ten numbers (m > 0 and Pi ⪰ 0), and by how much not.

    Impossible is what violates a rule by more than `tolerance` of the body's own spread, and by
    more than double precision can tell of numbers given about Bo (`rounding_about_com`).

    Files print few digits, and of a plate or rod every other one then comes out impossible. With
    `half_units` those are told apart: a violation is *by rounding* where numbers within half a unit
    of the printed ones undo it. The rounding is that of phi; for an inertia printed about the
    centre of mass, check the body there: phi = [m, 0, 0, 0, I_c].

    Args:
        phi: ten parameters about Bo in B, of one body, shape (10,); `body_kinds` and
            `is_consistent` judge a batch.
        tolerance: relative to the sum of the second moments about the centre of mass.
        half_units: how far each of the ten may be from what it stood for, shape (10,); see
            `half_unit` for a printed number.

    Raises:
        ModelError: not ten finite numbers, or the half units not as many.
    """
    phi = seal(phi, "phi", (10,))
    units = np.zeros(10) if half_units is None else seal(half_units, "half_units", (10,))
    mass = float(phi[0])
    com, floor, values, axes = None, 0.0, np.full(3, -np.inf), np.eye(3)
    with np.errstate(over="ignore", invalid="ignore"):
        S = pseudo_inertia(phi)[:3, :3]  # about Bo where there is no mass
        if mass != 0.0:
            com = _sealed(phi[1:4] / mass)
            S, floor = second_moment_about_com(phi), float(rounding_about_com(phi))
    bounded = com is None or bool(within_reach(com, S))
    if bounded:
        values, axes = np.linalg.eigh(S)
    limit = max(tolerance * float(np.abs(values).sum()), floor)
    massless = bool((np.abs(phi) <= units).all())
    found: list[Violation] = []
    if mass <= 0.0 and not massless:
        message = f"the mass is {mass:.6g} kg, not positive"
        if mass == 0.0:
            message = "the mass is zero, but the first moment of mass or the inertia is not"
        reachable = mass + float(units[0]) > 0.0
        found.append(Violation("mass", -mass, np.inf, reachable, np.eye(10)[0], message))
    if com is not None and not massless:
        if bounded:
            found.extend(_inertia_violations(com, values, axes, limit, units))
        else:  # numbers overflow on the way to it
            message = (
                f"the mass is too small for its first moment, the centre of mass would be at "
                f"{_spell(com)} m"
            )
            nowhere = np.zeros(10)
            found.append(Violation("pseudo-inertia", np.inf, np.inf, False, nowhere, message))
    kind = KIND_BY_RANK[int(np.sum(values > limit))] if bounded else BodyKind.IMPOSSIBLE
    if found:
        kind = BodyKind.IMPOSSIBLE
    elif massless:
        kind = BodyKind.MASSLESS
    return BodyVerdict(
        kind=kind,
        mass=mass,
        com=com,
        principal_moments=_sealed(values.sum() - values[::-1] if bounded else np.full(3, np.nan)),
        second_moments=_sealed(values),
        pseudo_eigenvalues=_sealed(np.linalg.eigvalsh(pseudo_inertia(phi))),
        violations=tuple(found),
    )


def half_unit(text: str) -> float:
    """Half a unit of the last digit of a number as it is written.

    `0.0120` is right to 0.00005, `1.2e-3` to 0.00005. What has neither decimals nor an exponent
    (`2`, `1.`, `0`) is taken as exact, and so is `0.0`: people write these for what is so.

    Args:
        text: a decimal number.

    Raises:
        ModelError: the text is no decimal number.
    """
    match = _NUMBER.fullmatch(text)
    if match is None or not (match["whole"] or match["digits"]):
        raise ModelError(f"half unit: expected a decimal number, got {text!r}")
    digits = match["digits"] or ""
    plain_zero = float(text) == 0.0 and len(digits) <= 1
    if match["power"] is None and (not digits or plain_zero):
        return 0.0
    power = int(match["power"] or 0) - len(digits)
    return 0.5 * 10.0 ** min(max(power, -323), 308)


def _inertia_violations(
    com: Vec3, values: Array, axes: Mat33, limit: float, half_units: Array
) -> list[Violation]:
    """The violations of the second moment about the centre of mass, the telling ones first.

    Args:
        com: centre of mass from Bo, shape (3,).
        values: eigenvalues of S_c, ascending, shape (3,).
        axes: their eigenvectors, in columns.
        limit: what is no farther below zero is rounding.
        half_units: how far each of the ten numbers may be from what it stood for, shape (10,).
    """
    if not values[0] < -limit:
        return []
    gradients = [  # coefficients of vᵀ Pi v in phi, v = [u, −u · c]
        np.outer(v, v).ravel() @ PSEUDO_INERTIA_BASIS
        for v in (np.append(u, -u @ com) for u in axes.T)
    ]
    moments = values.sum() - values  # descending
    largest = float(np.abs(moments).max())
    found: list[Violation] = []

    def add(rule: Rule, absolute: float, scale: float, gradient: Array, message: str) -> None:
        reachable = bool(np.abs(gradient) @ half_units > absolute)
        found.append(Violation(rule, absolute, absolute / scale, reachable, gradient, message))

    if moments[2] < -2.0 * limit:
        below = -float(moments[2])
        add(
            "definite",
            below,
            largest,
            gradients[0] + gradients[1],
            f"a principal moment of inertia about the centre of mass is negative: {-below:.6g} "
            f"kg m² ({_share(below / largest)} of the largest)",
        )
    excess = -2.0 * float(values[0])
    add(
        "triangle",
        excess,
        largest,
        2.0 * gradients[0],
        f"triangle inequality: the largest principal moment about the centre of mass, "
        f"{moments[0]:.6g} kg m², exceeds the sum of the others, {moments[1]:.6g} + "
        f"{moments[2]:.6g}, by {excess:.3g} kg m² ({_share(excess / largest)} of the largest)",
    )
    spread = float(np.abs(values).sum())
    for value, axis, gradient in zip(values, axes.T, gradients, strict=True):
        if value < -limit:
            add(
                "pseudo-inertia",
                -float(value),
                spread,
                gradient,
                f"pseudo-inertia: the second moment of mass along {_spell(axis)} is "
                f"{value:.3g} kg m² ({_share(-value / spread)} of the sum of the three), and "
                f"∫ρ x² dV cannot be negative",
            )
    return found


def _share(share: float) -> str:
    return f"{100.0 * share:.3g} %" if share >= 1e-4 else f"{share:.1e}"


def _spell(vector: Vec3) -> str:
    """A vector in short, without minus zeros."""
    return "[" + ", ".join(f"{x:.3g}" for x in np.where(np.abs(vector) < 5e-4, 0.0, vector)) + "]"


def _sealed(array: Array) -> Array:
    array = array.copy()
    array.flags.writeable = False
    return array
