"""How well principal moments about the centre of mass are known, and where their axes are.

Fieller, "Some problems in interval estimation" (1954).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import fdtri

from identify.arrays import Array, Mat33, Phi
from identify.inertia import inertia_about_com
from identify.inertia.matrices import symmetric_from_six
from identify.significance import CONFIDENCE_LEVEL, UNLIMITED_DEGREES

_EACH_OF_SIX = symmetric_from_six(np.eye(6))

_BELOW = np.tri(3, k=-1)

_WIDEST_CONE = 0.25 * np.pi
"""Half-angle of a cone beyond which two axes might as well be exchanged [rad]."""


@dataclass(frozen=True)
class PrincipalSpread:
    """Principal moments, and the covariance of what error makes of the inertia in their axes.

    With V the axes and δI the error of the inertia about the centre of mass, G = Vᵀ δI V: to first
    order G_kk is the error of moment k, and G_kj / (λ_k − λ_j) the angle by which axis k is turned
    towards axis j.

    Attributes:
        moments: λ, ascending [kg m²], shape (3,).
        axes: V, whose columns are the axes in B, shape (3, 3).
        jacobian: ∂G/∂phi, shape (3, 3, 10).
        derived: ∂(c, I_c)/∂phi, shape (9, 10).
        covariance: of phi, shape (10, 10).
    """

    moments: Array
    axes: Mat33
    jacobian: Array
    derived: Array
    covariance: Array

    @classmethod
    def of(cls, phi: Phi, covariance: Array, derived: Array) -> PrincipalSpread:
        """Of an estimate.

        Args:
            phi: shape (10,).
            covariance: its covariance, shape (10, 10).
            derived: ∂(c, Icxx, Icxy, Icxz, Icyy, Icyz, Iczz)/∂phi, shape (9, 10).
        """
        moments, axes = np.linalg.eigh(inertia_about_com(phi))
        in_axes = (axes.T @ _EACH_OF_SIX @ axes).reshape(6, 9)
        jacobian = (in_axes.T @ derived[3:]).reshape(3, 3, 10)
        return cls(moments, axes, jacobian, derived, covariance)

    @cached_property
    def joint(self) -> Array:
        """Covariance of all entries of G, shape (3, 3, 3, 3)."""
        J = self.jacobian.reshape(9, 10)
        return (J @ self.covariance @ J.T).reshape(3, 3, 3, 3)

    @cached_property
    def errors(self) -> Array:
        """Standard errors of G, shape (3, 3)."""
        return np.sqrt(np.maximum(np.einsum("kjkj->kj", self.joint), 0.0))

    @cached_property
    def apart(self) -> Array:
        """Mean square gap that error alone makes of two equal moments, shape (3, 3) [kg² m⁴]."""
        own = np.einsum("kkjj->kj", self.joint)
        each = np.diag(own)
        variance = each[:, None] + each - own - own.T
        return variance + 4.0 * self.errors**2 * (_BELOW + _BELOW.T)

    @property
    def pushed(self) -> Array:
        """How far noise drives each moment away from the one below and from the one above.

        Error drives two eigenvalues apart: the square of a gap is on average larger by the
        variance of G_kk − G_jj and four times that of G_kj. So much the interval of the upper one
        has to reach down, and that of the lower one up.

        Returns:
            Shape (2, 3): down and up [kg m²].
        """
        gap = np.abs(self.moments[:, None] - self.moments)
        shift = 0.5 * (gap - np.sqrt(np.maximum(gap**2 - self.apart, 0.0)))
        return np.array([(shift * _BELOW).sum(axis=1), (shift * _BELOW.T).sum(axis=1)])

    def half_angles(self, degrees: float) -> tuple[float | None, ...]:
        """Half-angle of the cone around each axis that holds the true one, in 95 of 100 cases.

        The angle is the length of a normal vector in two directions of different spread; its square
        is taken for a multiple of F with the same mean and variance. The gap of two moments is in
        error too: as much as noise may have made of it is taken off its square (Fieller 1954).

        Args:
            degrees: of freedom of the errors.

        Returns:
            [rad]; None for an axis whose moment cannot be told from another: that one may turn
            freely in the plane of both.
        """
        degrees = min(degrees, UNLIMITED_DEGREES)
        others = np.array([[1, 2], [0, 2], [0, 1]])
        k = np.arange(3)[:, None]
        away = self.moments[:, None] - self.moments[others]
        squares = away**2 - self.apart[k, others] * fdtri(2, degrees, CONFIDENCE_LEVEL)
        told = np.all(squares > 0.0, axis=1)
        gaps = np.where(squares > 0.0, np.sqrt(np.maximum(squares, 0.0)) * np.sign(away), 1.0)
        joint = self.joint[k[..., None], others[:, :, None], k[..., None], others[:, None, :]]
        spread = np.linalg.eigvalsh(joint / (gaps[:, :, None] * gaps[:, None, :]))
        total = np.maximum(spread, 0.0).sum(axis=1)
        alike = total**2 / np.where(total > 0.0, (np.maximum(spread, 0.0) ** 2).sum(axis=1), 1.0)
        # Directions without error have no degrees, and an angle of zero.
        angles = np.sqrt(total * fdtri(np.maximum(alike, 1.0), degrees, CONFIDENCE_LEVEL))
        return tuple(
            float(angle) if there and angle < _WIDEST_CONE else None
            for there, angle in zip(told.tolist(), angles.tolist(), strict=True)
        )
