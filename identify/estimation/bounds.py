"""Certified bounds of each parameter over all consistent bodies compatible with the data.

The confidence set has the bodies within the 95 % region of the likelihood that meet every term:

    {θ : ‖R θ − r‖² ≤ min + t²,  F θ + G u + f ∈ K}

with the likelihood R θ = r + noise of `score_equations`, its least value over the terms, and
Student's t at 95 %. Each bound is the optimum of a cone program, certified by the dual multiplier z
instead of the solver's value: with z in the dual cone and g = a + Fᵀz,

    aᵀθ ≤ zᵀf + gᵀθ ≤ zᵀf + max of gᵀθ over the ellipsoid,

whose right-hand side is known in closed form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from identify.arrays import Array
from identify.estimation.cones import ConeBlock, ConicRows, project_to_dual
from identify.estimation.likelihood import ConfidenceRegion
from identify.estimation.program import (
    clarabel_module,
    constraint_rows,
    solve_cone_program,
    solver_settings,
)
from identify.estimation.scaling import Scaling
from identify.estimation.terms.consistent import consistency_margin
from identify.exchange import Bound
from identify.inertia import PHI
from identify.significance import CONFIDENCE_QUANTILE, MIN_DEGREES_OF_FREEDOM

_MIN_SINGULAR_VALUE = 1e-4
"""Smallest information along a direction, in standard errors per body scale, so that bodies
thousands of times larger than the estimate are excluded."""

_MAX_BOUND = 1e3
"""Largest reported bound, in body scales; larger bounds count as infinite."""

_BOUND_TOLERANCE = 1e-8
"""Tolerance of the solver; its error widens the bound, which stays certified."""

_RELATIVE_ROUNDING = 1e-13
"""Size below which values are rounding errors, in body scales."""

_COM, _MOMENTS = ("cx", "cy", "cz"), ("Icxx", "Icyy", "Iczz")
_MOMENT_OF_INERTIA_INDICES = (4, 7, 9)
"""Indices of the moments of inertia about Bo among the ten parameters."""


def certified_bounds(region: ConfidenceRegion, body_index: int = 0) -> Mapping[str, Bound]:
    """Compute certified bounds of a body's parameters over the confidence set.

    Bounds of the ten parameters, of the centre of mass, and of the moments of inertia about it
    along the axes of B, whose minimum is not a convex problem: it is given as zero.

    Raises `SolveError`: no body meets the terms.
    """
    return dict(_ConfidenceSet.of(region, body_index).bounds())


class _SupportPoint(NamedTuple):
    """Farthest point of a convex set in a direction, with the dual multiplier."""

    unknowns: Array
    multiplier: Array


class _SupportProgram:
    """Maximiser of aᵀx over F x + f ∈ K for successive directions a, with one solver."""

    def __init__(self, F: Array, f: Array, cones: tuple[ConeBlock, ...]) -> None:
        import scipy.sparse as sp

        clarabel, n = clarabel_module(), F.shape[1]
        self._f = f.copy()
        self._solver = clarabel.DefaultSolver(
            sp.csc_array((n, n)),
            np.ones(n),
            sp.csc_array(-F),
            f,
            [cone.to_clarabel(clarabel) for cone in cones],
            solver_settings(_BOUND_TOLERANCE),
        )

    def support_point(self, a: Array, radius: float | None = None) -> _SupportPoint:
        """Solve for the farthest point in a direction, with its multiplier; neither is certified.

        `radius`: new first entry of f, if it changes.
        """
        if radius is not None:
            self._f[0] = radius
            self._solver.update(b=self._f)
        self._solver.update(q=-a)
        solution = self._solver.solve()
        return _SupportPoint(
            *(np.nan_to_num(np.asarray(part)) for part in (solution.x, solution.z))
        )


@dataclass(frozen=True, slots=True)
class _ConfidenceSet:
    """Ellipsoidal confidence set of the bodies, in unknowns y with θ = centre + free_basis · y.

    The ellipsoid is ‖S y‖ ≤ ρ about least squares, with S diagonal and at most one.

    Attributes:
        scaling: units of θ.
        body_index: index of the body whose bounds are computed.
        centre: least-squares estimate, shape (p,).
        free_basis: basis of the free directions, shape (p, k).
        S: diagonal of S, shape (k,).
        rows: terms in y and in auxiliary variables.
        min_mass: smallest scaled mass that the terms allow.
        auxiliary_bound: largest sum of the auxiliary variables' sizes.
        radii: radius ρ for each of the ten parameters, shape (10,).
    """

    scaling: Scaling
    body_index: int
    centre: Array
    free_basis: Array
    S: Array
    rows: ConicRows
    min_mass: float
    auxiliary_bound: float
    radii: Array

    @classmethod
    def of(cls, region: ConfidenceRegion, body_index: int) -> _ConfidenceSet:
        """Form the confidence set about the constrained maximum of the likelihood."""
        likelihood = region.likelihood
        scaling = region.likelihood.scaling
        terms = region.terms
        k, block = region.free.shape[1], slice(10 * body_index, 10 * body_index + 10)
        U, singular, Vt = np.linalg.svd(likelihood.R @ region.free)
        singular = np.concatenate((singular, np.zeros(k - len(singular))))
        target = np.zeros(k)
        target[: len(U)] = U.T @ (likelihood.r - likelihood.R @ region.reference)
        y = np.where(singular > _MIN_SINGULAR_VALUE, target, 0.0)
        singular = np.maximum(singular, _MIN_SINGULAR_VALUE)
        centre = region.reference + region.free @ (Vt.T @ (y / singular))
        rows, least = constraint_rows(terms, scaling), 0.0
        x = scaling.x(centre)
        if max(term.violation(x, scaling) for term in terms) > 0.0:
            A = np.zeros((len(x), len(x)))
            A[:k] = singular[:, None] * (Vt @ np.linalg.pinv(region.free))
            nearest = solve_cone_program(A, A @ centre, rows).theta
            least = float(np.linalg.norm(A @ (nearest - centre)))
        quantiles = stdtrit(
            np.maximum(region.degrees[block], MIN_DEGREES_OF_FREEDOM), CONFIDENCE_QUANTILE
        )
        units = 1.0 / np.maximum(singular, 1.0)
        columns = region.free @ Vt.T * units
        return cls(
            scaling=scaling,
            body_index=body_index,
            centre=centre,
            free_basis=columns,
            S=singular * units,
            rows=replace(rows, F=rows.F @ columns, f=rows.f + rows.F @ centre),
            min_mass=consistency_margin(terms, scaling.space.bodies[body_index]),
            auxiliary_bound=sum(term.auxiliary_bound or 0.0 for term in terms),
            radii=np.hypot(least, quantiles),
        )

    def bounds(self) -> Iterator[tuple[str, Bound]]:
        """Iterate over the names and certified bounds of the quantities."""
        ten = dict(zip(PHI, self._parameter_bounds(), strict=True))
        yield from ten.items()
        lightest = max(
            (ten["m"].low or 0.0) / self.scaling.bodies[self.body_index].mass, self.min_mass
        )
        yield from zip(_COM, self._com_bounds(lightest), strict=True)
        yield from zip(_MOMENTS, self._moment_bounds(), strict=True)

    def _parameter_bounds(self) -> Iterator[Bound]:
        F, f, cones = self._conic_constraints(self.radii[0])
        program = _SupportProgram(F, f, cones)
        zeros = np.zeros(F.shape[1] - len(self.S))
        to_phi = self.scaling.to_x[10 * self.body_index : 10 * self.body_index + 10]
        for row, radius in zip(to_phi, self.radii.tolist(), strict=True):
            a = row @ self.free_basis
            middle = float(row @ self.centre)
            unit = np.linalg.norm(row)
            size = float(np.linalg.norm(a))
            if size <= _RELATIVE_ROUNDING * unit:  # it is given
                yield Bound(middle, middle, 0.0)
                continue
            ends = []
            for along in (-a / size, a / size):
                y, z = program.support_point(np.concatenate((along, zeros)), radius)
                ends.append((self._certified_bound(along, z, radius), float(along @ y[: len(a)])))
            yield _bound_from_maxima(middle, size, ends, _MAX_BOUND * float(unit))

    def _com_bounds(self, min_mass: float) -> Iterator[Bound]:
        """Compute the certified bounds of the centre of mass, given the smallest scaled mass.

        The certified inequality is (h − c m)ᵢ ≤ e at the solver's c, so that c + e/m is a bound.
        """
        radius = float(self.radii[1:4].max())
        F, f, cones = self._conic_constraints(radius)
        (m, *h), k = self._body_map[:4], len(self.S)
        zeros = np.zeros(F.shape[1] - k)
        mass = np.concatenate((m[:-1], zeros, m[-1:]))
        program = _SupportProgram(
            np.concatenate((np.column_stack((F, f)), [mass])),
            np.concatenate((np.zeros(len(f)), [-1.0])),
            (*cones, ConeBlock("zero", 1)),
        )
        body = self.scaling.bodies[self.body_index]
        for axis, moment in enumerate(h):
            c = float(moment[-1] / m[-1])
            a = moment[:-1] - c * m[:-1]
            size = float(np.linalg.norm(a))
            middle = float(body.com[axis]) + body.length * c
            if size <= _RELATIVE_ROUNDING:  # it is given
                yield Bound(middle, middle, 0.0)
                continue
            ends = []
            for sign in (-1.0, 1.0):
                y, z = program.support_point(np.concatenate((sign * a / size, zeros, [0.0])))
                solver_value = float(sign * a @ y[:k]) / size
                along = sign * (a / size - sign * solver_value * m[:-1])
                excess = self._certified_bound(along, z, radius) - solver_value * m[-1]
                ends.append((float(solver_value + max(excess, 0.0) / min_mass), solver_value))
            yield _bound_from_maxima(middle, body.length * size, ends, _MAX_BOUND * body.length)

    def _moment_bounds(self) -> Iterator[Bound]:
        """Compute the certified bounds of the moments of inertia about the centre of mass.

        With v an axis, w ≤ vᵀI v − |v × h|²/m is |v × h|² ≤ m s, s = vᵀI v − w: a rotated
        second-order cone.
        """
        radius = float(self.radii[4:].max())
        F, f, cones = self._conic_constraints(radius)
        theta, body = self._body_map, self.scaling.bodies[self.body_index]
        unit = body.mass * body.length**2
        for axis, k in enumerate(_MOMENT_OF_INERTIA_INDICES):
            moment, middle = theta[k, :-1], float(theta[k, -1])
            size = max(float(np.linalg.norm(moment)), _RELATIVE_ROUNDING)
            across = np.delete(theta[1:4], axis, axis=0) * (2.0 / np.sqrt(size))
            s = np.concatenate((moment / size, [0.0]))
            cone = np.array([theta[0] + s, theta[0] - s, *across])
            zeros = np.zeros((4, F.shape[1] - len(self.S)))
            w = np.array([-1.0, 1.0, 0.0, 0.0])
            program = _SupportProgram(
                np.block([[F, np.zeros((len(F), 1))], [cone[:, :-1], zeros, w[:, None]]]),
                np.concatenate((f, cone[:, -1])),
                (*cones, ConeBlock("second_order", 4)),
            )
            x, z = program.support_point(np.eye(1, F.shape[1] + 1, F.shape[1])[0])
            dual = project_to_dual(z[-4:], (ConeBlock("second_order", 4),))
            solver_value = float(x[-1])
            certified = self._certified_bound(moment / size, np.zeros(len(f)), radius)
            if (weight := float(dual[0] - dual[1])) > 0.0:  # eliminates w
                along, constant = dual @ cone[:, :-1] / weight, float(dual @ cone[:, -1]) / weight
                certified = min(certified, constant + self._certified_bound(along, z[:-4], radius))
            high = unit * (middle + size * certified)
            gap = max(size * (certified - solver_value), 0.0) / max(
                middle + size * solver_value, _RELATIVE_ROUNDING
            )
            yield Bound(0.0, high if high < _MAX_BOUND * unit else None, gap)

    @property
    def _body_map(self) -> Array:
        """Affine map from the set's unknowns, with a one appended, to the body, (10, k + 1)."""
        block = slice(10 * self.body_index, 10 * self.body_index + 10)
        return np.column_stack((self.free_basis[block], self.centre[block]))

    def _conic_constraints(self, radius: float) -> tuple[Array, Array, tuple[ConeBlock, ...]]:
        """Return ellipsoid and constraints as F x + f ∈ K, x = [y, auxiliary variables]."""
        k, rows = len(self.S), self.rows
        F = np.zeros((1 + k + len(rows.f), k + rows.G.shape[1]))
        F[1 : 1 + k, :k] = np.diag(self.S)
        F[1 + k :, :k], F[1 + k :, k:] = rows.F, rows.G
        f = np.concatenate(([radius], np.zeros(k), rows.f))
        return F, f, (ConeBlock("second_order", 1 + k), *rows.cones)

    def _certified_bound(self, direction: Array, multiplier: Array, radius: float) -> float:
        """Compute a certified upper bound of directionᵀy over the set from a dual multiplier."""
        rows, k = self.rows, len(self.S)
        ellipsoid_bound = radius * float(np.linalg.norm(direction / self.S))
        z = project_to_dual(multiplier[1 + k : 1 + k + len(rows.f)], rows.cones)
        auxiliary_part = float(np.abs(rows.G.T @ z).max(initial=0.0)) * self.auxiliary_bound
        ellipsoid_part = radius * float(np.linalg.norm((direction + rows.F.T @ z) / self.S))
        return min(ellipsoid_bound, float(z @ rows.f) + ellipsoid_part + auxiliary_part)


def _bound_from_maxima(
    centre: float, scale: float, maxima: list[tuple[float, float]], limit: float
) -> Bound:
    """Compute certified bounds of centre + scale · v from maxima (certified, attained) of −v, v."""
    (down, least), (up, most) = maxima
    gap = max(down - least, up - most, 0.0) / max(down + up, _RELATIVE_ROUNDING)
    low, high = centre - scale * down, centre + scale * up
    return Bound(low if low > -limit else None, high if high < limit else None, gap)
