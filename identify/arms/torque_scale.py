"""Scale of a robot's torques, and how well it is known.

Errors of scale are gains of the joints' torques, and the estimate is linear in these. `gains` fits
them; torques that are all 2 % too large are those of an arm that is 2 % heavier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from identify.arms.equations import equations_of
from identify.arrays import Array, seal
from identify.errors import ProblemError
from identify.estimation.posterior import Posterior
from identify.logs import Recording
from identify.regressors import LinearSystem

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
        between_days: standard error of the scale of logs with a load by that of an earlier fit of
            the arm, where the logs do not tell it better.
    """

    gains: Array
    covariance: Array
    interval_kind: str
    between_days: float = 0.0

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

    @classmethod
    def by_schema(cls, logs: Sequence[Recording]) -> TorqueScale | None:
        """Return gains of one with the largest `gain_accuracy` of the logs' schemas, or None."""
        given = [log.joint_axes.gain_accuracy for log in logs]
        errors = [each for each in given if each is not None]
        if not errors:
            return None
        scale = cls.known(np.max(errors, axis=0), len(errors[0]))
        return replace(scale, interval_kind=f"{scale.interval_kind} (gain_accuracy)")

    def of_another_day(self) -> TorqueScale:
        """Return the gains with an error between days: the mean of those assumed of the joints."""
        error = float(ASSUMED_SCALE_ERROR / np.sqrt(len(self.gains)))
        kind = f"one scale of both days to {100.0 * error:.1g} % (--unloaded of this day avoids it)"
        return replace(self, interval_kind=f"{self.interval_kind}, {kind}", between_days=error)

    def covariances(self, posterior: Posterior) -> tuple[Array, Array]:
        """Compute the unknowns' covariance from errors of the scale, twice, as all is of scale."""
        fit = posterior.fit
        sensitivity = np.zeros((len(fit.theta), len(self.gains)))
        moving = fit.data.system.group_index[:, 1]
        sensitivity[:, moving] = posterior.score_gain @ fit.moments[:, :-1, -1].T
        covariance = sensitivity @ self.covariance @ sensitivity.T
        if self.between_days:
            loaded = LoadedScale.of(posterior)
            size = loaded.mean_square(self.between_days)
            covariance = covariance + size * np.outer(loaded.changes, loaded.changes)
        return covariance, covariance


class LoadedScale(NamedTuple):
    """Scale 1 + s of the torques of logs with a load alone, which estimates take as one.

    Attributes:
        changes: ∂x/∂s of the unknowns, shape (p,).
        score: derivative of the log-likelihood by s, the other unknowns fitted.
        information: on s, beside the other unknowns.
    """

    changes: Array
    score: float
    information: float

    @classmethod
    def of(cls, posterior: Posterior) -> LoadedScale:
        """Linearise (1 + s) A x = b of the logs with the load, by all logs of a fit of an arm.

        ∂x/∂s = C c, with c = AᵀW A x and C the inverse information of all logs; the information on
        s beside x is xᵀc − cᵀC c.
        """
        fit, x = posterior.fit, posterior.fit.x
        system = fit.data.system
        (statistics, _), equations = system.data[0], equations_of(system)
        loaded = statistics.subset(np.array(equations.loaded)[statistics.log])
        part = LinearSystem.of([(loaded, equations)])
        weights = np.zeros((len(equations.columns.joints), 1, 1))
        weights[system.group_index[:, 1]] = fit.weights
        moments = part.normal_matrices(weights[part.group_index[:, 1]]).sum(axis=0)
        c = moments[:-1, :-1] @ x
        changes = posterior.score_gain @ c
        return cls(changes, float(x @ (moments[:-1, -1] - c)), float(x @ c - c @ changes))

    def mean_square(self, error: float) -> float:
        """Compute the mean of s² by the logs, with a prior standard deviation of s."""
        variance = 1.0 / (error**-2 + max(self.information, 0.0))
        return float(variance + (variance * self.score) ** 2)
