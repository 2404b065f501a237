"""Certified bounds: the least and greatest of each parameter over all bodies that are left.

Those are the bodies that the data leave at 95 % and that meet every term:

    {θ : ‖R θ − r‖² ≤ min + t²,  F θ + G u + f ∈ K}

with the likelihood R θ = r + noise of `score_equations`, its least value over the terms, and
Student's t at 95 %. Each bound is the optimum of a cone program, and what is given is not what the
solver says but what its multiplier z proves: with z in the dual cone and g = a + Fᵀz,

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
from identify.estimation.cones import ConeBlock, in_dual
from identify.estimation.likelihood import ConfidenceRegion
from identify.estimation.program import (
    ConicRows,
    clarabel_module,
    cone_program,
    solver_settings,
)
from identify.estimation.scaling import Scaling
from identify.estimation.terms.consistent import MARGIN
from identify.exchange import Bound
from identify.inertia import PHI
from identify.significance import CONFIDENCE_QUANTILE, FEWEST_DEGREES

_LEAST_TOLD = 1e-4
"""Standard errors that a body scale is worth along each direction at the least: bodies that are
thousands of times larger than the one that was found are not looked at …"""

_UNBOUNDED = 1e3
"""… and a bound beyond so many body scales is none."""

_BOUND_TOLERANCE = 1e-8
"""Of the solver: what it is off by widens the bound by as much, which is proved all the same."""

_SCALE_ROUNDING = 1e-13
"""Share of a body scale."""

_COM, _MOMENTS = ("cx", "cy", "cz"), ("Icxx", "Icyy", "Iczz")
_MOMENT_COLUMNS = (4, 7, 9)
"""Of the ten parameters those moments, about Bo."""


def certified_bounds(region: ConfidenceRegion, number: int = 0) -> Mapping[str, Bound]:
    """Bounds of a body over all that the data and the terms leave, each proved by its dual.

    Of the ten parameters, of the centre of mass, and of the moments of inertia about it along the
    axes of B, whose least value is no convex problem: it is given as zero.

    Args:
        region: what is left.
        number: of the body.

    Raises:
        SolveError: the terms leave no body at all.
    """
    return dict(_Bodies.of(region, number).bounds())


class _Farthest(NamedTuple):
    """What a solver found farthest in a direction: its unknowns, and its multiplier."""

    unknowns: Array
    multiplier: Array


class _Program:
    """Greatest aᵀx over F x + f ∈ K, for one direction after the other; the solver is kept."""

    def __init__(self, F: Array, f: Array, cones: tuple[ConeBlock, ...]) -> None:
        import scipy.sparse as sp

        clarabel, n = clarabel_module(), F.shape[1]
        self._f = f.copy()
        self._solver = clarabel.DefaultSolver(
            sp.csc_array((n, n)),
            np.ones(n),
            sp.csc_array(-F),
            f,
            [cone.of_clarabel(clarabel) for cone in cones],
            solver_settings(_BOUND_TOLERANCE),
        )

    def farthest(self, a: Array, radius: float | None = None) -> _Farthest:
        """The unknowns and multiplier that the solver ends with, whatever it says of them.

        Args:
            a: the direction.
            radius: the first of f, where it is another one than before.
        """
        if radius is not None:
            self._f[0] = radius
            self._solver.update(b=self._f)
        self._solver.update(q=-a)
        solution = self._solver.solve()
        return _Farthest(*(np.nan_to_num(np.asarray(part)) for part in (solution.x, solution.z)))


@dataclass(frozen=True, slots=True)
class _Bodies:
    """All bodies that are left, in unknowns y of about size one: θ = centre + columns · y.

    The ellipsoid is ‖S y‖ ≤ ρ about least squares, S diagonal and one at the most.

    Attributes:
        scaling: the units of θ.
        number: of the body that is looked at.
        centre: shape (p,).
        columns: shape (p, k).
        S: shape (k,).
        rows: the terms in y and in variables of their own.
        own_bound: largest sum of these.
        radii: ρ for each of the ten parameters, shape (10,).
    """

    scaling: Scaling
    number: int
    centre: Array
    columns: Array
    S: Array
    rows: ConicRows
    own_bound: float
    radii: Array

    @classmethod
    def of(cls, region: ConfidenceRegion, number: int) -> _Bodies:
        """Of a region, its ellipsoid about the least value of ‖R θ − r‖ over the terms."""
        said, scaling, terms = region.likelihood, region.likelihood.scaling, region.terms
        k, own = region.free.shape[1], slice(10 * number, 10 * number + 10)
        U, told, Vt = np.linalg.svd(said.R @ region.free)
        told = np.concatenate((told, np.zeros(k - len(told))))
        target = np.zeros(k)
        target[: len(U)] = U.T @ (said.r - said.R @ region.reference)
        y = np.where(told > _LEAST_TOLD, target, 0.0)
        told = np.maximum(told, _LEAST_TOLD)
        centre = region.reference + region.free @ (Vt.T @ (y / told))
        program, least = cone_program(scaling.space, terms), 0.0
        x = scaling.x(centre)
        if max(term.violation(x, scaling) for term in terms) > 0.0:
            A = np.zeros((len(x), len(x)))
            A[:k] = told[:, None] * (Vt @ np.linalg.pinv(region.free))
            nearest = program.solve(A, A @ centre, scaling).theta
            least = float(np.linalg.norm(A @ (nearest - centre)))
        quantiles = stdtrit(np.maximum(region.degrees[own], FEWEST_DEGREES), CONFIDENCE_QUANTILE)
        units = 1.0 / np.maximum(told, 1.0)
        columns = region.free @ Vt.T * units
        rows = program.terms_rows(scaling)
        return cls(
            scaling=scaling,
            number=number,
            centre=centre,
            columns=columns,
            S=told * units,
            rows=replace(rows, F=rows.F @ columns, f=rows.f + rows.F @ centre),
            own_bound=sum(term.own_bound or 0.0 for term in terms),
            radii=np.hypot(least, quantiles),
        )

    def bounds(self) -> Iterator[tuple[str, Bound]]:
        """By name."""
        ten = dict(zip(PHI, self._of_parameters(), strict=True))
        yield from ten.items()
        lightest = max((ten["m"].low or 0.0) / self.scaling.bodies[self.number].mass, MARGIN)
        yield from zip(_COM, self._of_com(lightest), strict=True)
        yield from zip(_MOMENTS, self._of_moments(), strict=True)

    def _of_parameters(self) -> Iterator[Bound]:
        F, f, cones = self._left(self.radii[0])
        program = _Program(F, f, cones)
        rest = np.zeros(F.shape[1] - len(self.S))
        to_phi = self.scaling.to_x[10 * self.number : 10 * self.number + 10]
        for row, radius in zip(to_phi, self.radii.tolist(), strict=True):
            a, middle, unit = row @ self.columns, float(row @ self.centre), np.linalg.norm(row)
            size = float(np.linalg.norm(a))
            if size <= _SCALE_ROUNDING * unit:  # it is given
                yield Bound(middle, middle, 0.0)
                continue
            ends = []
            for along in (-a / size, a / size):
                y, z = program.farthest(np.concatenate((along, rest)), radius)
                ends.append((self._proved(along, z, radius), float(along @ y[: len(a)])))
            yield _between(middle, size, ends, _UNBOUNDED * float(unit))

    def _of_com(self, lightest: float) -> Iterator[Bound]:
        """In unknowns divided by the scaled mass: they are a cone, cut where the mass is one.

        What is proved is (h − c m)ᵢ ≤ e at the c that was found, so that c + e/m is a bound.
        """
        radius = float(self.radii[1:4].max())
        F, f, cones = self._left(radius)
        (m, *h), k = self._theta[:4], len(self.S)
        rest = np.zeros(F.shape[1] - k)
        mass = np.concatenate((m[:-1], rest, m[-1:]))
        program = _Program(
            np.concatenate((np.column_stack((F, f)), [mass])),
            np.concatenate((np.zeros(len(f)), [-1.0])),
            (*cones, ConeBlock("zero", 1)),
        )
        body = self.scaling.bodies[self.number]
        for axis, moment in enumerate(h):
            c = float(moment[-1] / m[-1])
            a = moment[:-1] - c * m[:-1]
            size = float(np.linalg.norm(a))
            middle = float(body.com[axis]) + body.length * c
            if size <= _SCALE_ROUNDING:  # it is given
                yield Bound(middle, middle, 0.0)
                continue
            ends = []
            for sign in (-1.0, 1.0):
                y, z = program.farthest(np.concatenate((sign * a / size, rest, [0.0])))
                found = float(sign * a @ y[:k]) / size
                along = sign * (a / size - sign * found * m[:-1])
                excess = self._proved(along, z, radius) - found * m[-1]
                ends.append((float(found + max(excess, 0.0) / lightest), found))
            yield _between(middle, body.length * size, ends, _UNBOUNDED * body.length)

    def _of_moments(self) -> Iterator[Bound]:
        """Greatest w with vᵀI_c v = vᵀI v − |v × h|²/m ≥ w, about the reference point.

        That is |v × h|² ≤ m s, s = vᵀI v − w: a rotated second-order cone.
        """
        radius = float(self.radii[4:].max())
        F, f, cones = self._left(radius)
        theta, body = self._theta, self.scaling.bodies[self.number]
        unit = body.mass * body.length**2
        for axis, k in enumerate(_MOMENT_COLUMNS):
            moment, middle = theta[k, :-1], float(theta[k, -1])
            size = max(float(np.linalg.norm(moment)), _SCALE_ROUNDING)
            across = np.delete(theta[1:4], axis, axis=0) * (2.0 / np.sqrt(size))
            s = np.concatenate((moment / size, [0.0]))
            cone = np.array([theta[0] + s, theta[0] - s, *across])
            rest = np.zeros((4, F.shape[1] - len(self.S)))
            w = np.array([-1.0, 1.0, 0.0, 0.0])
            program = _Program(
                np.block([[F, np.zeros((len(F), 1))], [cone[:, :-1], rest, w[:, None]]]),
                np.concatenate((f, cone[:, -1])),
                (*cones, ConeBlock("second_order", 4)),
            )
            x, z = program.farthest(np.eye(1, F.shape[1] + 1, F.shape[1])[0])
            own = in_dual(z[-4:], (ConeBlock("second_order", 4),))
            found, proved = float(x[-1]), self._proved(moment / size, np.zeros(len(f)), radius)
            if (kept := float(own[0] - own[1])) > 0.0:  # what takes w out again
                along, constant = own @ cone[:, :-1] / kept, float(own @ cone[:, -1]) / kept
                proved = min(proved, constant + self._proved(along, z[:-4], radius))
            high = unit * (middle + size * proved)
            gap = max(size * (proved - found), 0.0) / max(middle + size * found, _SCALE_ROUNDING)
            yield Bound(0.0, high if high < _UNBOUNDED * unit else None, gap)

    @property
    def _theta(self) -> Array:
        """The ten scaled parameters of the body as [columns | centre], shape (10, k + 1)."""
        block = slice(10 * self.number, 10 * self.number + 10)
        return np.column_stack((self.columns[block], self.centre[block]))

    def _left(self, radius: float) -> tuple[Array, Array, tuple[ConeBlock, ...]]:
        """The ellipsoid and the terms as F x + f ∈ K, x = [y, own variables]."""
        k, rows = len(self.S), self.rows
        F = np.zeros((1 + k + len(rows.f), k + rows.G.shape[1]))
        F[1 : 1 + k, :k] = np.diag(self.S)
        F[1 + k :, :k], F[1 + k :, k:] = rows.F, rows.G
        f = np.concatenate(([radius], np.zeros(k), rows.f))
        return F, f, (ConeBlock("second_order", 1 + k), *rows.cones)

    def _proved(self, along: Array, z: Array, radius: float) -> float:
        """An upper bound of alongᵀy over all bodies that are left, by a multiplier or without.

        Args:
            along: shape (k,).
            z: multiplier of the ellipsoid and the terms, then of anything.
            radius: of the ellipsoid.
        """
        rows, k = self.rows, len(self.S)
        without = radius * float(np.linalg.norm(along / self.S))
        z = in_dual(z[1 + k : 1 + k + len(rows.f)], rows.cones)
        beyond = float(np.abs(rows.G.T @ z).max(initial=0.0)) * self.own_bound
        rest = radius * float(np.linalg.norm((along + rows.F.T @ z) / self.S))
        return min(without, float(z @ rows.f) + rest + beyond)


def _between(middle: float, size: float, ends: list[tuple[float, float]], far: float) -> Bound:
    """The bound of middle + size · v, of what is proved and what was found of −v and of v."""
    (down, least), (up, most) = ends
    gap = max(down - least, up - most, 0.0) / max(down + up, _SCALE_ROUNDING)
    low, high = middle - size * down, middle + size * up
    return Bound(low if low > -far else None, high if high < far else None, gap)
