"""`Estimator`: base class of the estimators of a study, with their input and output."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from identify.arrays import Phi
from identify.estimation.estimate import Estimate
from identify.findings import UNIDENTIFIED_SOURCES
from identify.inertia.shapes import Mesh, PointMasses
from identify.logs import Recording
from identify.regressors import FEATURE_TENSOR, Statistics, block_statistics
from identify.robots import RobotModel
from identify.signals import PreparedLog, prepare
from identify.signals.transform import CONSTANT_GROUP
from identify.studies.arm_rows import load_rows
from identify.studies.options import Options
from identify.studies.study_log import NotForTask, RegressorRows, StudyLog


@dataclass(frozen=True)
class TrialData:
    """Data of one perturbed log, shared by all estimators of a study.

    Attributes:
        log: the perturbed log.
        mass: of the body as if weighed [kg], for options that use it; None if it is not known.
        cutoff_hz: of the low-pass [Hz]; None chooses it from the log.
        shape: of the body in B, a mesh or points with their volumes, for estimators that use it;
            None if it is not known.
    """

    log: StudyLog
    mass: float | None = None
    cutoff_hz: float | None = None
    shape: PointMasses | Mesh | None = None

    @property
    def recording(self) -> Recording:
        """The perturbed log of a body's motion and wrench.

        Raises:
            NotForTask: the log is of the joints of an arm, or is rows alone.
        """
        if self.log.sensor != "wrench":
            raise NotForTask(
                f"the estimator takes the motion and wrench of a body, and {self.log.name} has "
                "none; arm_ols, arm_wls, arm_psd and payload take joints"
            )
        return self.log.loaded[0]

    @property
    def robot(self) -> RobotModel:
        """Model of the arm whose joints the log is of.

        Raises:
            NotForTask: the log is of a body's motion and wrench, or is rows alone.
        """
        if self.log.robot is None:
            raise NotForTask(
                f"the estimator takes the joints of an arm, and {self.log.name} has none"
            )
        return self.log.robot

    @cached_property
    def prepared(self) -> PreparedLog:
        """Log on an even clock, differentiated and low-pass filtered."""
        return prepare(self.recording, self.cutoff_hz, wide=True)  # as a fit does

    @cached_property
    def blocks(self) -> Statistics:
        """Sufficient statistics of the regression by blocks of time, from the prepared log."""
        return block_statistics(self.prepared)

    @cached_property
    def rows(self) -> RegressorRows:
        """Rows as given, of a load by `load_rows`, or of a wrench by cosine transform.

        Those of a wrench are independent for white noise.

        Raises:
            NotForTask: the log is of an arm without a load.
        """
        log = self.log
        if log.rows is not None:
            return log.rows
        if log.robot is not None:
            return load_rows(log, log.robot, self.cutoff_hz)
        blocks = self.prepared.blocks
        z = np.vstack([block.rows[block.groups != CONSTANT_GROUP] for block in blocks])
        A = np.tensordot(z[:, 1:13], FEATURE_TENSOR, axes=(-1, 0)).reshape(-1, 10)
        return RegressorRows(A, z[:, 13:19].ravel(), np.tile(np.arange(6), len(z)))


class TorqueScores(NamedTuple):
    """Joint torque that an estimate of an arm leaves, relative to the measured torque.

    Attributes:
        fitted: on the log of the fit.
        held_out: on the half of a log that was not used, root mean square of both halves; None if
            not known.
        held_out_ratio: ratio of this to that of the links of the URDF with friction fitted.
    """

    fitted: float
    held_out: float | None = None
    held_out_ratio: float | None = None


@dataclass(frozen=True, slots=True)
class EstimatorOutput:
    """Estimate of the body from one log, or of an arm.

    Attributes:
        phi: the ten parameters about Bo in B, shape (10,); None if only an arm is estimated.
        n_identifiable: number of identifiable parameters; a default body completes the others.
        intervals: 95 % bounds by name (the ten, cx … cz, Icxx … Iczz, I1 … I3), None if not
            measured.
        solver: name of the solver; "none" for a closed form.
        status: of the solver.
        links: ten parameters of each link of an arm, shape (L, 10); None if not estimated.
        torques: errors of joint torques; None for a log of a wrench.
        refused: whether the estimator says not to use its estimate; None if it never does.
        reasons, refused_phi: codes of the findings that refuse; what they do, where `phi` is None.
        cpu_seconds, memory_mb: processor time [s] and peak memory [MB] of another process.
    """

    phi: Phi | None
    n_identifiable: int = 10
    intervals: Mapping[str, tuple[float, float] | None] = field(default_factory=dict)
    solver: str = "none"
    status: str = "solved"
    links: Phi | None = None
    torques: TorqueScores | None = None
    refused: bool | None = None
    reasons: tuple[str, ...] = ()
    refused_phi: Phi | None = None
    cpu_seconds: float | None = None
    memory_mb: float | None = None


class Estimator(Options):
    """Base class of the estimators; their options are fields."""

    @abstractmethod
    def estimate(self, data: TrialData) -> EstimatorOutput:
        """Estimate the body from one log.

        Raises `IdentifyError`: there is no estimate; the row of the trial has the reason.
        """


def output_of(
    estimate: Estimate, links: Phi | None = None, torques: TorqueScores | None = None
) -> EstimatorOutput:
    """Return the output of an estimate with intervals; other fields as of `EstimatorOutput`."""
    return EstimatorOutput(
        phi=estimate.parameters.phi,
        n_identifiable=sum(
            source not in (*UNIDENTIFIED_SOURCES, "prior")
            for source in estimate.decided_by.values()
        ),
        intervals=dict(estimate.intervals),
        solver=estimate.certificate.solver,
        status=estimate.certificate.status or "solved",
        links=links,
        torques=torques,
    )
