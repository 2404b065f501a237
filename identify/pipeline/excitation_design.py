"""Experiment design for an online fit: the rotation that reaches the needed precision soonest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from identify.arrays import Array, Vec3
from identify.estimation import Estimate
from identify.estimation.intervals import ESTIMATED_QUANTITIES, covariance_of, interval_jacobian
from identify.estimation.least_squares import LeastSquaresFit
from identify.pipeline.needs import INTERVAL_NAMES, Need
from identify.regressors import Statistics, System, scan_statistics
from identify.signals.prepared import BlockRows
from identify.signals.transform import BLOCK_SECONDS, CONSTANT, block_transform
from identify.significance import HALF_WIDTH_SIGMA
from identify.spatial import BodyMotion
from identify.spatial.columns import FIT_COLUMNS
from identify.spatial.rotations import cross

_TURN_AMPLITUDE, _TURN_PERIOD = np.pi / 4.0, 4.0
"""Amplitude A [rad] and period T [s] of the oscillation θ = A sin(2π t / T), at most 1.2 rad/s."""

_MAX_TURN_SECONDS = 640.0
"""Longest proposed duration of an oscillation [s]; if more is needed, faster motion is."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Rotational oscillation about an axis of B through Bo, from the last attitude of the log.

    Attributes:
        axis: "x", "y" or "z".
        seconds: approximate time until the needs are met; None where ten minutes are too short.
    """

    axis: str
    seconds: float | None

    def __str__(self) -> str:
        angle = f"±{np.degrees(_TURN_AMPLITUDE):.0f}°"
        how = f"turn to and fro about {self.axis}, {angle} in {_TURN_PERIOD:g} s"
        if self.seconds is None:
            return f"{how}, and faster: at this speed it would take more than ten minutes"
        return f"{how}, for about {self.seconds:.0f} s"


def best_turn(
    fit: LeastSquaresFit,
    estimate: Estimate,
    needs: Sequence[Need],
    *,
    gravity: float,
    rate_hz: float,
    cutoff_hz: float,
) -> Turn:
    """Return the oscillation after which the needed precision is reached soonest.

    With C the present covariance and J the information that some time of the turn adds, at the
    weights of the fit, the covariance after it is (C⁻¹ + J)⁻¹.

    Args:
        fit: of one log of one body, which is not of static poses.
        estimate: of that fit, to which relative needs refer.
        needs: at least one.
        gravity: its strength [m/s²].
        rate_hz: of the log [Hz].
        cutoff_hz: of the log [Hz].
    """
    values, vectors = np.linalg.eigh(covariance_of(fit))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    jacobian = interval_jacobian(estimate.parameters.phi) @ root
    up = gravity * _up_direction(fit)

    def ratio_after(turned: Statistics, seconds: float) -> float:
        gains, axes = np.linalg.eigh(root.T @ _added_information(fit, turned, seconds) @ root)
        spread = np.sqrt((jacobian @ axes) ** 2 @ (1.0 / (1.0 + np.maximum(gains, 0.0))))
        return _need_ratio(estimate, needs, HALF_WIDTH_SIGMA * spread)

    turns: list[tuple[float, float, str]] = []
    for name, axis in zip("xyz", np.eye(3), strict=True):
        turned = scan_statistics([_turn_block(axis, up, rate_hz, cutoff_hz)])
        seconds, ratio = BLOCK_SECONDS, ratio_after(turned, BLOCK_SECONDS)
        while ratio > 1.0 and seconds < _MAX_TURN_SECONDS:
            seconds *= np.sqrt(2.0)
            ratio = ratio_after(turned, seconds)
        turns.append((max(1.0, ratio), seconds, name))
    ratio, seconds, name = min(turns)
    return Turn(name, seconds if ratio <= 1.0 else None)


def _need_ratio(estimate: Estimate, needs: Sequence[Need], half_widths: Array) -> float:
    """Return the largest ratio of an interval's half-width to the needed half-width."""
    predicted = dict[str, float](zip(ESTIMATED_QUANTITIES, half_widths.tolist(), strict=True))
    widths = ([predicted[name] for name in INTERVAL_NAMES[need.quantity]] for need in needs)
    return max(
        (need.in_unit(of_need, estimate.parameters) or 0.0) / need.number
        for need, of_need in zip(needs, widths, strict=True)
    )


def _up_direction(fit: LeastSquaresFit) -> Vec3:
    """Return the upward unit vector in B, from the proper acceleration of the last block."""
    ((statistics, _),) = fit.data.system.data
    last = (statistics.block == statistics.block.max()) & (statistics.group == CONSTANT)
    mean = statistics.factors[last][0, 0, 1:4]
    return mean / np.linalg.norm(mean) if mean.any() else np.array([0.0, 0.0, 1.0])


def _added_information(fit: LeastSquaresFit, turned: Statistics, seconds: float) -> Array:
    """Return the information that an oscillation of some seconds adds, shape (p, p)."""
    ((statistics, equations),) = fit.data.system.data
    blocks = seconds / BLOCK_SECONDS
    turned = replace(
        turned,
        factors=np.sqrt(blocks) * turned.factors,
        samples=blocks * turned.samples,
        effective_samples=blocks * turned.effective_samples,
    )
    system = System.of([(statistics.append_blocks(turned), equations)])
    A, before = system.problem(fit.weights).A, fit.problem.A
    return A.T @ A - before.T @ before


def _turn_block(axis: Vec3, proper: Vec3, rate_hz: float, cutoff_hz: float) -> BlockRows:
    """Return the rows of a block of an oscillation about an axis at a given proper acceleration."""
    n, swing = round(BLOCK_SECONDS * rate_hz), 2.0 * np.pi / _TURN_PERIOD
    phase = swing * np.arange(n)[:, None] / rate_hz
    angle = _TURN_AMPLITUDE * np.sin(phase)
    along = (axis @ proper) * axis
    motion = BodyMotion(
        # Vectors fixed in the world rotate the other way in the frame of the body.
        along + np.cos(angle) * (proper - along) - np.sin(angle) * cross(axis, proper),
        swing * _TURN_AMPLITUDE * np.cos(phase) * axis,
        -(swing**2) * angle * axis,
    )
    transform = block_transform(n, rate_hz, cutoff_hz, tapered=True)
    columns = np.hstack((np.ones((n, 1)), motion.features, np.zeros((n, 6))))
    exact = np.zeros((FIT_COLUMNS - 1, FIT_COLUMNS - 1))
    noise: dict[int, Array] = {int(g): exact for g in np.unique(transform.groups)}
    rows = transform.apply(columns)
    return BlockRows(rows, transform.groups, noise, n, transform.effective_fraction)
