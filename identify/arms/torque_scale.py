"""Scale of a robot's torques: how well it is known, and the scale that a known load shows.

Unloaded runs cannot show it: torques that are all 2 % too large are those of an arm that is 2 %
heavier. Errors of scale are gains of the joints' torques, and the estimate is linear in these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from identify.arrays import Array, require_positive, seal
from identify.errors import ProblemError
from identify.estimation.posterior import Posterior

ASSUMED_SCALE_ERROR = 0.02
"""Standard error of the scale of each joint's torque where nothing else is known: torque constants
of motors of one type differ by as much."""

_COMMON_SCALE_ERROR = 0.2
"""Standard error of a scale common to all joints that a known load may correct."""

_MAX_SCALE_FACTOR = 2.0
"""Ratio of the fitted mass to that of a known load, or its inverse, from which the mass or a unit
of the torques is wrong: no torque constant is off by as much."""


@dataclass(frozen=True, slots=True, eq=False)
class TorqueScale:
    """Gains of the joints' torques, logged = gain × true, with their errors, as `SystematicErrors`.

    Attributes:
        gains: of each joint, shape (n,).
        covariance: of the gains, shape (n, n).
        interval_kind: description for intervals and reports.
    """

    gains: Array
    covariance: Array
    interval_kind: str

    def __post_init__(self) -> None:
        gains, n = seal(self.gains, "gains of the torques", (None,), ProblemError), len(self.gains)
        if not (gains > 0.0).all():
            raise ProblemError(f"gains of the torques: expected numbers above zero, got {gains}")
        object.__setattr__(self, "gains", gains)
        object.__setattr__(self, "covariance", seal(self.covariance, "covariance", (n, n)))

    @classmethod
    def assumed(cls, joints: int) -> TorqueScale:
        """Return gains of one, known to 2 % each."""
        scale = cls.known(ASSUMED_SCALE_ERROR, joints)
        return replace(scale, interval_kind=f"{scale.interval_kind} (assumed)")

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

    def with_known_load(
        self, mass: float, estimate: float, error: float, sensitivity: Array
    ) -> TorqueScale:
        """Update the gains by the fit of a load of known mass.

        A scale common to all joints has a wide prior, so that the load determines it; single joints
        keep their errors.

        Args:
            mass: true mass of the load [kg].
            estimate: its estimate with these gains [kg].
            error: standard error of the estimate, without that of the scale [kg].
            sensitivity: change of the estimate with the gain of each joint [kg], shape (n,).

        Raises:
            ProblemError: the mass is not above zero, or differs from the estimate by a factor that
                is no error of scale.
        """
        require_positive(mass, "known load", "kg", ProblemError)
        if not mass / _MAX_SCALE_FACTOR < estimate < mass * _MAX_SCALE_FACTOR:
            raise ProblemError(
                f"known load of {mass:g} kg: the torques show {estimate:.3g} kg, more than a "
                f"factor of {_MAX_SCALE_FACTOR:g} away; check the mass, the `effort_unit` and "
                "`gains` of [joints], and which log has the load"
            )
        sensitivity = sensitivity * (mass / estimate)  # at the gains that the load shows
        prior = self.covariance + _COMMON_SCALE_ERROR**2
        along = prior @ sensitivity
        variance = float(sensitivity @ along) + error**2
        gains = self.gains * (1.0 + along * ((estimate - mass) / variance))
        covariance = prior - np.outer(along, along) / variance
        return TorqueScale(gains, covariance, f"torque scale by a load of {mass:g} kg")

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
