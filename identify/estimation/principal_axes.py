"""Uncertainty of principal moments about the centre of mass, and of their axes.

Fieller, "Some problems in interval estimation" (1954).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import fdtri

from identify.arrays import Array, Mat33, Phi
from identify.inertia import inertia_about_com
from identify.inertia.matrices import symmetric_from_entries
from identify.significance import CONFIDENCE_LEVEL, UNLIMITED_DEGREES_OF_FREEDOM

_INERTIA_BASIS = symmetric_from_entries(np.eye(6))

_LOWER_TRIANGLE = np.tri(3, k=-1)

_MAX_HALF_ANGLE = 0.25 * np.pi
"""Largest half-angle of the confidence cone of an axis [rad]; beyond it two axes may be
exchanged."""


@dataclass(frozen=True)
class PrincipalUncertainty:
    """Principal moments, and the covariance of the inertia error in principal axes.

    With V the axes and δI the error of the inertia about the centre of mass, G = Vᵀ δI V: to first
    order G_kk is the error of moment k, and G_kj / (λ_k − λ_j) the angle by which axis k rotates
    towards axis j.

    Attributes:
        moments: λ, ascending [kg m²], shape (3,).
        axes: V, whose columns are the axes in B, shape (3, 3).
        jacobian: ∂G/∂phi, shape (3, 3, 10).
        derived: ∂(c, I_c)/∂phi, shape (9, 10).
        covariance: covariance of phi, shape (10, 10).
    """

    moments: Array
    axes: Mat33
    jacobian: Array
    derived: Array
    covariance: Array

    @classmethod
    def of(cls, phi: Phi, covariance: Array, derived: Array) -> PrincipalUncertainty:
        """Compute the principal moments of an estimate, with axes and their covariance.

        `phi`: estimated parameters, shape (10,); `covariance`: covariance of phi, shape (10, 10);
        `derived`: ∂(c, Icxx, Icxy, Icxz, Icyy, Icyz, Iczz)/∂phi, shape (9, 10).
        """
        moments, axes = np.linalg.eigh(inertia_about_com(phi))
        in_axes = (axes.T @ _INERTIA_BASIS @ axes).reshape(6, 9)
        jacobian = (in_axes.T @ derived[3:]).reshape(3, 3, 10)
        return cls(moments, axes, jacobian, derived, covariance)

    @cached_property
    def joint_covariance(self) -> Array:
        """Covariance of all entries of the inertia error in principal axes, shape (3, 3, 3, 3)."""
        J = self.jacobian.reshape(9, 10)
        return (J @ self.covariance @ J.T).reshape(3, 3, 3, 3)

    @cached_property
    def standard_errors(self) -> Array:
        """Standard errors of the inertia in principal axes, shape (3, 3)."""
        return np.sqrt(np.maximum(np.einsum("kjkj->kj", self.joint_covariance), 0.0))

    @cached_property
    def gap_noise(self) -> Array:
        """Mean square difference that errors cause between two equal moments, (3, 3) [kg² m⁴]."""
        cross = np.einsum("kkjj->kj", self.joint_covariance)
        variances = np.diag(cross)
        variance = variances[:, None] + variances - cross - cross.T
        return variance + 4.0 * self.standard_errors**2 * (_LOWER_TRIANGLE + _LOWER_TRIANGLE.T)

    @property
    def eigenvalue_repulsion(self) -> Array:
        """Bias of each principal moment by repulsion from the next smaller and the next larger.

        Error increases the gap of two eigenvalues: its square is on average larger by the variance
        of G_kk − G_jj plus four times that of G_kj. The interval of the upper one is extended down
        by that bias, and that of the lower one up.

        Shape (2, 3): down and up [kg m²].
        """
        gap = np.abs(self.moments[:, None] - self.moments)
        shift = 0.5 * (gap - np.sqrt(np.maximum(gap**2 - self.gap_noise, 0.0)))
        return np.array(
            [(shift * _LOWER_TRIANGLE).sum(axis=1), (shift * _LOWER_TRIANGLE.T).sum(axis=1)]
        )

    def half_angles(self, degrees: float) -> tuple[float | None, ...]:
        """Compute the half-angle of the 95 % confidence cone of each axis.

        The angle is the length of a normal vector in two directions of different spread; its square
        is approximated by a multiple of F with the same mean and variance. The squared gap of two
        moments is reduced by its possible error (Fieller 1954).

        `degrees`: degrees of freedom of the errors.
        Returns half-angles [rad]; None for an axis whose moment does not differ significantly from
        another: it may rotate freely in the plane of both axes.
        """
        degrees = min(degrees, UNLIMITED_DEGREES_OF_FREEDOM)
        others = np.array([[1, 2], [0, 2], [0, 1]])
        k = np.arange(3)[:, None]
        away = self.moments[:, None] - self.moments[others]
        squares = away**2 - self.gap_noise[k, others] * fdtri(2, degrees, CONFIDENCE_LEVEL)
        distinct = np.all(squares > 0.0, axis=1)
        gaps = np.where(squares > 0.0, np.sqrt(np.maximum(squares, 0.0)) * np.sign(away), 1.0)
        joint = self.joint_covariance[
            k[..., None], others[:, :, None], k[..., None], others[:, None, :]
        ]
        spread = np.linalg.eigvalsh(joint / (gaps[:, :, None] * gaps[:, None, :]))
        total = np.maximum(spread, 0.0).sum(axis=1)
        directions = total**2 / np.where(
            total > 0.0, (np.maximum(spread, 0.0) ** 2).sum(axis=1), 1.0
        )
        # Directions without error have no degrees, and an angle of zero.
        angles = np.sqrt(total * fdtri(np.maximum(directions, 1.0), degrees, CONFIDENCE_LEVEL))
        return tuple(
            float(angle) if is_distinct and angle < _MAX_HALF_ANGLE else None
            for is_distinct, angle in zip(distinct.tolist(), angles.tolist(), strict=True)
        )
