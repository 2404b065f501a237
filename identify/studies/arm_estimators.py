"""Estimators of arms without a force sensor: their links, and the load on them."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np
from pydantic import StrictBool

from identify.arms import ArmFit, TorqueScale, fit_arm, fit_payload, torque_errors
from identify.arms.torque_scale import ASSUMED_SCALE_ERROR
from identify.errors import ProblemError
from identify.robots import RobotModel
from identify.studies.estimator import (
    Estimator,
    EstimatorOutput,
    TorqueScores,
    TrialData,
    output_of,
)
from identify.studies.options import NotNegative, Positive
from identify.studies.study_log import StudyLog


@lru_cache(maxsize=4)
def _fit(log: StudyLog, robot: RobotModel, cutoff_hz: float | None) -> ArmFit:
    """Fit an arm; the estimators of its parameters have this fit in common."""
    return fit_arm(log.unloaded, robot, cutoff_hz=cutoff_hz, interval="formula")


def _scores(
    fit: ArmFit, fitted: float, parameters: Literal["consistent", "base", "ordinary"]
) -> TorqueScores:
    if not fit.held_out:
        return TorqueScores(fitted)
    of_halves = (
        [getattr(half, name).total for half in fit.held_out] for name in (parameters, "model")
    )
    held_out, model = (float(np.sqrt(np.mean(np.square(errors)))) for errors in of_halves)
    return TorqueScores(fitted, held_out, held_out / model)


class ArmEstimator(Estimator):
    """Base class of estimators of arms.

    Attributes:
        cutoff_hz: highest frequency of the torques that is used [Hz]; that of the study, or 8 Hz.
    """

    cutoff_hz: Positive | None = None

    def fit(self, data: TrialData) -> ArmFit:
        """Return the fit of the arm to its log without a load."""
        return _fit(data.log, data.robot, self.cutoff_hz or data.cutoff_hz)


class ArmOrdinaryLeastSquares(ArmEstimator):
    """Base parameters of an arm by ordinary least squares."""

    kind: ClassVar[str] = "arm_ols"
    base: ClassVar[Literal["ordinary", "base"]] = "ordinary"

    def estimate(self, data: TrialData) -> EstimatorOutput:
        """Return the torque errors on the log of the fit and on its halves."""
        fit = self.fit(data)
        fitted = fit.base_parameters[self.base == "base"]
        error = torque_errors(fit.solution.system, fitted.x).total
        return EstimatorOutput(None, torques=_scores(fit, error, self.base))


class ArmWeightedLeastSquares(ArmOrdinaryLeastSquares):
    """Base parameters of an arm by weighted least squares, a weight for each joint."""

    kind: ClassVar[str] = "arm_wls"
    base: ClassVar[Literal["ordinary", "base"]] = "base"


class ConsistentArm(ArmEstimator):
    """Physically consistent links of an arm, near those of the URDF, as in `identify fit-arm`."""

    kind: ClassVar[str] = "arm_psd"

    def estimate(self, data: TrialData) -> EstimatorOutput:
        """Return the links and the torque errors on the log of the fit and on its halves."""
        fit = self.fit(data)
        certificate = fit.estimate.certificate
        return EstimatorOutput(
            None,
            solver=certificate.solver,
            status=certificate.status or "solved",
            links=fit.links,
            torques=_scores(fit, fit.errors.total, "consistent"),
        )


class ArmPayload(ArmEstimator):
    """Load on an arm, with intervals, as in `identify fit --robot`.

    Attributes:
        interval: method of the intervals; bootstrap where there are ten blocks, if not given.
        friction: whether each log has friction of its own, or both share it.
        torque_scale: standard error of the scale of each joint's torque.
        arm: whether a fit of the arm takes the place of the log without the load.
    """

    kind: ClassVar[str] = "payload"

    interval: Literal["bootstrap", "formula"] | None = None
    friction: Literal["own", "shared"] = "own"
    torque_scale: NotNegative = ASSUMED_SCALE_ERROR
    arm: StrictBool = False

    def estimate(self, data: TrialData) -> EstimatorOutput:
        """Return the load about the frame, and the torque error on the logs of the fit.

        Raises `ProblemError`: the source of the log has no run with a load.
        """
        log, robot = data.log, data.robot
        if not log.loaded:
            raise ProblemError(f"{log.name}: the source has no log with a load (`loaded`)")
        fit = fit_payload(
            log.loaded,
            () if self.arm else log.unloaded,
            robot=robot,
            frame=log.frame,
            arm=self.fit(data).saved if self.arm else None,
            cutoff_hz=self.cutoff_hz or data.cutoff_hz,
            friction=self.friction,
            interval=self.interval,
            scale=TorqueScale.known(self.torque_scale, len(robot.joints)),
        )
        links = np.array([body.parameters.phi for body in fit.estimate.bodies[1:]])
        return output_of(fit.estimate, links=links, torques=TorqueScores(fit.errors.total))
