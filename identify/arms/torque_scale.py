"""Scale of a robot's torques, and how well it is known.

Errors of scale are gains of the joints' torques, and the estimate is linear in these. `gains` fits
them; torques that are all 2 % too large are those of an arm that is 2 % heavier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, seal
from identify.errors import ProblemError
from identify.estimation.posterior import Posterior

ASSUMED_SCALE_ERROR = 0.02
"""Standard error of the scale of each joint's torque where nothing else is known: torque constants
of motors of one type differ by as much."""


@dataclass(frozen=True, slots=True, eq=False)
class TorqueScale:
    """Gains of the joints' torques, logged = gain × true, with their errors, as `SystematicErrors`.

    A gain below zero is that of a torque with the other sign.

    Attributes:
        gains: of each joint, shape (n,).
        covariance: of the gains' relative errors, shape (n, n).
        interval_kind: description for intervals and reports.
    """

    gains: Array
    covariance: Array
    interval_kind: str

    def __post_init__(self) -> None:
        gains, n = seal(self.gains, "gains of the torques", (None,), ProblemError), len(self.gains)
        if not gains.all():
            raise ProblemError(f"gains of the torques: expected none that is zero, got {gains}")
        object.__setattr__(self, "gains", gains)
        object.__setattr__(self, "covariance", seal(self.covariance, "covariance", (n, n)))

    @classmethod
    def known(cls, error: float | Sequence[float], joints: int) -> TorqueScale:
        """Return gains of one with given relative standard errors, of all joints or of each.

        Raises:
            ProblemError: errors below zero, or not as many as joints.
        """
        errors = np.asarray(error, dtype=np.float64)
        if errors.shape not in ((), (joints,)) or not (errors >= 0.0).all():
            raise ProblemError(
                f"torque scale: expected a relative error such as 0.02, or one for each of "
                f"{joints} joints, got {error}"
            )
        low, high = 100.0 * errors.min(), 100.0 * errors.max()
        size = f"{low:.3g} %" if low == high else f"{low:.3g} to {high:.3g} %"
        variances = np.broadcast_to(errors, joints) ** 2
        return cls(np.ones(joints), np.diag(variances), f"torque scale of each joint to {size}")

    def covariances(self, posterior: Posterior) -> tuple[Array, Array]:
        """Compute the unknowns' covariance from errors of the scale, twice, as all is of scale."""
        sensitivity = scale_sensitivity(posterior, len(self.gains))
        covariance = sensitivity @ self.covariance @ sensitivity.T
        return covariance, covariance


def scale_sensitivity(posterior: Posterior, joints: int) -> Array:
    """Compute the change of the unknowns with the gain of each joint, shape (p, n)."""
    fit = posterior.fit
    sensitivity = np.zeros((len(fit.theta), joints))
    moving = fit.data.system.group_index[:, 1]
    sensitivity[:, moving] = posterior.score_gain @ fit.moments[:, :-1, -1].T
    return sensitivity
