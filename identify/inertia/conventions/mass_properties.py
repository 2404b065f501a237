"""Mass properties about the centre of mass, and records of other tools with sealed fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Mat33, Phi, PhiLike, Vec3, as_real, seal
from identify.errors import ModelError
from identify.inertia.conventions.axes import principal_frame
from identify.inertia.matrices import (
    inertia_about_com,
    phi_from_inertia,
    rounding_error_about_com,
)
from identify.spatial import Pose

_ASYMMETRY_TOLERANCE = 1e-9
"""Largest asymmetry of a matrix read from text, relative to its largest entry."""

_NOISE_RATIO = 1e-9
"""Ratio to a body's size, or to its moments, below which a coordinate or product is rounding."""

FieldShapes = Mapping[str, tuple[int, ...]]
"""Trailing shapes of array fields, by field name."""


class SealedRecord:
    """Base of dataclasses for records of other tools: fields in `SHAPES` become read-only."""

    __slots__ = ()
    SHAPES: ClassVar[FieldShapes] = {}

    def __post_init__(self) -> None:
        shapes = self._shapes()
        fields = {name: getattr(self, name) for name in shapes}
        for name, array in seal_fields(type(self).__name__, fields, shapes).items():
            object.__setattr__(self, name, array)

    def _shapes(self) -> FieldShapes:
        return self.SHAPES


def seal_fields(
    label: str, fields: Mapping[str, ArrayLike], shapes: FieldShapes
) -> dict[str, Array]:
    """Return read-only copies of the fields of a body, or of a batch of bodies.

    Raises `ModelError`: a field of another shape or that is not finite, a matrix that is not
    symmetric, or fields of unlike batch shapes.
    """
    arrays = {name: seal(fields[name], f"{label}.{name}", (..., *shapes[name])) for name in shapes}
    batches = {
        name: array.shape[: array.ndim - len(shapes[name])] for name, array in arrays.items()
    }
    if len(set(batches.values())) > 1:
        raise ModelError(f"{label}: expected one batch shape for all fields, got {batches}")
    for name, matrix in arrays.items():
        if shapes[name] == (3, 3):
            off = np.abs(matrix - np.swapaxes(matrix, -1, -2)).max(axis=(-2, -1), initial=0.0)
            if np.any(off > _ASYMMETRY_TOLERANCE * np.abs(matrix).max(axis=(-2, -1), initial=0.0)):
                raise ModelError(
                    f"{label}.{name}: expected a symmetric matrix, got entries that differ by "
                    f"{np.max(off):.1e} from their mirror images"
                )
    return arrays


def seal_phi(phi: PhiLike) -> Phi:
    """Return a read-only copy of ten parameters, shape (..., 10)."""
    return seal(phi, "phi", (..., 10))


Axes: TypeAlias = Literal["body", "principal"] | Mat33
"""Axes of the inertial frame C: the body's, the principal ones, or a rotation R_BC."""


class MassProperties(NamedTuple):
    """Mass, centre of mass and inertia in body axes; `Convention` defines point and signs.

    Attributes:
        mass: [kg], shape (...).
        com: centre of mass from the body's origin, p_BoBcm_B [m], shape (..., 3).
        inertia: a matrix, shape (..., 3, 3), or its six entries, shape (..., 6) [kg m²].
    """

    mass: Array
    com: Vec3
    inertia: Array


class InertialFrame(NamedTuple):
    """Mass [kg], pose X_BC of a frame C at the centre of mass, and inertia I_BBcm_C [kg m²]."""

    mass: Array
    X_BC: Pose
    inertia: Mat33

    @property
    def phi(self) -> Phi:
        """Ten parameters about Bo in B, shape (..., 10)."""
        R = self.X_BC.rotation
        about_com = R @ self.inertia @ np.swapaxes(R, -1, -2)
        return phi_from_inertia(self.mass, self.X_BC.position, about_com)


def central_inertia(phi: PhiLike, format_name: str, *, positive: bool = False) -> MassProperties:
    """Return mass, centre of mass and the inertia matrix about it.

    `format_name` names the requesting form in messages; `positive` also rejects a negative mass.

    Raises `ModelError`: not ten finite numbers, or a mass of zero.
    """
    phi = seal_phi(phi)
    require_mass(phi, format_name, positive=positive)
    return MassProperties(phi[..., 0], phi[..., 1:4] / phi[..., :1], inertia_about_com(phi))


def without_rounding_noise(phi: Phi) -> MassProperties:
    """Return mass, centre of mass c and inertia about it, with zeros for rounding noise.

    Noise are products |I_ij| ≤ 10⁻⁹ √(I_ii I_jj) or below what ten parameters about the origin
    resolve, and coordinates |c_i| ≤ 10⁻⁹ (k + |c|) with the radius of gyration k.

    Args:
        phi: ten parameters of a body with a positive mass, about Bo in B, shape (10,).
    """
    mass, com, inertia = central_inertia(phi, "a body", positive=True)
    sizes = np.sqrt(np.maximum(np.diag(inertia), 0.0))
    noise = np.maximum(_NOISE_RATIO * sizes[:, None] * sizes, rounding_error_about_com(phi))
    is_noise = (np.abs(inertia) <= noise) & ~np.eye(3, dtype=bool)
    reach = np.sqrt(0.5 * (sizes @ sizes) / mass) + np.linalg.norm(com)
    com = np.where(np.abs(com) <= _NOISE_RATIO * reach, 0.0, com)
    return MassProperties(mass, com, np.where(is_noise, 0.0, inertia))


def inertial_frame(phi: PhiLike, format_name: str, axes: Axes = "body") -> InertialFrame:
    """Return mass and inertia in a frame C at the centre of mass.

    `axes` are those of C; one rotation R_BC applies to a whole batch; `format_name` is for errors.

    Raises `ModelError`: a mass of zero, or `axes` that are not a rotation.
    """
    mass, com, inertia = central_inertia(phi, format_name)
    if isinstance(axes, str) and axes == "principal":
        moments, R = principal_frame(inertia, "unless diagonal")
        return InertialFrame(mass, Pose(R, com), moments[..., None, :] * np.eye(3))
    if isinstance(axes, str) and axes != "body":
        raise ModelError(f"axes: expected 'body', 'principal' or a rotation matrix, got {axes!r}")
    R = np.eye(3) if isinstance(axes, str) else as_real(axes, "axes")
    if R.shape[-2:] != (3, 3):
        raise ModelError(f"axes: expected a rotation matrix (3, 3), got shape {R.shape}")
    X_BC = Pose(np.broadcast_to(R, inertia.shape), com)
    if not isinstance(axes, str):
        inertia = np.swapaxes(X_BC.rotation, -1, -2) @ inertia @ X_BC.rotation
    return InertialFrame(mass, X_BC, inertia)


def require_mass(phi: Phi, format_name: str, *, positive: bool = False) -> None:
    """Reject bodies without mass and, if `positive`, bodies of negative mass.

    Raises `ModelError`: a mass of zero, or below it.
    """
    massless = np.flatnonzero(phi[..., 0].reshape(-1) == 0.0)
    if massless.size:
        body = f"body {massless[0]} of the batch" if phi.ndim > 1 else "the body"
        raise ModelError(
            f"{format_name}: {body} has no mass (m = 0) and so no centre of mass, which this form "
            f"needs; leave it out, or use a form about the origin (such as 'pinocchio')"
        )
    if positive and (phi[..., 0] < 0.0).any():
        raise ModelError(
            f"{format_name}: a mass of {phi[..., 0].min():g} kg; expected a positive mass"
        )
