"""A finished design: the plan, what it will give, and what an unplanned motion gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from identify.arrays import Array
from identify.design.d_optimal import DesignedMotion, MotionProblem
from identify.design.plan import MotionPlan
from identify.design.prediction import PredictedPrecision
from identify.pipeline.required_precision import RequiredPrecision


@dataclass(frozen=True, slots=True)
class MotionDesign:
    """A designed motion with the precision that is predicted for it.

    Attributes:
        plan: the motion as it is commanded.
        seconds: its duration [s].
        period: after which it repeats [s].
        axis_limits: lowest and highest position of each axis, its speed and its acceleration,
            shape (4, n).
        curve_times: of the curves of one period, shape (K,) [s].
        curves: positions, velocities and accelerations then, shape (3, K, n).
        limit_names: names of the limits that are not of one axis alone.
        limit_shares: share of each of them then, shape (K, limits).
        path: position of the tool in the base of the robot then, shape (K, 3) [m]; None of a wrist.
        shares: largest share of each limit that it uses, by its name.
        prediction: of its precision; None if inertial parameters of a payload are not wanted.
        unplanned: of an unplanned motion within the same limits.
        gain: geometric mean of its standard errors, relative to the unplanned motion.
        needs: precision that is needed.
    """

    plan: MotionPlan
    seconds: float
    period: float
    axis_limits: Array
    curve_times: Array
    curves: Array
    limit_names: tuple[str, ...]
    limit_shares: Array
    shares: Mapping[str, float]
    prediction: PredictedPrecision | None
    unplanned: PredictedPrecision | None
    gain: float
    path: Array | None = None
    needs: tuple[RequiredPrecision, ...] = ()

    @property
    def unmet(self) -> tuple[RequiredPrecision, ...]:
        """Needs that the motion is not predicted to meet."""
        if self.prediction is None:
            return self.needs
        pairs = ((need, self.prediction.reached(need, self.seconds)) for need in self.needs)
        return tuple(need for need, width in pairs if width is None or width > need.limit)


def used_shares(
    problem: MotionProblem, motion: DesignedMotion, axes: Sequence[str]
) -> dict[str, float]:
    """Return the largest share of each limit that a motion uses, on a fine grid."""
    fine = motion.at(motion.basis.times(refinement=10))
    of_axes = np.abs(problem.limits.shares(fine)).max(axis=1)
    kinds = ("position", "speed", "acceleration")
    shares = {
        f"the {kind} of {axis}": float(of_axes[k, a])
        for k, kind in enumerate(kinds)
        for a, axis in enumerate(axes)
    }
    others = problem.rows(fine).shares.max(axis=0)
    return shares | dict(zip(problem.limit_names, others.tolist(), strict=True))
