"""Which turn would help a fit most, by the information that its rows would add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from identify.arrays import Array, Vec3
from identify.estimation import Estimate
from identify.estimation.intervals import NAMES, covariance_of, interval_jacobian
from identify.estimation.least_squares import LeastSquaresFit
from identify.pipeline.needs import Need
from identify.regressors import Statistics, System, scan_statistics
from identify.signals.prepared import BlockRows
from identify.signals.transform import BLOCK_SECONDS, CONSTANT, block_transform
from identify.significance import HALF_WIDTH_SIGMA
from identify.spatial import BodyMotion
from identify.spatial.columns import FIT_COLUMNS
from identify.spatial.rotations import cross

_ANGLE, _PERIOD = np.pi / 4.0, 4.0
"""Of a turn: θ = _ANGLE sin(2π t / _PERIOD), 1.2 rad/s at the most, which any arm does."""

_LONGEST_TURNING = 640.0
"""Seconds of it beyond which another motion is due."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Turning to and fro about an axis of B through Bo, from the attitude the log ends in.

    Attributes:
        axis: "x", "y" or "z".
        seconds: how long, until what is needed is known, about; None where ten minutes are too few.
    """

    axis: str
    seconds: float | None

    def __str__(self) -> str:
        how = f"turn to and fro about {self.axis}, ±{np.degrees(_ANGLE):.0f}° in {_PERIOD:g} s"
        if self.seconds is None:
            return f"{how}, and faster: so slowly it would take more than ten minutes"
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
    """The turn after which needs are met soonest.

    With C the covariance now and J what some time of the turn adds to the information, at the
    weights of the fit, that after it is (C⁻¹ + J)⁻¹.

    Args:
        fit: of one log of one body, which is not of still poses.
        estimate: of that fit, for what shares are of.
        needs: at least one.
        gravity: its strength [m/s²].
        rate_hz: of the log [Hz].
        cutoff_hz: of the log [Hz].
    """
    values, vectors = np.linalg.eigh(covariance_of(fit))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    jacobian = interval_jacobian(estimate.parameters.phi) @ root
    up = gravity * _up(fit)

    def lacking(turned: Statistics, seconds: float) -> float:
        gains, axes = np.linalg.eigh(root.T @ _added(fit, turned, seconds) @ root)
        spread = np.sqrt((jacobian @ axes) ** 2 @ (1.0 / (1.0 + np.maximum(gains, 0.0))))
        return _lacking(estimate, needs, HALF_WIDTH_SIGMA * spread)

    turns: list[tuple[float, float, str]] = []
    for name, axis in zip("xyz", np.eye(3), strict=True):
        turned = scan_statistics([_block(axis, up, rate_hz, cutoff_hz)])
        seconds, short = BLOCK_SECONDS, lacking(turned, BLOCK_SECONDS)
        while short > 1.0 and seconds < _LONGEST_TURNING:
            seconds *= np.sqrt(2.0)
            short = lacking(turned, seconds)
        turns.append((max(1.0, short), seconds, name))
    short, seconds, name = min(turns)
    return Turn(name, seconds if short <= 1.0 else None)


def _lacking(estimate: Estimate, needs: Sequence[Need], half_widths: Array) -> float:
    """By what factor the widest interval is too wide for its need."""
    pairs = {n: (-w, w) for n, w in zip(NAMES, half_widths.tolist(), strict=True)}
    predicted = replace(estimate, intervals=pairs)
    return max((need.reached(predicted) or 0.0) / need.number for need in needs)


def _up(fit: LeastSquaresFit) -> Vec3:
    """Against gravity in B: the mean proper acceleration of the last block, of length one."""
    ((statistics, _),) = fit.data.system.data
    last = (statistics.block == statistics.block.max()) & (statistics.group == CONSTANT)
    mean = statistics.factors[last][0, 0, 1:4]
    return mean / np.linalg.norm(mean) if mean.any() else np.array([0.0, 0.0, 1.0])


def _added(fit: LeastSquaresFit, turned: Statistics, seconds: float) -> Array:
    """What some time of a turn adds to the information, given its block, shape (p, p)."""
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


def _block(axis: Vec3, proper: Vec3, rate_hz: float, cutoff_hz: float) -> BlockRows:
    """Rows of a block of a turn about an axis, begun where the proper acceleration is this."""
    n, swing = round(BLOCK_SECONDS * rate_hz), 2.0 * np.pi / _PERIOD
    phase = swing * np.arange(n)[:, None] / rate_hz
    angle = _ANGLE * np.sin(phase)
    along = (axis @ proper) * axis
    motion = BodyMotion(
        # Seen from the body, what is fixed in the world turns the other way.
        along + np.cos(angle) * (proper - along) - np.sin(angle) * cross(axis, proper),
        swing * _ANGLE * np.cos(phase) * axis,
        -(swing**2) * angle * axis,
    )
    transform = block_transform(n, rate_hz, cutoff_hz, tapered=True)
    columns = np.hstack((np.ones((n, 1)), motion.features, np.zeros((n, 6))))
    exact = np.zeros((FIT_COLUMNS - 1, FIT_COLUMNS - 1))
    noise: dict[int, Array] = {int(g): exact for g in np.unique(transform.groups)}
    rows = transform.apply(columns)
    return BlockRows(rows, transform.groups, noise, n, transform.effective_fraction)
