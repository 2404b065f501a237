"""Experiment design for an online fit: the rotation that reaches the needed precision soonest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from identify.arrays import Array, Vec3
from identify.estimation import Estimate
from identify.estimation.intervals import ESTIMATED_QUANTITIES, covariance_of, interval_jacobian
from identify.estimation.least_squares import LeastSquaresFit
from identify.pipeline.required_precision import INTERVAL_NAMES, RequiredPrecision
from identify.regressors import LinearSystem, Statistics, scan_statistics
from identify.signals.prepared_log import BlockRows
from identify.signals.transform import BLOCK_SECONDS, CONSTANT_GROUP, block_transform
from identify.significance import HALF_WIDTH_SIGMA
from identify.spatial import BodyMotion
from identify.spatial.columns import FIT_COLUMN_COUNT
from identify.spatial.rotations import cross

_OSCILLATION_AMPLITUDE, _OSCILLATION_PERIOD = np.pi / 4.0, 4.0
"""Amplitude A [rad] and period T [s] of the oscillation θ = A sin(2π t / T), at most 1.2 rad/s."""

_MAX_OSCILLATION_SECONDS = 640.0
"""Longest proposed duration of an oscillation [s]; beyond it, faster motion is proposed instead."""


@dataclass(frozen=True, slots=True)
class Oscillation:
    """Proposed rotational oscillation about an axis of the body frame, from the last attitude.

    Attributes:
        axis: "x", "y" or "z".
        seconds: approximate time until the precision is reached; None where ten minutes are too
            short.
    """

    axis: str
    seconds: float | None

    def __str__(self) -> str:
        angle = f"±{np.degrees(_OSCILLATION_AMPLITUDE):.0f}°"
        how = f"turn to and fro about {self.axis}, {angle} in {_OSCILLATION_PERIOD:g} s"
        if self.seconds is None:
            return f"{how}, and faster: at this speed it would take more than ten minutes"
        return f"{how}, for about {self.seconds:.0f} s"


def best_oscillation(
    fit: LeastSquaresFit,
    estimate: Estimate,
    needs: Sequence[RequiredPrecision],
    *,
    gravity: float,
    rate_hz: float,
    cutoff_hz: float,
) -> Oscillation:
    """Return the oscillation after which the needed precision is reached soonest.

    With C the present covariance and J the information that some time of the turn adds, at the
    weights of the fit, the covariance after it is (C⁻¹ + J)⁻¹.

    `estimate`: of that fit, to which relative needs refer; `gravity`: its strength [m/s²];
    `rate_hz`: of the log [Hz]; `cutoff_hz`: of the log [Hz].
    """
    values, vectors = np.linalg.eigh(covariance_of(fit))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    jacobian = interval_jacobian(estimate.parameters.phi) @ root
    up = gravity * _up_direction(fit)

    def width_ratio_after(oscillation: Statistics, seconds: float) -> float:
        gains, axes = np.linalg.eigh(root.T @ _added_information(fit, oscillation, seconds) @ root)
        spread = np.sqrt((jacobian @ axes) ** 2 @ (1.0 / (1.0 + np.maximum(gains, 0.0))))
        return _largest_width_ratio(estimate, needs, HALF_WIDTH_SIGMA * spread)

    candidates: list[tuple[float, float, str]] = []
    for name, axis in zip("xyz", np.eye(3), strict=True):
        oscillation = scan_statistics([_oscillation_rows(axis, up, rate_hz, cutoff_hz)])
        seconds, ratio = BLOCK_SECONDS, width_ratio_after(oscillation, BLOCK_SECONDS)
        while ratio > 1.0 and seconds < _MAX_OSCILLATION_SECONDS:
            seconds *= np.sqrt(2.0)
            ratio = width_ratio_after(oscillation, seconds)
        candidates.append((max(1.0, ratio), seconds, name))
    ratio, seconds, name = min(candidates)
    return Oscillation(name, seconds if ratio <= 1.0 else None)


def _largest_width_ratio(
    estimate: Estimate, needs: Sequence[RequiredPrecision], half_widths: Array
) -> float:
    """Return the largest ratio of an interval's half-width to the needed half-width."""
    predicted = dict[str, float](zip(ESTIMATED_QUANTITIES, half_widths.tolist(), strict=True))
    widths = ([predicted[name] for name in INTERVAL_NAMES[need.quantity]] for need in needs)
    return max(
        (need.widest_in_unit(of_need, estimate.parameters) or 0.0) / need.limit
        for need, of_need in zip(needs, widths, strict=True)
    )


def _up_direction(fit: LeastSquaresFit) -> Vec3:
    """Return the upward unit vector in B, from the proper acceleration of the last block."""
    ((statistics, _),) = fit.data.system.data
    last = (statistics.block == statistics.block.max()) & (statistics.group == CONSTANT_GROUP)
    mean = statistics.factors[last][0, 0, 1:4]
    return mean / np.linalg.norm(mean) if mean.any() else np.array([0.0, 0.0, 1.0])


def _added_information(fit: LeastSquaresFit, oscillation: Statistics, seconds: float) -> Array:
    """Return the information that an oscillation of some seconds adds, shape (p, p)."""
    ((statistics, equations),) = fit.data.system.data
    blocks = seconds / BLOCK_SECONDS
    oscillation = replace(
        oscillation,
        factors=np.sqrt(blocks) * oscillation.factors,
        samples=blocks * oscillation.samples,
        effective_samples=blocks * oscillation.effective_samples,
    )
    system = LinearSystem.of([(statistics.append_blocks(oscillation), equations)])
    A, before = system.problem(fit.weights).A, fit.problem.A
    return A.T @ A - before.T @ before


def _oscillation_rows(
    axis: Vec3, proper_acceleration: Vec3, rate_hz: float, cutoff_hz: float
) -> BlockRows:
    """Simulate one block of an oscillation about an axis, from a given proper acceleration."""
    n, swing = round(BLOCK_SECONDS * rate_hz), 2.0 * np.pi / _OSCILLATION_PERIOD
    phase = swing * np.arange(n)[:, None] / rate_hz
    angle = _OSCILLATION_AMPLITUDE * np.sin(phase)
    along = (axis @ proper_acceleration) * axis
    motion = BodyMotion(
        # Vectors fixed in the world rotate the other way in the frame of the body.
        along
        + np.cos(angle) * (proper_acceleration - along)
        - np.sin(angle) * cross(axis, proper_acceleration),
        swing * _OSCILLATION_AMPLITUDE * np.cos(phase) * axis,
        -(swing**2) * angle * axis,
    )
    transform = block_transform(n, rate_hz, cutoff_hz, tapered=True)
    columns = np.hstack((np.ones((n, 1)), motion.features, np.zeros((n, 6))))
    exact = np.zeros((FIT_COLUMN_COUNT - 1, FIT_COLUMN_COUNT - 1))
    noise: dict[int, Array] = {int(g): exact for g in np.unique(transform.groups)}
    rows = transform.apply(columns)
    return BlockRows(rows, transform.groups, noise, n, transform.effective_fraction)
