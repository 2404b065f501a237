"""Test of ten parameters for physical consistency, with the reasons for a failure.

Each violated rule is a linear function of phi for a fixed centre of mass, for instance vᵀ Pi v with
v = [u, −u · c], the second moment along u. Errors of the numbers of up to half a unit each change
it by no more than the sum of the magnitudes of its coefficients times these half units.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from identify.arrays import Array, Mat33, PhiLike, Vec3, seal
from identify.errors import ModelError
from identify.inertia.consistency import (
    KIND_BY_RANK,
    ROUNDING_TOLERANCE,
    BodyKind,
    has_finite_squares,
)
from identify.inertia.matrices import (
    PSEUDO_INERTIA_BASIS,
    pseudo_inertia,
    rounding_error_about_com,
    second_moment_about_com,
)

Rule: TypeAlias = Literal["mass", "definite", "triangle", "pseudo-inertia"]
"""Rule of physical consistency on mass, inertia, triangle inequality or pseudo-inertia."""


_NUMBER_PATTERN = re.compile(
    r"\s*[+-]?(?P<whole>\d*)(?:\.(?P<digits>\d*))?(?:[eE](?P<power>[+-]?\d+))?\s*",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Violation:
    """Violation of one rule of physical consistency by a body.

    Attributes:
        rule: the violated rule.
        absolute: amount of the violation [kg for the mass, else kg m²].
        relative: `absolute` over the largest principal moment (definite, triangle) or over the sum
            of the magnitudes of the second moments (pseudo-inertia), about the centre of mass;
            infinite for the mass.
        by_rounding: whether some numbers within the half units of the given ones satisfy the rule.
        gradient: derivative by phi of the rule's function, which is `−absolute` and has to be
            zero or more, shape (10,).
        message: explanation of the violation.
    """

    rule: Rule
    absolute: float
    relative: float
    by_rounding: bool
    gradient: Array
    message: str


@dataclass(frozen=True, slots=True)
class BodyVerdict:
    """Physical consistency of a body: its kind and its violations.

    Attributes:
        kind: solid, plate, rod, point, massless or impossible.
        mass: m [kg].
        com: centre of mass from Bo [m], shape (3,); None without mass.
        principal_moments: moments about the centre of mass (about Bo without mass), ascending
            [kg m²], shape (3,).
        second_moments: eigenvalues of S_c (of S without mass), ascending [kg m²], shape (3,).
        pseudo_eigenvalues: eigenvalues of Pi about Bo in SI, ascending, shape (4,). Their signs
            are the same for every frame and unit, their sizes are not: see `margin`.
        violations: the violated rules; empty for a physically consistent body.
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
        """Whether the body is not physically consistent; a massless frame counts as consistent."""
        return bool(self.violations)

    @property
    def by_rounding(self) -> bool:
        """Whether the rounding of the printed numbers explains all violations."""
        return self.impossible and all(v.by_rounding for v in self.violations)

    @property
    def margin(self) -> float:
        """Smallest eigenvalue of the central pseudo-inertia, scaled to unit mass and size.

        Zero for a plate, 1/3 for a ball, negative for an inconsistent body, −inf without a
        positive mass.
        """
        if self.mass <= 0.0 or not np.isfinite(self.second_moments).all():
            return -np.inf
        spread = float(np.abs(self.second_moments).sum())
        return float(self.second_moments[0]) / spread if spread > 0.0 else 0.0

    @property
    def reasons(self) -> tuple[str, ...]:
        """Messages of the violations."""
        return tuple(v.message for v in self.violations)

    def __str__(self) -> str:
        if self.kind == BodyKind.MASSLESS:
            return "a massless frame"
        if not self.impossible:
            return f"possible: {self.kind}"
        label = "impossible by rounding: " if self.by_rounding else "impossible: "
        return label + "; ".join(self.reasons)


def check_consistency(
    phi: PhiLike, *, tolerance: float = ROUNDING_TOLERANCE, rounding_errors: Array | None = None
) -> BodyVerdict:
    """Test the ten parameters of a body for physical consistency, with reasons for a failure.

    A rule is violated by more than `tolerance` of the sum of the second moments, and by more than
    the rounding error of numbers given about Bo (`rounding_error_about_com`).

    Files print few digits, which makes every other plate or rod inconsistent. With
    `rounding_errors`, a violation is marked *by rounding* if numbers within these errors remove it.
    The rounding is that of phi; for an inertia printed about the centre of mass, check the body
    there: phi = [m, 0, 0, 0, I_c].

    Args:
        phi: ten parameters about Bo in B, of one body, shape (10,); use `body_kinds` or
            `is_consistent` for a batch.
        tolerance: relative to the sum of the second moments about the centre of mass.
        rounding_errors: largest rounding error of each parameter, shape (10,); for printed numbers,
            see `half_last_digit`.

    Raises:
        ModelError: not ten finite numbers, or not ten half units.
    """
    phi = seal(phi, "phi", (10,))
    units = (
        np.zeros(10) if rounding_errors is None else seal(rounding_errors, "rounding_errors", (10,))
    )
    mass = float(phi[0])
    com = None
    floor = 0.0
    values = np.full(3, -np.inf)
    axes = np.eye(3)
    with np.errstate(over="ignore", invalid="ignore"):
        S = pseudo_inertia(phi)[:3, :3]  # about Bo if there is no mass
        if mass != 0.0:
            com = _sealed_copy(phi[1:4] / mass)
            S, floor = second_moment_about_com(phi), float(rounding_error_about_com(phi))
    representable = com is None or bool(has_finite_squares(com, S))
    if representable:
        values, axes = np.linalg.eigh(S)
    limit = max(tolerance * float(np.abs(values).sum()), floor)
    massless = bool((np.abs(phi) <= units).all())
    violations: list[Violation] = []
    if mass <= 0.0 and not massless:
        message = f"the mass is {mass:.6g} kg, not positive"
        if mass == 0.0:
            message = "the mass is zero, but the first moment of mass or the inertia is not"
        reachable = mass + float(units[0]) > 0.0
        violations.append(Violation("mass", -mass, np.inf, reachable, np.eye(10)[0], message))
    if com is not None and not massless:
        if representable:
            violations.extend(_inertia_violations(com, values, axes, limit, units))
        else:  # the second moment about the centre of mass overflows
            message = (
                f"the mass is too small for its first moment, the centre of mass would be at "
                f"{_format_vector(com)} m"
            )
            no_gradient = np.zeros(10)
            violations.append(
                Violation("pseudo-inertia", np.inf, np.inf, False, no_gradient, message)
            )
    kind = KIND_BY_RANK[int(np.sum(values > limit))] if representable else BodyKind.IMPOSSIBLE
    if violations:
        kind = BodyKind.IMPOSSIBLE
    elif massless:
        kind = BodyKind.MASSLESS
    return BodyVerdict(
        kind=kind,
        mass=mass,
        com=com,
        principal_moments=_sealed_copy(
            values.sum() - values[::-1] if representable else np.full(3, np.nan)
        ),
        second_moments=_sealed_copy(values),
        pseudo_eigenvalues=_sealed_copy(np.linalg.eigvalsh(pseudo_inertia(phi))),
        violations=tuple(violations),
    )


def half_last_digit(text: str) -> float:
    """Return half a unit of the last digit of a printed number.

    `0.0120` and `1.2e-3` are accurate to 0.00005. Numbers with neither decimals nor an exponent
    (`2`, `1.`, `0`) count as exact, and so does `0.0`.

    Args:
        text: a decimal number.

    Raises:
        ModelError: the text is not a decimal number.
    """
    match = _NUMBER_PATTERN.fullmatch(text)
    if match is None or not (match["whole"] or match["digits"]):
        raise ModelError(f"half unit: expected a decimal number, got {text!r}")
    digits = match["digits"] or ""
    plain_zero = float(text) == 0.0 and len(digits) <= 1
    if match["power"] is None and (not digits or plain_zero):
        return 0.0
    power = int(match["power"] or 0) - len(digits)
    return 0.5 * 10.0 ** min(max(power, -323), 308)


def _inertia_violations(
    com: Vec3, values: Array, axes: Mat33, limit: float, rounding_errors: Array
) -> list[Violation]:
    """Return the violations by the second moments about the centre of mass.

    `values` and `axes` are the eigenvalues of S_c, ascending; above −`limit` they count as zero.
    """
    if not values[0] < -limit:
        return []
    gradients = [  # coefficients of vᵀ Pi v in phi, v = [u, −u · c]
        np.outer(v, v).ravel() @ PSEUDO_INERTIA_BASIS
        for v in (np.append(u, -u @ com) for u in axes.T)
    ]
    moments = values.sum() - values  # descending
    largest = float(np.abs(moments).max())
    violations: list[Violation] = []

    def add(rule: Rule, absolute: float, scale: float, gradient: Array, message: str) -> None:
        reachable = bool(np.abs(gradient) @ rounding_errors > absolute)
        violations.append(Violation(rule, absolute, absolute / scale, reachable, gradient, message))

    if moments[2] < -2.0 * limit:
        below = -float(moments[2])
        add(
            "definite",
            below,
            largest,
            gradients[0] + gradients[1],
            f"a principal moment of inertia about the centre of mass is negative: {-below:.6g} "
            f"kg m² ({_format_fraction(below / largest)} of the largest)",
        )
    excess = -2.0 * float(values[0])
    add(
        "triangle",
        excess,
        largest,
        2.0 * gradients[0],
        f"triangle inequality: the largest principal moment about the centre of mass, "
        f"{moments[0]:.6g} kg m², exceeds the sum of the others, {moments[1]:.6g} + "
        f"{moments[2]:.6g}, by {excess:.3g} kg m² ({_format_fraction(excess / largest)} of the "
        f"largest)",
    )
    spread = float(np.abs(values).sum())
    for value, axis, gradient in zip(values, axes.T, gradients, strict=True):
        if value < -limit:
            add(
                "pseudo-inertia",
                -float(value),
                spread,
                gradient,
                f"pseudo-inertia: the second moment of mass along {_format_vector(axis)} is "
                f"{value:.3g} kg m² ({_format_fraction(-value / spread)} of the sum of the three), "
                f"and ∫ρ x² dV cannot be negative",
            )
    return violations


def _format_fraction(share: float) -> str:
    return f"{100.0 * share:.3g} %" if share >= 1e-4 else f"{share:.1e}"


def _format_vector(vector: Vec3) -> str:
    """Format a vector in brackets, without minus zeros."""
    return "[" + ", ".join(f"{x:.3g}" for x in np.where(np.abs(vector) < 5e-4, 0.0, vector)) + "]"


def _sealed_copy(array: Array) -> Array:
    array = array.copy()
    array.flags.writeable = False
    return array
