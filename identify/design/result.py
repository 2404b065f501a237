"""`plan_motion`: a designed motion, what it will give, and what an unplanned motion gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from identify.arrays import Array, Vec3
from identify.design.d_optimal import (
    DEFAULT_SEARCH,
    DesignedMotion,
    MotionProblem,
    Search,
    design_motion,
    unplanned_motion,
)
from identify.design.joints import JointProblem
from identify.design.periodic import PeriodicBasis, harmonics_within
from identify.design.plan import SUPERVISION, MotionPlan
from identify.design.prediction import EarlierFit, PredictedPrecision, information_rate
from identify.inertia import InertialParameters
from identify.pipeline.required_precision import RequiredPrecision

_CURVE_RATE_HZ = 20.0
"""Samples a second of the curves that are shown [Hz]."""


@dataclass(frozen=True, slots=True)
class MotionDesign:
    """A designed motion with the precision that is predicted for it.

    Attributes:
        problem: unknowns that it identifies, and its limits.
        motion: the motion relative to its start.
        unplanned: median of random motions within the same limits.
        seconds: its duration, a whole number of periods [s].
        body: rough parameters of the payload, to which relative needs refer; None if the arm is
            wanted.
        earlier: knowledge of the payload from an earlier fit.
        needs: precision that is needed.
        shares: largest share of each limit that the motion uses, by its name.
    """

    problem: MotionProblem
    motion: DesignedMotion
    unplanned: DesignedMotion
    seconds: float
    body: InertialParameters | None
    earlier: EarlierFit
    needs: tuple[RequiredPrecision, ...]
    shares: Mapping[str, float]

    @property
    def period(self) -> float:
        """Time after which the motion repeats [s]."""
        return self.motion.basis.period

    @property
    def relative_to_unplanned(self) -> float:
        """Geometric mean of the standard errors, relative to the unplanned motion."""
        return float(np.exp(self.motion.criterion - self.unplanned.criterion))

    @property
    def plan(self) -> MotionPlan:
        """The motion as it is commanded, at about 100 samples a second."""
        problem = self.problem
        robot = problem.robot if isinstance(problem, JointProblem) else None
        tenths = round(10.0 * self.seconds)  # so that programs take each second or tenth sample
        times = np.linspace(0.0, self.seconds, 10 * tenths + 1)
        return MotionPlan(
            problem.axes,
            times,
            self.positions(times),
            of_joints=robot is not None,
            prismatic=np.zeros(3, dtype=bool) if robot is None else robot.prismatic,
            remarks=self.remarks,
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences for the head of files: supervision, limits, and what was not checked."""
        return (SUPERVISION, *self.problem.remarks)

    @property
    def periods(self) -> int:
        """Number of periods of the motion."""
        return round(self.seconds / self.period)

    @property
    def most_used_limit(self) -> tuple[str, float]:
        """Name of the limit that the motion uses most, and the share of it."""
        return max(self.shares.items(), key=lambda item: item[1])

    @property
    def curve_times(self) -> Array:
        """Times of the curves of one period that are shown, shape (K,) [s]."""
        return np.linspace(0.0, self.period, 1 + round(self.period * _CURVE_RATE_HZ))

    def positions(self, times: Array) -> Array:
        """Return positions, velocities and accelerations of the axes, shape (3, times, n)."""
        values = self.motion.at(times)
        values[0] += self.problem.start
        return values

    @property
    def path(self) -> Vec3 | None:
        """Position of the tool in the base at `curve_times`, shape (K, 3) [m]; None of a wrist."""
        if not isinstance(self.problem, JointProblem):
            return None
        q = self.positions(self.curve_times)[0]
        return self.problem.space.tool_path(self.problem.robot, q)

    def predict(self, motion: DesignedMotion) -> PredictedPrecision | None:
        """Predict the precision that a motion gives; None if the arm is wanted."""
        if self.body is None:
            return None
        rows = self.problem.rows(motion.at(motion.basis.times()))
        base = self.problem.base_columns
        information = information_rate(rows.regressor, len(base.independent), self.problem.rate_hz)
        return PredictedPrecision(self.body, information, base, self.earlier)

    @property
    def prediction(self) -> PredictedPrecision | None:
        """Predicted precision of the motion; None if the arm is wanted."""
        return self.predict(self.motion)

    @property
    def unmet(self) -> tuple[RequiredPrecision, ...]:
        """Needs that the motion is not predicted to meet."""
        if (prediction := self.prediction) is None:
            return self.needs
        pairs = ((need, prediction.widest_half_width(need, self.seconds)) for need in self.needs)
        return tuple(need for need, width in pairs if width is None or width > need.limit)


def plan_motion(
    problem: MotionProblem,
    seconds: float,
    search: Search = DEFAULT_SEARCH,
    *,
    body: InertialParameters | None = None,
    earlier: EarlierFit | None = None,
    needs: tuple[RequiredPrecision, ...] = (),
) -> MotionDesign:
    """Design a motion to log, and predict what it will give.

    Args:
        problem: unknowns and limits, of a wrist with a sensor or of the joints of an arm.
        seconds: duration [s].
        search: settings of the search.
        body: rough parameters of the payload, to which relative needs refer; None if the arm is
            wanted.
        earlier: knowledge of the payload's ten parameters from an earlier fit.
        needs: precision that is needed.

    Raises:
        ProblemError: no motion about the start keeps all limits, or none identifies what is wanted.
    """
    if earlier is not None and body is not None:
        known = earlier.information_on(problem.base_columns.dependence)
        problem = replace(problem, prior_information=known / seconds)
    period = seconds / np.ceil(seconds / problem.longest_period)
    basis = PeriodicBasis(period, harmonics_within(problem.limits, period))
    motion = design_motion(problem, basis, search)
    return MotionDesign(
        problem,
        motion,
        unplanned_motion(problem, basis, seed=search.seed),
        seconds,
        body,
        earlier or EarlierFit.of(None),
        needs,
        used_shares(problem, motion),
    )


def used_shares(problem: MotionProblem, motion: DesignedMotion) -> dict[str, float]:
    """Return the largest share of each limit that a motion uses, on a fine grid.

    Limits that were not given have none.
    """
    fine = motion.at(motion.basis.times(refinement=10))
    of_axes = np.abs(problem.limits.shares(fine)).max(axis=1)
    names = [
        f"the {kind} of {axis}"
        for kind in ("position", "speed", "acceleration")
        for axis in problem.axes
    ]
    others = problem.rows(fine).shares.max(axis=0)
    shares = zip(
        (*names, *problem.limit_names),
        (*of_axes.ravel().tolist(), *others.tolist()),
        strict=True,
    )
    return {name: share for name, share in shares if share != 0.0}
