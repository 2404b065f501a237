"""Base class of constraints on the unknowns, in cvxpy for the solver and NumPy for the check."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Mat44, Vec3
from identify.estimation.cones import ConicRows
from identify.estimation.scaling import BodyScaling, Scaling
from identify.inertia import PSEUDO_INERTIA_BASIS
from identify.regressors import ParameterSpace

if TYPE_CHECKING:
    import cvxpy as cp

Constraints: TypeAlias = "list[cp.Constraint]"


@dataclass(frozen=True, slots=True)
class ScaledBody:
    """Unknowns of a body in the program, scaled to mass one and size one about its centre of mass.

    Attributes:
        theta: the ten scaled parameters: an expression of cvxpy, shape (10,), or their rows in a
            matrix of all unknowns, shape (10, p), as are the properties below.
        unit: scaling of the body.
    """

    theta: Any
    unit: BodyScaling

    @property
    def Pi(self) -> Any:
        """Scaled pseudo-inertia, shape (4, 4)."""
        if isinstance(self.theta, np.ndarray):
            return (PSEUDO_INERTIA_BASIS @ self.theta).reshape(4, 4, -1)
        import cvxpy as cp

        return cp.reshape(PSEUDO_INERTIA_BASIS @ self.theta, (4, 4), order="C")

    @property
    def mass(self) -> Any:
        """Mass of the body in the unit of mass."""
        return self.theta[0]

    @property
    def moment(self) -> Any:
        """First moment about the reference point, in units of mass times length, shape (3,)."""
        return self.theta[1:4]

    @property
    def phi(self) -> Any:
        """Ten parameters about Bo in B, in units of mass times length², shape (10,)."""
        return self.unit.to_phi / (self.unit.mass * self.unit.length**2) @ self.theta

    @property
    def inverse_length(self) -> float:
        """One over the unit of length [1/m]."""
        return 1.0 / self.unit.length

    @property
    def com(self) -> Vec3:
        """Reference point in units of length, c0/L, shape (3,)."""
        return self.unit.com / self.unit.length

    def theta_of_phi(self, phi: Array) -> Array:
        """Convert ten parameters per kg [SI] to scaled parameters per unit of mass, (10, n)."""
        return self.unit.mass * self.unit.to_theta @ phi

    def scaled_point(self, p: ArrayLike) -> Vec3:
        """Convert a point p_BoP_B [m] to scaled coordinates from the reference point."""
        return np.asarray(p, dtype=np.float64) * self.inverse_length - self.com

    def moment_about(self, p: ArrayLike) -> Any:
        """Return the first moment about a point p_BoP_B [m], in mass times length, shape (3,)."""
        point = self.scaled_point(p)
        rows = isinstance(self.theta, np.ndarray)
        return self.moment - (point[:, None] if rows else point) * self.mass

    def scaled_mass(self, mass: float) -> float:
        """Convert a mass [kg] to the unit of mass."""
        return mass * (1.0 / self.unit.mass)


@dataclass(frozen=True, slots=True)
class ScaledSpace:
    """Scaled unknowns of all bodies and scalars in the program.

    Attributes:
        space: of the unknowns.
        bodies: in the space's order.
        scalars: each in a unit of its own, shape (s,).
        inverse_units: one over those units, shape (s,).
    """

    space: ParameterSpace
    bodies: Sequence[ScaledBody]
    scalars: Any
    inverse_units: Array

    @classmethod
    def of(cls, scaling: Scaling, theta: Any = None) -> ScaledSpace:
        """Return the parts of a variable of cvxpy, shape (p,), or if not given as rows (·, p)."""
        space = scaling.space
        theta = np.eye(len(space)) if theta is None else theta
        bodies = [
            ScaledBody(theta[space.body_slice(number)], unit)
            for number, unit in enumerate(scaling.bodies)
        ]
        return cls(space, bodies, theta[space.scalar_slice], 1.0 / scaling.units)

    def body(self, name: str | None) -> ScaledBody:
        """Return the scaled unknowns of the body with a name; of the first body for None."""
        return self.bodies[body_index(self.space, name)]


class Term(ABC):
    """Constraint on the unknowns, such as a known mass.

    A subclass is a frozen dataclass with a line in `TERM_CLASSES`, implemented twice: for the
    solver in `build`, for the check in `violation`.
    """

    __slots__ = ()

    kind: ClassVar[str]
    """Name of the kind of constraint in provenance and studies."""

    tolerance: ClassVar[float] = 1e-7
    """Largest violation that counts as rounding, in scaled units; far below the accuracy with which
    a bound is measured."""

    auxiliary_bound: ClassVar[float | None] = None
    """Bound on the sum of the absolute values of the auxiliary variables of `build`, in scaled
    units; the certificate needs it if there are any."""

    @abstractmethod
    def build(self, x: ScaledSpace) -> Constraints:
        """Build the constraints in cvxpy on scaled unknowns."""

    def conic_rows(self, scaling: Scaling) -> ConicRows:
        """Lay out the constraints of `build` as rows in cones.

        Here cvxpy does; a subclass that does it in NumPy spares loading cvxpy.

        Raises:
            SolveError: a constraint is not convex, or of a cone that cannot be certified.
        """
        from identify.estimation.terms.cvxpy_rows import rows_by_cvxpy

        return rows_by_cvxpy(
            str(self),
            lambda theta: self.build(ScaledSpace.of(scaling, theta)),
            len(scaling.space),
        )

    @abstractmethod
    def violation(self, x: Array, scaling: Scaling) -> float:
        """Return the violation at x [SI], in scaled units; zero or less if the constraint holds."""

    def record(self) -> dict[str, object]:
        """Return the constraint as plain values for the provenance."""
        term: Any = self  # a subclass is a dataclass
        endless = (np.inf, -np.inf)  # JSON has no number for them
        values = asdict(term).items()
        return {"kind": self.kind, **{k: None if v in endless else v for k, v in values}}

    def require_plausible(self, x: Array, space: ParameterSpace) -> None:  # noqa: B027
        """Raise if the constraint is implausible for the masses of x, as with lengths in mm.

        Args:
            x: unknowns [SI] of least squares, shape (p,).
            space: of the unknowns.

        Raises:
            TermError: the term is implausible.
        """

    def equalities(self, space: ParameterSpace) -> tuple[Array, Array]:
        """Return the equalities E x = e of the constraint, shapes (k, p) and (k,)."""
        return np.zeros((0, len(space))), np.zeros(0)

    def limits(self, space: ParameterSpace, body: str) -> Mapping[str, tuple[float, float]]:
        """Return the bounds that the constraint implies for quantities of a body, by name."""
        return {}


def body_index(space: ParameterSpace, name: str | None) -> int:
    """Return the index of the body with a name in a space; zero for None.

    Raises `ProblemError`: no body has this name.
    """
    return 0 if name is None else space.body_slice(name).start // 10


def name_suffix(body: str | None) -> str:
    """Return the suffix " of the BODY" for messages; empty if no body is named."""
    return "" if body is None else f" of the {body}"


def second_moment_rows(E: Mat44) -> Array:
    """Compute rows a with aᵀ phi = tr(E Π(phi)) of symmetric E (..., 4, 4), shape (..., 10)."""
    return E.reshape(*E.shape[:-2], 16) @ PSEUDO_INERTIA_BASIS
