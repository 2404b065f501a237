"""Constraints of the terms in cvxpy, against which their rows in cones are tested."""

from typing import Any

import cvxpy as cp
import numpy as np

from identify.estimation.cones import ConicRows
from identify.estimation.scaling import Scaling
from identify.estimation.terms import (
    ComInBox,
    ComInHull,
    Consistent,
    KnownCom,
    KnownMass,
    LinearEquality,
    MassAtPoints,
    MassBetween,
    MassInBox,
    MassInEllipsoid,
    ScalarBounds,
    ScaledSpace,
    Term,
    com_in_hull,
    mass_at_points,
)
from identify.estimation.terms.cvxpy_rows import rows_by_cvxpy


def rows_of_cvxpy(term: Term, scaling: Scaling) -> ConicRows:
    """Rows in cones of a term by its constraints in cvxpy."""
    build = BUILD.get(type(term), type(term).build)
    return rows_by_cvxpy(
        str(term), lambda theta: build(term, ScaledSpace.of(scaling, theta)), len(scaling.space)
    )


def build_com_in_box(term: ComInBox, x: ScaledSpace) -> list[cp.Constraint]:
    """Build the six linear constraints of the first moment, in scaled units."""
    above, below = map(x.body(term.body).moment_about, (term.low, term.high))
    return [above >= 0.0, below <= 0.0]


def build_com_in_hull(term: ComInHull, x: ScaledSpace) -> list[cp.Constraint]:
    """Build one linear constraint of the first moment for each face, in scaled units."""
    body = x.body(term.body)
    normals, levels = com_in_hull._faces(term.points)
    to_faces = levels * body.inverse_length - normals @ body.com
    return [normals @ body.moment <= to_faces * body.mass]


def build_consistent(term: Consistent, x: ScaledSpace) -> list[cp.Constraint]:
    """Build one matrix inequality and one mass bound for each body."""
    return [
        constraint
        for name, body in zip(x.space.bodies, x.bodies, strict=True)
        for constraint in (
            body.Pi >> term.margin_of(name) * np.eye(4),
            body.mass >= term.least_mass,
        )
    ]


def build_known_com(term: KnownCom, x: ScaledSpace) -> list[cp.Constraint]:
    """Build the equality of the first moment and the mass times the point, in scaled units."""
    return [x.body(term.body).moment_about(term.com) == 0.0]


def build_known_mass(term: KnownMass, x: ScaledSpace) -> list[cp.Constraint]:
    """Build m = mass."""
    body = x.body(term.body)
    return [body.mass == body.scaled_mass(term.mass)]


def build_linear_equality(term: LinearEquality, x: ScaledSpace) -> list[cp.Constraint]:
    """Build the sums in cvxpy, each in units of its largest coefficient."""
    E, e = term._scaled(x)
    space = x.space
    sums: Any = E[:, space.scalar_slice] @ x.scalars if space.scalars else 0.0
    for number, body in enumerate(x.bodies):
        sums = sums + E[:, space.body_slice(number)] @ body.theta
    return [sums == e]


def build_mass_at_points(term: MassAtPoints, x: ScaledSpace) -> list[cp.Constraint]:
    """Build the equality of the scaled body and a sum of nonnegative point masses."""
    body = x.body(term.body)
    masses = cp.Variable(len(term.points))
    return [
        body.theta_of_phi(mass_at_points._unit_point_masses(np.array(term.points)).T) @ masses
        == body.theta,
        masses >= 0.0,
    ]


def build_mass_between(term: MassBetween, x: ScaledSpace) -> list[cp.Constraint]:
    """Build low ≤ m ≤ high."""
    body = x.body(term.body)
    bounds: list[cp.Constraint] = [body.mass >= body.scaled_mass(term.low)]
    if np.isfinite(term.high):
        bounds.append(body.mass <= body.scaled_mass(term.high))
    return bounds


def build_mass_in_box(term: MassInBox, x: ScaledSpace) -> list[cp.Constraint]:
    """Build mean ≥ 0 over the mass of 19 polynomials that are nonnegative in the box."""
    return [term._mean_rows @ x.body(term.body).phi >= 0.0]


def build_mass_in_ellipsoid(term: MassInEllipsoid, x: ScaledSpace) -> list[cp.Constraint]:
    """Build mean ≥ 0 over the mass of the ellipsoid's polynomial 1 − (r − c)ᵀ Q⁻¹ (r − c)."""
    return [term._mean_row @ x.body(term.body).phi >= 0.0]


def build_scalar_bounds(term: ScalarBounds, x: ScaledSpace) -> list[cp.Constraint]:
    """Build the finite lower and upper bounds of all scalars."""
    constraints = []
    for number, scalar in enumerate(x.space.scalars):
        value, inverse_unit = x.scalars[number], x.inverse_units[number]
        if np.isfinite(scalar.low):
            constraints.append(value >= scalar.low * inverse_unit)
        if np.isfinite(scalar.high):
            constraints.append(value <= scalar.high * inverse_unit)
    return constraints


BUILD: dict[type[Term], Any] = {
    ComInBox: build_com_in_box,
    ComInHull: build_com_in_hull,
    Consistent: build_consistent,
    KnownCom: build_known_com,
    KnownMass: build_known_mass,
    LinearEquality: build_linear_equality,
    MassAtPoints: build_mass_at_points,
    MassBetween: build_mass_between,
    MassInBox: build_mass_in_box,
    MassInEllipsoid: build_mass_in_ellipsoid,
    ScalarBounds: build_scalar_bounds,
}
