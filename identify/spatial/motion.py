"""`BodyMotion`: accelerations and angular velocity of a body over time, in its own axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Vec3, as_real
from identify.errors import ModelError
from identify.spatial.columns import (
    ANGULAR_ACCELERATION,
    PRODUCT_PAIRS,
    PROPER_ACCELERATION,
    RATE_PRODUCTS,
)


@dataclass(frozen=True, slots=True)
class BodyMotion:
    """Motion of a body for the Newton-Euler equations, sample by sample, in axes of B.

    Attributes:
        proper_acceleration: a' = a_WBo_B − g_B, the classical acceleration of the body's origin
            less gravity, as an accelerometer at Bo reads [m/s²], shape (n, 3).
        angular_velocity: w_WB_B [rad/s], shape (n, 3).
        angular_acceleration: α_WB_B [rad/s²], shape (n, 3).
    """

    proper_acceleration: Vec3
    angular_velocity: Vec3
    angular_acceleration: Vec3

    def __post_init__(self) -> None:
        arrays = (self.proper_acceleration, self.angular_velocity, self.angular_acceleration)
        shapes = {as_real(array, "motion").shape for array in arrays}
        if len(shapes) != 1 or next(iter(shapes))[-1:] != (3,):
            raise ModelError(f"motion: expected three arrays of one shape (..., 3), got {shapes}")

    def __len__(self) -> int:
        return len(self.proper_acceleration)

    @property
    def features(self) -> Array:
        """Motion features ψ = [a', α, wx², wy², wz², wx wy, wx wz, wy wz], shape (..., 12).

        Every entry of the Newton-Euler regressor is linear in them.
        """
        w = self.angular_velocity
        psi = np.empty((*w.shape[:-1], 12))
        psi[..., PROPER_ACCELERATION] = self.proper_acceleration
        psi[..., ANGULAR_ACCELERATION] = self.angular_acceleration
        for column, (i, j) in enumerate(PRODUCT_PAIRS, RATE_PRODUCTS.start):
            np.multiply(w[..., i], w[..., j], out=psi[..., column])
        return psi
