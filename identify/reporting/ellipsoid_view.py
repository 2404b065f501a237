"""An ellipsoid and curves on it as seen from far away: what is in front, and the outline.

An orthographic view keeps lengths across it, and of a convex surface it is known point by point
whether it faces the viewer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Flags, Mat33, Vec3


@dataclass(frozen=True, slots=True)
class View:
    """A direction to look from.

    Attributes:
        axes: rows to the right, up and towards the viewer, shape (3, 3).
    """

    axes: Mat33

    @classmethod
    def of(cls, azimuth: float, elevation: float) -> View:
        """From an azimuth about z and an elevation above the plane of x and y [rad], z up."""
        ca, sa, ce, se = np.cos(azimuth), np.sin(azimuth), np.cos(elevation), np.sin(elevation)
        return cls(np.array([[-sa, ca, 0.0], [-se * ca, -se * sa, ce], [ce * ca, ce * sa, se]]))

    def flat(self, points: Vec3) -> Array:
        """Where points are seen, shape (..., 2)."""
        return points @ self.axes[:2].T

    def front(self, points: Vec3, inertia: Mat33) -> Flags:
        """Which points of the ellipsoid rᵀ I r = 1 face the viewer, shape (...)."""
        return points @ inertia @ self.axes[2] >= 0.0

    def outline(self, inertia: Mat33, count: int = 181) -> Array:
        """Outline of the ellipsoid rᵀ I r = 1, shape (count, 2).

        The shadow of r = I^-½ e along the view is the ellipse of S I⁻¹ Sᵀ.
        """
        theta = np.linspace(0.0, 2.0 * np.pi, count)
        across = self.axes[:2]
        root = np.linalg.cholesky(across @ np.linalg.inv(inertia) @ across.T)
        return np.column_stack((np.cos(theta), np.sin(theta))) @ root.T

    def parts(self, curve: Vec3, inertia: Mat33) -> tuple[Array, Array]:
        """A curve on the ellipsoid, in front of it and behind, with NaN where it is not.

        Args:
            curve: shape (n, 3).
            inertia: shape (3, 3).

        Returns:
            Two of shape (n, 2).
        """
        seen, front = self.flat(curve), self.front(curve, inertia)
        # A point beyond each change belongs to both, so that the line has no hole there.
        near, far = _widened(front), _widened(~front)
        return np.where(near[:, None], seen, np.nan), np.where(far[:, None], seen, np.nan)


def _widened(flags: Flags) -> Flags:
    wide = flags.copy()
    wide[1:] |= flags[:-1]
    return wide
