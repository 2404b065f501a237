"""Gains from motor currents to joint torques, by the targets of the robot's controller."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from identify.arrays import Array
from identify.errors import LogError

_N_BLOCKS = 20
"""Number of blocks of a log whose errors count as independent."""

_MAX_RELATIVE_ERROR = 0.2
"""Largest standard error of a gain relative to it; joints of little load reach .1."""


def gains_from_targets(
    time: Array,
    velocity: Array,
    target_current: Array,
    target_effort: Array,
    still_below: Array,
    names: Sequence[str],
) -> tuple[Array, Array]:
    """Fit gains to the target currents and target torques of a controller, by least squares.

    The target current of a joint is that of its target torque and of the controller's own model of
    friction and rotor inertia, i = τ/K + a sign q̇ + b q̇ + c q̈ + d. Rows at rest do not count.

    `time`: times of the rows [s], shape (N,); `velocity`: of the joints [rad/s, m/s], shape (N, n);
    `target_current`: [A], shape (N, n); `target_effort`: [N m or N], shape (N, n); `still_below`:
    speed of each joint at rest, shape (n,).
    Returns gains K [N m/A] and their standard errors, shape (n,) each.
    Raises `LogError`: the targets do not determine the gain of a joint.
    """
    v, a = velocity, np.gradient(velocity, time, axis=0)
    gains = np.empty((2, len(names)))
    for j, name in enumerate(names):
        moves = np.abs(v[:, j]) > still_below[j]
        columns = target_effort[:, j], np.sign(v[:, j]), v[:, j], a[:, j], np.ones(len(v))
        A, b = np.stack(columns, axis=1)[moves], target_current[moves, j]
        slope, error = _first_coefficient(A, b) if len(A) > _N_BLOCKS * A.shape[1] else (0.0, 1.0)
        if not slope > 0.0 or error > _MAX_RELATIVE_ERROR * slope:
            raise LogError(
                f"target_current and target_effort do not determine the gain of {name!r} "
                f"(1/K = {slope:.2g} ± {error:.2g} A/N m): move the joint more, check the signs, "
                "or give gains in [joints]"
            )
        gains[:, j] = 1.0 / slope, error / slope**2
    return gains[0], gains[1]


def _first_coefficient(A: Array, b: Array) -> tuple[float, float]:
    """Return the first coefficient of least squares, and its error from the scatter of blocks."""
    inverse = np.linalg.pinv(A.T @ A)
    x = inverse @ (A.T @ b)
    weighted = (A @ inverse[0]) * (b - A @ x)
    sums = [block.sum() for block in np.array_split(weighted, _N_BLOCKS)]
    return float(x[0]), float(np.linalg.norm(sums))
