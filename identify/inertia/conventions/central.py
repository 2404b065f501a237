"""Mass, centre of mass and the inertia about it: what most tools and files hold."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Mat33, Phi, Vec3
from identify.errors import ModelError
from identify.inertia.conventions.axes import principal_frame
from identify.inertia.conventions.sealing import seal_phi
from identify.inertia.matrices import inertia_about_com, phi_from_inertia
from identify.spatial import Pose

Axes: TypeAlias = Literal["body", "principal"] | Mat33
"""Axes of the inertial frame C: the body's, the principal ones, or a rotation R_BC."""


class CentralInertia(NamedTuple):
    """Mass [kg] (...), p_BoBcm_B [m] (..., 3) and I_BBcm_B [kg m²] (..., 3, 3)."""

    mass: Array
    com: Vec3
    inertia: Mat33


class InertialFrame(NamedTuple):
    """Mass [kg], pose X_BC of a frame C at the centre of mass, and I_BBcm_C [kg m²]."""

    mass: Array
    X_BC: Pose
    inertia: Mat33

    @property
    def phi(self) -> Phi:
        """The ten parameters about Bo in B, shape (..., 10)."""
        R = self.X_BC.rotation
        about_com = R @ self.inertia @ np.swapaxes(R, -1, -2)
        return phi_from_inertia(self.mass, self.X_BC.position, about_com)


def central_inertia(phi: ArrayLike, form: str, *, positive: bool = False) -> CentralInertia:
    """Mass, centre of mass and the inertia about it, of ten parameters.

    Args:
        phi: shape (..., 10).
        form: what needs them, for the message.
        positive: whether a mass below zero is refused too.

    Raises:
        ModelError: not ten finite numbers, or a mass of zero.
    """
    phi = seal_phi(phi)
    require_mass(phi, form, positive=positive)
    return CentralInertia(phi[..., 0], phi[..., 1:4] / phi[..., :1], inertia_about_com(phi))


def inertial_frame(phi: ArrayLike, form: str, axes: Axes = "body") -> InertialFrame:
    """The body in a frame C at its centre of mass.

    Args:
        phi: shape (..., 10).
        form: what needs it, for the message.
        axes: axes of C; one rotation R_BC serves a whole batch.

    Raises:
        ModelError: a mass of zero, or `axes` that are no rotation.
    """
    mass, com, inertia = central_inertia(phi, form)
    if isinstance(axes, str) and axes == "principal":
        moments, R = principal_frame(inertia, "unless diagonal")
        return InertialFrame(mass, Pose(R, com), moments[..., None, :] * np.eye(3))
    if isinstance(axes, str) and axes != "body":
        raise ModelError(f"axes: expected 'body', 'principal' or a rotation matrix, got {axes!r}")
    R = np.eye(3) if isinstance(axes, str) else np.asarray(axes, dtype=np.float64)
    if R.shape[-2:] != (3, 3):
        raise ModelError(f"axes: expected a rotation matrix (3, 3), got shape {R.shape}")
    X_BC = Pose(np.broadcast_to(R, inertia.shape), com)
    if not isinstance(axes, str):
        inertia = np.swapaxes(X_BC.rotation, -1, -2) @ inertia @ X_BC.rotation
    return InertialFrame(mass, X_BC, inertia)


def require_mass(phi: Phi, form: str, *, positive: bool = False) -> None:
    """Refuses bodies that have no centre of mass, or a mass that is not positive.

    Raises:
        ModelError: a mass of zero, or below it.
    """
    massless = np.flatnonzero(phi[..., 0].reshape(-1) == 0.0)
    if massless.size:
        which = f"body {massless[0]} of the batch" if phi.ndim > 1 else "the body"
        raise ModelError(
            f"{form}: {which} has no mass (m = 0) and so no centre of mass, which this form needs; "
            f"leave it out, or use a form about the origin (such as 'pinocchio')"
        )
    if positive and (phi[..., 0] < 0.0).any():
        raise ModelError(f"{form}: a mass of {phi[..., 0].min():g} kg; it allows none below zero")
