"""Predicted half-widths of the estimate from a motion that has not been run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

from identify.arms import SavedArm, TorqueScale, read_arm
from identify.arms.torque_scale import ASSUMED_SCALE_ERROR
from identify.arrays import Array, Vec3
from identify.design.joints import TorqueNoise
from identify.design.static_poses import StaticPoses
from identify.design.wrist import WrenchNoise
from identify.errors import ModelError, ProblemError
from identify.estimation.intervals import ESTIMATED_QUANTITIES, interval_jacobian
from identify.exchange import SavedEstimate, read_estimate
from identify.files import read_bytes
from identify.inertia import PHI, BaseColumns, InertialParameters
from identify.pipeline.required_precision import INTERVAL_NAMES, RequiredPrecision
from identify.robots import RobotModel
from identify.significance import HALF_WIDTH_SIGMA

PREDICTED_QUANTITIES = tuple(name for names in INTERVAL_NAMES.values() for name in names)
"""Names of the quantities with a predicted half-width: mass, centre of mass, inertia about it."""

DISPLAY_UNITS: Mapping[str, tuple[str, float]] = MappingProxyType(
    {"mass": ("kg", 1.0), "com": ("mm", 1e3), "inertia": ("kg m²", 1.0)}
)
"""Unit in which half-widths of each quantity are shown, and its factor from SI."""

_ROUNDING = 1e-6
"""Part of a quantity's derivatives, relative to the largest, that counts as zero."""

_LONGEST_SECONDS = 3600.0
"""Longest duration of a motion that is proposed to reach a required precision [s]."""


class EarlierFit(NamedTuple):
    """Knowledge of the ten parameters from an earlier fit; zeros without one.

    Attributes:
        covariance: of the fit without `calibration`, shape (10, 10); None without a fit.
        calibration: covariance from errors of scale, which no motion lowers, shape (10, 10).
    """

    covariance: Array | None
    calibration: Array

    @classmethod
    def of(cls, earlier: SavedEstimate | SavedArm | None) -> EarlierFit:
        """Return the knowledge of an estimate."""
        if not isinstance(earlier, SavedEstimate) or earlier.covariance is None:
            return cls(None, np.zeros((10, 10)))
        calibration = np.zeros((10, 10)) if earlier.calibration is None else earlier.calibration
        return cls(earlier.repeatability, calibration)

    def with_torque_scale(
        self, body: InertialParameters, joints: int, scale: TorqueScale | None
    ) -> EarlierFit:
        """Return the knowledge with the error of the scale of an arm's torques, if it has none.

        A fit leaves the mean of the joints' gains, as which the scale of the payload is off.

        Args:
            body: rough parameters of the payload.
            joints: number of joints.
            scale: gains that a known load has shown; None for those that a fit assumes.
        """
        if self.covariance is not None:
            return self
        variance = ASSUMED_SCALE_ERROR**2 / joints
        variance = variance if scale is None else float(scale.covariance.mean())
        return self._replace(calibration=variance * np.outer(body.phi, body.phi))

    def information_on(self, directions: Array) -> Array:
        """Return the information on combinations D φ of the parameters, D of shape (k, 10)."""
        if self.covariance is None:
            return np.zeros((len(directions), len(directions)))
        return np.linalg.inv(directions @ self.covariance @ directions.T)


@dataclass(frozen=True)
class PredictedPrecision:
    """Predicted 95 % half-widths of the parameters of a body.

    Attributes:
        body: rough parameters to which relative needs refer.
        information: on combinations of the ten parameters per second of the motion, shape (k, k).
        base: these combinations.
        earlier: knowledge from an earlier fit, and the scale error of its sensor.
    """

    body: InertialParameters
    information: Array
    base: BaseColumns
    earlier: EarlierFit

    @cached_property
    def _combined(self) -> Array:
        """Derivatives of `ESTIMATED_QUANTITIES` by the combinations; NaN if hidden, (q, k)."""
        jacobian = interval_jacobian(self.body.phi)
        combined = jacobian @ np.linalg.pinv(self.base.dependence)
        remainder = np.abs(jacobian - combined @ self.base.dependence).max(axis=1)
        is_given = remainder < _ROUNDING * np.abs(jacobian).max(axis=1)
        return np.where(is_given[:, None], combined, np.nan)

    def _covariance(self, seconds: float, *, total: bool) -> Array:
        """Covariance of the combinations after some time of the motion, shape (k, k)."""
        D = self.base.dependence
        known = self.earlier.information_on(D)
        covariance = np.linalg.inv(known + seconds * self.information)
        return covariance + total * D @ self.earlier.calibration @ D.T

    def combinations(self, seconds: float) -> tuple[str, ...]:
        """Return what motions show of the payload with half-widths, as "hz − 0.4 m ± 0.01"."""
        errors = np.sqrt(np.diag(self._covariance(seconds, total=False)))
        named = zip(self.base.describe(PHI), errors.tolist(), strict=True)
        return tuple(f"{name} ± {HALF_WIDTH_SIGMA * error:.2g}" for name, error in named)

    @property
    def hidden(self) -> tuple[str, ...]:
        """Names of `PREDICTED_QUANTITIES` that no motion of the axes shows."""
        is_hidden = np.isnan(self._combined[:, 0]).tolist()
        named: dict[str, bool] = dict(zip(ESTIMATED_QUANTITIES, is_hidden, strict=True))
        return tuple(name for name in PREDICTED_QUANTITIES if named[name])

    def half_widths(self, seconds: float, *, total: bool = False) -> Mapping[str, float]:
        """Return half-widths of `PREDICTED_QUANTITIES` after some time of the motion [SI].

        Infinite where no motion of the axes shows the quantity.

        Args:
            seconds: duration of the motion [s].
            total: whether to include the scale error of the sensor of the earlier fit.
        """
        covariance = self._covariance(seconds, total=total)
        spread = np.einsum("ij,jk,ik->i", self._combined, covariance, self._combined)
        widths = np.where(np.isnan(spread), np.inf, HALF_WIDTH_SIGMA * np.sqrt(spread))
        return {n: float(widths[ESTIMATED_QUANTITIES.index(n)]) for n in PREDICTED_QUANTITIES}

    def widest_half_width(self, need: RequiredPrecision, seconds: float) -> float | None:
        """Return the widest half-width of a need in its unit, of what motions show of it.

        None if they show nothing.
        """
        widths = self.half_widths(seconds, total=need.total)
        names = [name for name in INTERVAL_NAMES[need.quantity] if name not in self.hidden]
        return need.widest_in_unit((widths[name] for name in names), self.body) if names else None

    def seconds_for(self, needs: Sequence[RequiredPrecision], period: float) -> float | None:
        """Return after how many whole periods all needs are met [s]; None beyond an hour."""
        for count in range(1, int(_LONGEST_SECONDS / period) + 1):
            reached = [self.widest_half_width(need, count * period) for need in needs]
            if all(r is not None and r <= n.limit for r, n in zip(reached, needs, strict=True)):
                return count * period
        return None


def information_rate(regressor: Array, wanted_count: int, rate_hz: float) -> Array:
    """Return the information on the wanted unknowns per second, all others fitted besides.

    `regressor`: rows divided by the standard deviation of their noise, (samples, rows, p), at times
    that are spread evenly over a period.
    Returns the Schur complement of the information matrix, shape (k, k).
    The first k columns are wanted; `rate_hz` counts independent samples a second.
    """
    flat = regressor.reshape(-1, regressor.shape[-1])
    (R,) = qr(np.hstack((flat[:, wanted_count:], flat[:, :wanted_count])), mode="r")
    root = R[: flat.shape[1]][-wanted_count:, -wanted_count:]
    return root.T @ root * (rate_hz / len(regressor))


def predict_static_poses(
    poses: StaticPoses,
    gravity: Vec3,
    noise: WrenchNoise,
    body: InertialParameters,
    earlier: SavedEstimate | SavedArm | None = None,
) -> Mapping[str, float]:
    """Predict half-widths from static poses of a second each, which do not identify the inertia."""
    regressor = poses.regressor(float(np.linalg.norm(gravity)), noise)
    information = information_rate(regressor, 4, noise.rate_hz) * len(regressor)
    base, known = BaseColumns(np.arange(4), np.eye(10)[:4]), EarlierFit.of(earlier)
    return PredictedPrecision(body, information, base, known).half_widths(1.0)


def read_earlier(path: Path) -> SavedEstimate | SavedArm:
    """Read an estimate.json, or the arm.json of `identify fit-arm`.

    Raises `MissingFile`: no such file; `ModelError`: neither of them, or damaged.
    """
    try:
        document = json.loads(read_bytes(path))
    except ValueError:
        document = None
    is_arm = isinstance(document, dict) and "arm" in document
    return read_arm(path) if is_arm else read_estimate(path)


def noise_of_estimate(estimate: SavedEstimate | SavedArm, path: str) -> WrenchNoise:
    """Return the noise of a sensor by the residual of an earlier fit of a moving log.

    Raises `ProblemError`: the file has no residual wrench, or no times, or is of an arm.
    """
    rms, rate_hz = _residuals(estimate, path, 6, of_joints=False)
    force, torque = np.sqrt(np.square(rms).reshape(2, 3).mean(axis=1))
    return WrenchNoise(float(force), float(torque), rate_hz)


def torque_noise_of(
    earlier: SavedEstimate | SavedArm | None, path: str, joints: int, *, payload: bool
) -> TorqueNoise | None:
    """Return the noise of joint torques by the residuals of an earlier fit of the arm.

    A payload is separated from the arm by a log without it on the same motion, so that half of the
    samples count for it.

    Raises `ProblemError`: the file has no residuals of as many joints, or no times.
    """
    if earlier is None:
        return None
    rms, rate_hz = _residuals(earlier, path, joints, of_joints=True)
    return TorqueNoise(rms, (0.5 if payload else 1.0) * rate_hz / joints)


def with_fitted_links(
    robot: RobotModel, earlier: SavedEstimate | SavedArm | None, path: str
) -> RobotModel:
    """Return the robot with the links of an earlier fit of the arm, if there is one.

    Raises `ModelError`: the arm of the fit has other joints, links or kinematics.
    """
    if not isinstance(earlier, SavedArm):
        return robot
    try:
        earlier.base_of(robot)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error
    return replace(robot, phi=np.array(list(earlier.links.values())))


def _residuals(
    earlier: SavedEstimate | SavedArm, path: str, channels: int, *, of_joints: bool
) -> tuple[Array, float]:
    """Return RMS residuals of the channels, and effective samples of all a second."""
    if isinstance(earlier, SavedArm):
        rms, count = (earlier.report.get(k) for k in ("residual_rms", "effective_samples"))
        provenance = earlier.report.get("provenance", {})
    else:
        rms, count = earlier.residual_rms, earlier.effective_samples
        provenance = earlier.provenance
    if rms is None:
        raise ProblemError(
            f"{path}: has no residuals; expected the file of a fit as it wrote it, not of a moved "
            "or composed body. Leave out --after"
        )
    if (isinstance(earlier, SavedArm) or "robot" in provenance) != of_joints:
        fits = ("of a wrist sensor", "of the joint torques of an arm")
        raise ProblemError(
            f"{path}: is a fit {fits[not of_joints]}; expected one {fits[of_joints]}. Leave out "
            "--after"
        )
    logs = provenance.get("logs")
    seconds = sum(
        float(log["rows"]) / float(log["rate_hz"])
        for log in (logs if isinstance(logs, Sequence) else ())
        if isinstance(log, Mapping) and log.get("rate_hz")
    )
    if len(rms) != channels or not count or not seconds:
        raise ProblemError(
            f"{path}: expected a fit of moving logs of this sensor or arm, with `residual_rms` of "
            f"{channels} channels and `effective_samples`. Leave out --after"
        )
    return np.array(rms), float(count) / seconds
