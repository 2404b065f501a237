"""The rules that an impossible body breaks, by how much, and whether rounding explains it.

Each rule is a linear function of phi at the centre of mass that the body has, for instance
vᵀ Pi v with v = [u, −u · c], the second moment along u. Numbers that are each off by up to a half
unit change it by no more than the sum of its coefficients' magnitudes times those.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from identify.arrays import Array, Mat33, Phi, Vec3, Vec4
from identify.inertia.pseudo_inertia import PSEUDO_INERTIA_BASIS

Rule: TypeAlias = Literal["mass", "definite", "triangle", "pseudo-inertia"]
"""m > 0; I_c ⪰ 0; no principal moment above the sum of the others; Pi ⪰ 0."""


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


def mass_violation(phi: Phi, half_units: Array) -> tuple[Violation, ...]:
    """The violation of m > 0, if there is one."""
    mass = float(phi[0])
    if mass > 0.0:
        return ()
    message = f"the mass is {mass:.6g} kg, not positive"
    if mass == 0.0:
        message = "the mass is zero, but the first moment of mass or the inertia is not"
    reachable = mass + float(half_units[0]) > 0.0
    return (Violation("mass", -mass, np.inf, reachable, np.eye(10)[0], message),)


def boundless_violation(com: Vec3) -> Violation:
    """A centre of mass so far away, for a mass so small, that numbers overflow on the way to it."""
    message = (
        f"the mass is too small for its first moment, the centre of mass would be at {_spell(com)}"
        f" m"
    )
    return Violation("pseudo-inertia", np.inf, np.inf, False, np.zeros(10), message)


def inertia_violations(
    com: Vec3, values: Array, axes: Mat33, limit: float, half_units: Array
) -> tuple[Violation, ...]:
    """The violations of the second moment about the centre of mass, the telling ones first.

    Args:
        com: centre of mass from Bo, shape (3,).
        values: eigenvalues of S_c, ascending, shape (3,).
        axes: their eigenvectors, in columns.
        limit: what is no farther below zero is rounding.
        half_units: how far each of the ten numbers may be from what it stood for, shape (10,).
    """
    if not values[0] < -limit:
        return ()
    gradients = [_gradient(np.append(u, -u @ com)) for u in axes.T]
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
    return tuple(found)


def _gradient(v: Vec4) -> Array:
    """Coefficients of vᵀ Pi v in phi, shape (10,)."""
    return np.outer(v, v).ravel() @ PSEUDO_INERTIA_BASIS


def _share(share: float) -> str:
    return f"{100.0 * share:.3g} %" if share >= 1e-4 else f"{share:.1e}"


def _spell(vector: Vec3) -> str:
    """A vector in short, without minus zeros."""
    return "[" + ", ".join(f"{x:.3g}" for x in np.where(np.abs(vector) < 5e-4, 0.0, vector)) + "]"
