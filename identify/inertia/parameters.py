"""`InertialParameters`, the ten inertial parameters of bodies, and the default body."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import EllipsisType
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from identify.arrays import (
    Array,
    Flags,
    Indices,
    Mat33,
    Mat44,
    Mat66,
    Phi,
    PhiLike,
    Vec3,
    as_real,
    seal,
)
from identify.errors import ModelError
from identify.inertia.consistency import is_consistent
from identify.inertia.frames import phi_in_frame
from identify.inertia.matrices import (
    inertia_about_com,
    inertia_about_origin,
    phi_from_inertia,
    pseudo_inertia,
    spatial_inertia,
)
from identify.spatial import Pose, PoseLike

if TYPE_CHECKING:
    from identify.inertia.conventions.tools import (
        DrakeInertia,
        MujocoBody,
        MujocoSpecBody,
        PinocchioInertia,
    )

PHI = ("m", "hx", "hy", "hz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
"""Names of the ten parameters, in the only order the toolkit uses."""

UNITS = ("kg", "kg m", "kg m", "kg m", *("kg m²",) * 6)
"""Units of the ten parameters."""

DEFAULT_DENSITY = 1000.0
"""Density of the default body [kg/m³]: that of water, between hollow plastics and metals."""

_AxisIndex: TypeAlias = SupportsIndex | slice | EllipsisType | Indices | Flags | Sequence[int]
_Index: TypeAlias = _AxisIndex | tuple[_AxisIndex, ...]

_ASYMMETRY_TOLERANCE = 1e-9
"""Largest asymmetry of an inertia matrix, relative to its largest entry."""
_ROWS, _COLUMNS = np.array([0, 1, 2, 0, 0, 1]), np.array([0, 1, 2, 1, 2, 2])
"""Row and column of the entries xx, yy, zz, xy, xz, yz in a matrix."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class InertialParameters:
    """The ten inertial parameters of a rigid body about Bo in B, or of a batch of bodies.

    Any ten finite numbers are accepted; `consistent` tells whether they are physically consistent.

    Every function that takes ten parameters takes an `InertialParameters`, or an estimate, in their
    place: NumPy makes an array of it by `__array__`. Functions that return ten parameters
    (`in_frame`, `composite`, `subtract`) return bodies for bodies and arrays for arrays.
    Bodies about one point in the same axes add up: `gripper + payload`, `loaded - empty`,
    `sum(parts)`.

    Attributes:
        phi: [m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz], h = m c [kg, kg m, kg m²], shape (10,),
            or (..., 10) for a batch; the properties below then have the batch shape (...) before
            their own.
    """

    phi: Phi

    def __post_init__(self) -> None:
        object.__setattr__(self, "phi", seal(self.phi, "phi", (..., 10)))

    @classmethod
    def from_com(
        cls, mass: ArrayLike, com: ArrayLike, inertia_about_com: ArrayLike
    ) -> InertialParameters:
        """Create parameters from mass [kg], centre of mass in B [m] and I_BBcm_B [kg m²].

        Raises:
            ModelError: another shape, not finite, or an inertia that is not symmetric.
        """
        com = seal(com, "com", (..., 3))
        inertia = seal(inertia_about_com, "inertia_about_com", (..., 3, 3))
        skew = np.abs(inertia - np.swapaxes(inertia, -1, -2)).max(axis=(-2, -1), initial=0.0)
        if (skew > _ASYMMETRY_TOLERANCE * np.abs(inertia).max(axis=(-2, -1), initial=0.0)).any():
            raise ModelError(
                f"inertia_about_com: expected a symmetric matrix, got {inertia.tolist()}"
            )
        mass = as_real(mass, "mass")
        batch = np.broadcast_shapes(mass.shape, com.shape[:-1], inertia.shape[:-2])
        with np.errstate(invalid="ignore"):  # an infinite mass is refused with the rest of phi
            return cls(
                phi_from_inertia(
                    np.broadcast_to(mass, batch),
                    np.broadcast_to(com, (*batch, 3)),
                    np.broadcast_to(inertia, (*batch, 3, 3)),
                )
            )

    @classmethod
    def single(cls, body: PhiLike) -> InertialParameters:
        """Create a single body from ten parameters or from an estimate.

        Raises:
            ModelError: a batch of bodies, or not ten finite numbers.
        """
        return cls(seal(body, "body", (10,)))

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of the batch; () for one body."""
        return self.phi.shape[:-1]

    @property
    def mass(self) -> float:
        """Mass m [kg]; an array of shape (...) for a batch."""
        return self.phi[..., 0] if self.batch_shape else float(self.phi[0])  # pyright: ignore[reportReturnType]

    @property
    def first_moment(self) -> Vec3:
        """First moment of mass h = m c [kg m], shape (3,)."""
        return self.phi[..., 1:4]

    @property
    def com(self) -> Vec3:
        """Centre of mass p_BoBcm_B [m], shape (3,).

        Raises:
            ModelError: the mass is zero.
        """
        self._require_mass("centre of mass")
        return self.phi[..., 1:4] / self.phi[..., :1]

    @property
    def inertia_about_com(self) -> Mat33:
        """Rotational inertia about the centre of mass, I_BBcm_B [kg m²], shape (3, 3).

        Raises:
            ModelError: the mass is zero.
        """
        self._require_mass("inertia about the centre of mass")
        return inertia_about_com(self.phi)

    @property
    def inertia_about_origin(self) -> Mat33:
        """Rotational inertia about the origin, I_BBo_B [kg m²], shape (3, 3)."""
        return inertia_about_origin(self.phi)

    @property
    def pseudo_inertia(self) -> Mat44:
        """Pseudo-inertia Pi about Bo in B, shape (4, 4)."""
        return pseudo_inertia(self.phi)

    @property
    def spatial_inertia(self) -> Mat66:
        """Spatial inertia M about Bo in B, linear first, shape (6, 6)."""
        return spatial_inertia(self.phi)

    @property
    def principal_moments(self) -> Array:
        """Principal moments of inertia about the centre of mass, ascending [kg m²], shape (3,)."""
        return np.linalg.eigvalsh(self.inertia_about_com)

    @property
    def consistent(self) -> bool:
        """Whether the body is physically consistent: m > 0 and Pi ⪰ 0, up to rounding."""
        consistent = is_consistent(self.phi)
        return consistent if self.batch_shape else bool(consistent)  # pyright: ignore[reportReturnType]

    def in_frame(self, X_AB: PoseLike) -> InertialParameters:
        """Return the body's parameters about Ao in A, where `X_AB` is the pose of B in A."""
        return InertialParameters(phi_in_frame(self.phi, Pose.of(X_AB)))

    @classmethod
    def from_spatial(cls, matrix: ArrayLike, convention: str) -> InertialParameters:
        """Create a body from the 6×6 spatial inertia about Bo in B of another tool.

        Args:
            matrix: shape (..., 6, 6).
            convention: one of `CONVENTIONS` that is a matrix, such as `drake_matrix`,
                `featherstone`, `dart_tensor` (angular first) or `pinocchio_matrix` (linear first).

        Raises:
            ModelError: no such convention, or no rigid body has this matrix.
        """
        from identify.inertia.conventions.registry import find_matrix_convention

        return cls(find_matrix_convention(convention).to_phi(matrix))

    def to_spatial(self, convention: str) -> Mat66:
        """Return the 6×6 spatial inertia about Bo in B in another tool's convention.

        See `from_spatial` for the conventions.
        """
        from identify.inertia.conventions.registry import find_matrix_convention

        return find_matrix_convention(convention).from_phi(self.phi)

    @classmethod
    def from_pinocchio(cls, inertia: PinocchioInertia) -> InertialParameters:
        """Create a body from a `pinocchio.Inertia` about the origin of its frame, in its axes."""
        from identify.inertia.conventions import tools

        return cls(tools.from_pinocchio(inertia))

    def to_pinocchio(self) -> Any:
        """Return the body as a `pinocchio.Inertia`.

        Raises:
            MissingExtra: Pinocchio is not installed.
            ModelError: a batch of bodies.
        """
        from identify.inertia.conventions import tools

        return tools.to_pinocchio(self.phi)

    @classmethod
    def from_drake(cls, inertia: DrakeInertia) -> InertialParameters:
        """Create a body from a Drake `SpatialInertia` M_SP_E, about P in axes of E."""
        from identify.inertia.conventions import tools

        return cls(tools.from_drake(inertia))

    def to_drake(self) -> Any:
        """Return the body as a `pydrake.multibody.tree.SpatialInertia` M_BBo_B.

        Raises:
            MissingExtra: Drake is not installed.
            ModelError: a batch of bodies, a mass that is not positive, or a physically
                inconsistent body, which Drake rejects.
        """
        from identify.inertia.conventions import tools

        return tools.to_drake(self.phi)

    @classmethod
    def from_mujoco(cls, body: MujocoBody) -> InertialParameters:
        """Create a body from a body of a MuJoCo `MjSpec` or compiled model, in its own frame.

        Args:
            body: `spec.body("hand")` with an explicit inertial, by `fullinertia` or by `inertia`
                and its axes `iquat`; or `model.body("hand")`.

        Raises:
            ModelError: the body of a specification has no explicit inertial: the compiler derives
                it from the geometries, so compile it and use the body of the model.
        """
        from identify.inertia.conventions import tools

        return cls(tools.from_mujoco(body))

    def to_mujoco(self, body: MujocoSpecBody) -> None:
        """Write mass, ipos, iquat and inertia of a MuJoCo `MjSpec` body as an explicit inertial.

        Raises:
            ModelError: a batch of bodies, or a mass that is not positive.
        """
        from identify.inertia.conventions import tools

        tools.to_mujoco(self.phi, body)

    def apply_to(self, model: Any, name: str) -> None:
        """Write the body into a model in memory, in the frame of its body of that name.

        Args:
            model: an `MjSpec` (before or after a compilation; compile it again), a
                `pinocchio.Model`, whose joint then carries the body in place of the earlier one, or
                a `Usd.Stage`, in whose units it is written, with `newton:inertia`.
            name: of the body; of a stage the path of a prim.

        Raises:
            ModelError: a model of another program, no such body, a batch of bodies, or a setting of
                the model by which it would ignore or change the numbers.
        """
        from identify.inertia.conventions.live_models import apply_body

        apply_body(seal(self.phi, "body", (10,)), model, name)

    def __add__(self, other: InertialParameters) -> InertialParameters:
        if not isinstance(other, InertialParameters):
            return NotImplemented
        return InertialParameters(self.phi + other.phi)

    def __radd__(self, other: object) -> InertialParameters:
        """Add the body to 0, so that `sum` of bodies works."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __sub__(self, other: InertialParameters) -> InertialParameters:
        """Return the difference of two bodies, unchecked; `subtract` checks its consistency."""
        if not isinstance(other, InertialParameters):
            return NotImplemented
        return InertialParameters(self.phi - other.phi)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, InertialParameters):
            return NotImplemented
        return np.array_equal(self.phi, other.phi)

    def __hash__(self) -> int:
        return hash((self.phi.shape, (self.phi + 0.0).tobytes()))  # −0 equals 0

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        """Return the ten parameters as an array, shape (..., 10)."""
        return np.array(self.phi, dtype=dtype, copy=copy)

    def __len__(self) -> int:
        """Return the length of the first axis of a batch.

        Raises `TypeError`: it is a single body.
        """
        if not self.batch_shape:
            raise TypeError("a single body has no length; only a batch of bodies has one")
        return len(self.phi)

    def __getitem__(self, index: _Index) -> InertialParameters:
        """Return the bodies of a batch at an index into the batch shape."""
        if not self.batch_shape:
            raise TypeError("a single body cannot be indexed; its ten numbers are in phi")
        return InertialParameters(
            self.phi[(*index, slice(None)) if isinstance(index, tuple) else index]
        )

    def __iter__(self) -> Iterator[InertialParameters]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        return f"InertialParameters({describe_body(self)})"

    def _require_mass(self, quantity: str) -> None:
        if (self.phi[..., 0] == 0.0).any():
            raise ModelError(f"a body without mass has no {quantity}")


BodyT = TypeVar("BodyT", Phi, InertialParameters)


def match_input_type(phi: Phi, *sources: object) -> Any:
    """Return parameters as `InertialParameters` if any source is one, else as an array."""
    if any(isinstance(source, InertialParameters) for source in sources):
        return InertialParameters(phi)
    return phi


def in_frame(phi: BodyT, X_AB: PoseLike) -> BodyT:
    """Return a body's parameters about Ao in A.

    It is the sandwich rule Pi_A = T_AB Pi_B T_ABᵀ: h' = R h + m p and
    I' = R I Rᵀ + 2 (k · p) 1 − k pᵀ − p kᵀ with k = R h + ½ m p.

    Args:
        phi: ten parameters about Bo in B, shape (..., 10).
        X_AB: pose of B in A; a batch of poses broadcasts with `phi`.

    Returns:
        Shape (..., 10); `InertialParameters` for `InertialParameters`.
    """
    return match_input_type(phi_in_frame(as_real(phi, "phi"), Pose.of(X_AB)), phi)


def describe_body(body: InertialParameters) -> str:
    """Return mass, centre of mass and inertia of a body in one line, or a summary of a batch."""
    if body.batch_shape:
        masses = np.ravel(body.mass)
        of = f", mass {masses.min():.6g} to {masses.max():.6g} kg" if masses.size else ""
        return f"batch {body.batch_shape}{of}"
    about = "origin"
    at = ""
    inertia = body.inertia_about_origin
    if body.mass != 0.0:
        about, inertia = "com", body.inertia_about_com
        at = f", com [{', '.join(f'{c + 0.0:.4g}' for c in body.com)}] m"
    six = zip(("xx", "yy", "zz", "xy", "xz", "yz"), inertia[_ROWS, _COLUMNS], strict=True)
    entries = ", ".join(f"{name} {value + 0.0:.4g}" for name, value in six)
    return f"mass {body.mass:.6g} kg{at}, inertia about {about} [{entries}] kg m²"


def default_radius(mass: float) -> float:
    """Return the radius [m] of a solid ball of `DEFAULT_DENSITY` with this mass [kg]."""
    return float(np.cbrt(3.0 * mass / (4.0 * np.pi * DEFAULT_DENSITY)))


def default_body(mass: float, com: Vec3) -> Phi:
    """Return a ball of `DEFAULT_DENSITY` about a centre of mass: I_c = 2/5 m r² 1.

    Args:
        mass: [kg], positive.
        com: p_BoBcm_B [m], shape (3,).

    Returns:
        Its ten parameters about Bo, shape (10,).
    """
    return phi_from_inertia(mass, com, 0.4 * mass * default_radius(mass) ** 2 * np.eye(3))
