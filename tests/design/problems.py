"""Small problems of design: a wrist within ±45°, and the six-axis arm of the data sets."""

from pathlib import Path

import numpy as np

from identify.design import (
    DesignedMotion,
    JointProblem,
    PeriodicBasis,
    WrenchNoise,
    WristProblem,
    joint_limits,
    joint_problem,
    wrist_limits,
)
from identify.inertia import InertialParameters
from identify.robots import read_robot
from identify.spatial.vectors import GRAVITY_W

ARM = Path(__file__).parents[2] / "datasets" / "arms" / "six_axes" / "arm.urdf"
BODY = InertialParameters.from_com(
    mass=1.5,
    com=[0.02, 0.015, 0.09],
    inertia_about_com=1e-3 * np.array([[6.0, -0.5, -0.7], [-0.5, 5.0, 0.7], [-0.7, 0.7, 2.5]]),
)
NOISE = WrenchNoise(0.05, 0.005, 100.0)
GRAVITY = np.array(GRAVITY_W)
WRIST_BASIS, ARM_BASIS = PeriodicBasis(8.0, 5), PeriodicBasis(10.0, 3)


def wrist(**kwargs) -> WristProblem:
    limits = wrist_limits(np.radians([45.0, 60.0, 90.0]), 1.5, 4.0)
    return WristProblem(limits, GRAVITY, NOISE, BODY.phi, **kwargs)


def arm(*, whole: bool = False, **kwargs) -> JointProblem:
    robot = read_robot(ARM)
    start = np.array([0.0, -1.5, 1.5, -1.4, -1.6, 0.0])
    limits = joint_limits(robot, start, excursion=1.2, shares=(0.95, 0.8))
    return joint_problem(
        robot,
        limits,
        start,
        torque_share=0.8,
        placement=None if whole else robot.frame("tool0"),
        body=None if whole else BODY,
        **kwargs,
    )


def drawn(problem, basis: PeriodicBasis, seed: int = 0) -> np.ndarray:
    """Random coefficients of a motion."""
    shape = (len(problem.limits.names), basis.size)
    return np.random.default_rng(seed).normal(size=shape)


def motion_of(problem, basis: PeriodicBasis, seed: int = 0) -> DesignedMotion:
    """A random motion within the limits of its axes alone."""
    from identify.design.periodic import scaled_coefficients

    coefficients = scaled_coefficients(basis, drawn(problem, basis, seed), problem.limits)
    return DesignedMotion(basis, coefficients, 0.0)
