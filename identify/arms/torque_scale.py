"""Scale of a robot's torques, and how well it is known.

Errors of scale are gains of the joints' torques, and the estimate is linear in these. `gains` fits
them; torques that are all 2 % too large are those of an arm that is 2 % heavier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from identify.arms.equations import equations_of
from identify.arrays import Array, seal
from identify.errors import ProblemError
from identify.estimation.posterior import Posterior
from identify.logs.log_file import header_of
from identify.regressors import LinearSystem
from identify.regressors.log_scan import ReadableLog
from identify.significance import CLEAR_LIKELIHOOD_LEAD, MIN_LIKELIHOOD_LEAD

ASSUMED_SCALE_ERROR = 0.02
"""Standard error of the scale of each joint's torque where nothing else is known: torque constants
of motors of one type differ by as much."""

SCALE_OF_WARM_MOTORS = 0.05
"""Change of the torque constants of sound motors: 0.1 to 0.2 % per kelvin, of 25 K and more."""

_RELATIVE_RANK = 1e-12
"""Relative eigenvalue of a normal matrix below which unknowns depend on each other."""


class ScaleBetweenRuns(NamedTuple):
    """Prior of the scale of logs with a load by that of logs without it, of one day or of two.

    Attributes:
        error: standard error, if no motor is warmer in one run.
        lead: of twice the log-likelihood at which a change of warm motors is as likely.
    """

    error: float
    lead: float


@dataclass(frozen=True, slots=True, eq=False)
class TorqueScale:
    """Gains of the joints' torques, logged = gain × true, with their errors, as `SystematicErrors`.

    A gain below zero is that of a torque with the other sign.

    Attributes:
        gains: of each joint, shape (n,).
        covariance: of the gains' relative errors, shape (n, n).
        interval_kind: description for intervals and reports.
        between_runs: prior of the scale of logs with a load by that of logs without it.
    """

    gains: Array
    covariance: Array
    interval_kind: str
    between_runs: ScaleBetweenRuns | None = None

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
    def by_schema(cls, logs: Sequence[ReadableLog]) -> TorqueScale | None:
        """Return gains of one with the largest `gain_accuracy` of the logs' schemas, or None."""
        given = [header_of(log).joint_axes.gain_accuracy for log in logs]
        errors = [each for each in given if each is not None]
        if not errors:
            return None
        scale = cls.known(np.max(errors, axis=0), len(errors[0]))
        return replace(scale, interval_kind=f"{scale.interval_kind} (gain_accuracy)")

    def between_logs(self, given: TorqueScale | None) -> TorqueScale:
        """Return the gains with an error between runs: the mean of those assumed of the joints.

        It is no larger than the errors of `given`; if these are zero, there is none.
        """
        of_joint, lead = ASSUMED_SCALE_ERROR, MIN_LIKELIHOOD_LEAD
        if given is not None:
            of_joint = min(of_joint, float(np.sqrt(np.diag(given.covariance).mean())))
        if of_joint < ASSUMED_SCALE_ERROR:
            lead = CLEAR_LIKELIHOOD_LEAD
        between = ScaleBetweenRuns(of_joint / len(self.gains) ** 0.5, lead)
        return replace(self, between_runs=between if of_joint else None)

    def covariances(self, posterior: Posterior) -> tuple[Array, Array]:
        """Compute the unknowns' covariance from errors of the scale, twice, as all is of scale."""
        fit = posterior.fit
        sensitivity = np.zeros((len(fit.theta), len(self.gains)))
        moving = fit.data.system.group_index[:, 1]
        sensitivity[:, moving] = posterior.score_gain @ fit.moments[:, :-1, -1].T
        covariance = sensitivity @ self.covariance @ sensitivity.T
        if self.between_runs is not None:
            loaded = LoadedScale.of(posterior)
            size = loaded.mean_square(self.between_runs)
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

        ∂x/∂s = C c, with c = AᵀW A x and C the inverse information of all logs. Score and
        information are those at free unknowns: defaults of a load would imitate a scale.
        """
        fit = posterior.fit
        system = fit.data.system
        (statistics, _), equations = system.data[0], equations_of(system)
        loaded = statistics.subset(np.array(equations.loaded)[statistics.log])
        weights = np.zeros((len(equations.columns.joints), 1, 1))
        weights[system.group_index[:, 1]] = fit.weights
        every, of_loaded = (
            part.normal_matrices(weights[part.group_index[:, 1]]).sum(axis=0)
            for part in (system, LinearSystem.of([(loaded, equations)]))
        )
        inverse = _scaled_inverse(every[:-1, :-1])
        x = inverse @ every[:-1, -1]
        c = of_loaded[:-1, :-1] @ x
        return cls(
            posterior.score_gain @ of_loaded[:-1, :-1] @ fit.x,
            float(x @ (of_loaded[:-1, -1] - c)),
            float(x @ c - c @ inverse @ c),
        )

    def probability_of_warmth(self, prior: ScaleBetweenRuns) -> float:
        """Return the probability that s is a change of warm motors.

        The score is normal, of variance ℐ + ℐ² σ² with the information ℐ and s of N(0, σ²).
        """
        sigma, variance = self._errors(prior)
        evidence = self.score**2 * variance + np.log(variance / sigma**2)
        return float(expit(0.5 * (evidence[1] - evidence[0] - prior.lead)))

    def mean_square(self, prior: ScaleBetweenRuns) -> float:
        """Compute the mean of s² by the logs, its prior a mixture with that of warm motors."""
        _, variance = self._errors(prior)
        warm = self.probability_of_warmth(prior)
        return float(np.dot((1.0 - warm, warm), variance + (variance * self.score) ** 2))

    def _errors(self, prior: ScaleBetweenRuns) -> tuple[Array, Array]:
        """Return standard errors of s before the logs, and its variances by them."""
        sigma = np.array([prior.error, SCALE_OF_WARM_MOTORS])
        return sigma, 1.0 / (sigma**-2 + max(self.information, 0.0))


def _scaled_inverse(N: Array) -> Array:
    """Return the pseudo-inverse of a normal matrix in unknowns of unit norm, shape (p, p)."""
    norms = np.sqrt(np.diag(N))
    norms = np.where(norms > 0.0, norms, 1.0)
    return np.linalg.pinv(N / np.outer(norms, norms), _RELATIVE_RANK, hermitian=True) / np.outer(
        norms, norms
    )
