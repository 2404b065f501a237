"""Precision that a motion will give, predicted before it is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

from identify.arrays import Array, Vec3
from identify.design.static_poses import StaticPoses
from identify.design.wrist import WrenchNoise
from identify.errors import ProblemError
from identify.estimation.intervals import ESTIMATED_QUANTITIES, interval_jacobian
from identify.exchange import SavedEstimate
from identify.inertia import InertialParameters
from identify.pipeline.required_precision import INTERVAL_NAMES, RequiredPrecision
from identify.significance import HALF_WIDTH_SIGMA

PREDICTED = tuple(name for names in INTERVAL_NAMES.values() for name in names)
"""Names of the quantities with a predicted half-width: mass, centre of mass, inertia about it."""

_LONGEST_SECONDS = 3600.0
"""Longest motion that is proposed to meet a need [s]."""


class EarlierFit(NamedTuple):
    """Knowledge of the first k of the ten parameters from an earlier fit; zeros without one.

    Attributes:
        known: information, shape (k, k).
        calibration: covariance from errors of scale, which no motion lowers, shape (k, k).
    """

    known: Array
    calibration: Array

    @classmethod
    def of(cls, estimate: SavedEstimate | None) -> EarlierFit:
        """Return what an estimate tells about its ten parameters."""
        if estimate is None or estimate.covariance is None:
            return cls(*np.zeros((2, 10, 10)))
        zero = np.zeros((10, 10))
        calibration = zero if estimate.calibration is None else estimate.calibration
        return cls(np.linalg.inv(estimate.repeatability), calibration)


@dataclass(frozen=True, slots=True)
class PredictedPrecision:
    """Predicted 95 % half-widths of the parameters of a body.

    Attributes:
        body: rough parameters to which relative needs refer.
        information: on the first k of the ten parameters per second of the motion, shape (k, k).
        known: information from an earlier fit, shape (k, k); zero without one.
        calibration: covariance from errors of scale, which no motion lowers, shape (k, k); zero if
            it is not known, so that half-widths are those of repeated logs.
    """

    body: InertialParameters
    information: Array
    known: Array
    calibration: Array

    def half_widths(self, seconds: float) -> Mapping[str, float]:
        """Return the half-width of each of `PREDICTED` after some time of the motion [SI].

        Infinite where the motion does not identify the quantity.
        """
        k = len(self.information)
        covariance = np.linalg.inv(self.known + seconds * self.information) + self.calibration
        jacobian = interval_jacobian(self.body.phi)
        spread = np.einsum("ij,jk,ik->i", jacobian[:, :k], covariance, jacobian[:, :k])
        identified = ~jacobian[:, k:].any(axis=1)
        widths = np.where(identified, HALF_WIDTH_SIGMA * np.sqrt(spread), np.inf)
        return {name: float(widths[ESTIMATED_QUANTITIES.index(name)]) for name in PREDICTED}

    def reached(self, need: RequiredPrecision, seconds: float) -> float | None:
        """Return the widest half-width of a need in its unit; None if it is not identified."""
        widths = self.half_widths(seconds)
        return need.widest_in_unit(
            (widths[name] for name in INTERVAL_NAMES[need.quantity]), self.body
        )

    def seconds_for(self, needs: Sequence[RequiredPrecision], period: float) -> float | None:
        """Return after how many whole periods all needs are met [s]; None beyond an hour."""
        seconds = period
        while seconds <= _LONGEST_SECONDS:
            reached = [self.reached(need, seconds) for need in needs]
            if all(r is not None and r <= n.limit for r, n in zip(reached, needs, strict=True)):
                return seconds
            seconds += period
        return None


def information_rate(regressor: Array, wanted: int, rate_hz: float) -> Array:
    """Return the information on the wanted unknowns per second, all others fitted besides.

    Args:
        regressor: rows divided by the standard deviation of their noise, (samples, rows, p), at
            times that are spread evenly over a period.
        wanted: number of leading columns that are wanted.
        rate_hz: independent samples a second.

    Returns:
        Schur complement of the information matrix, shape (wanted, wanted).
    """
    flat = regressor.reshape(-1, regressor.shape[-1])
    (R,) = qr(np.hstack((flat[:, wanted:], flat[:, :wanted])), mode="r")
    root = R[: flat.shape[1]][-wanted:, -wanted:]
    return root.T @ root * (rate_hz / len(regressor))


def predict_static_poses(
    poses: StaticPoses, gravity: Vec3, noise: WrenchNoise, body: InertialParameters
) -> Mapping[str, float]:
    """Return the half-widths after each pose was logged for a second; no pose tells the inertia."""
    regressor = poses.regressor(float(np.linalg.norm(gravity)), noise)
    information = information_rate(regressor, 4, noise.rate_hz) * len(regressor)
    return PredictedPrecision(body, information, *np.zeros((2, 4, 4))).half_widths(1.0)


def noise_of_estimate(estimate: SavedEstimate, path: str) -> WrenchNoise:
    """Return the noise of a sensor as an earlier fit of a moving log left it.

    Args:
        estimate: as read from its file.
        path: of the file, for the message.

    Raises:
        ProblemError: the file has no residuals, or no times.
    """
    seconds = _seconds_of(estimate)
    if estimate.residual_rms is None or not estimate.effective_samples or not seconds:
        raise _no_residuals(path)
    force, torque = np.sqrt(np.square(estimate.residual_rms).reshape(2, 3).mean(axis=1))
    return WrenchNoise(float(force), float(torque), estimate.effective_samples / seconds)


def torque_noise_of_estimate(
    estimate: SavedEstimate, path: str, joints: int
) -> tuple[Array, float]:
    """Return the noise of joint torques as an earlier fit of a payload on an arm left it.

    The payload is told from a log without it on the same motion, so that half of the samples count.

    Args:
        estimate: as read from its file.
        path: of the file, for the message.
        joints: number of joints of the arm.

    Returns:
        Standard deviation of a sample of each torque, shape (n,), and independent samples a second.

    Raises:
        ProblemError: the file has no residuals of as many joints, or no times.
    """
    seconds, rms = _seconds_of(estimate), estimate.residual_rms
    if rms is None or len(rms) != joints or not estimate.effective_samples or not seconds:
        raise _no_residuals(path)
    return np.array(rms), 0.5 * estimate.effective_samples / (joints * seconds)


def _seconds_of(estimate: SavedEstimate) -> float:
    """Return the time of all logs of a fit by its provenance [s]; zero if it is not known."""
    logs = estimate.provenance.get("logs")
    return sum(
        float(log["rows"]) / float(log["rate_hz"])
        for log in (logs if isinstance(logs, Sequence) else ())
        if isinstance(log, Mapping) and log.get("rate_hz")
    )


def _no_residuals(path: str) -> ProblemError:
    return ProblemError(
        f"{path}: expected an estimate of a moving log of this sensor or arm with `residual_rms` "
        "and `effective_samples`. Leave out --after"
    )
