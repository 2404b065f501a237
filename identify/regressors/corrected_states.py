"""Corrections of a log (delay, gain, gravity, …) applied to its full-rate states, for replays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from identify.arrays import Array, Phi, Vec6
from identify.regressors.newton_euler import FEATURE_TENSOR
from identify.regressors.wrench import WIDE_LAYOUT
from identify.signals import Segment
from identify.spatial import BodyMotion, rotation_from_quaternion
from identify.spatial.columns import (
    ATTITUDE,
    FEATURES,
    POSITION,
    WRENCH,
    WRENCH_RATE,
    WRENCH_SECOND_RATE,
)
from identify.spatial.rotations import rotate

_MIN_DERIVATIVE_SAMPLES = 3
"""Smallest number of samples of a segment from which derivatives are computed."""


def corrected_states(
    segment: Segment, corrections: Sequence[tuple[Array, Vec6]], phi: Phi
) -> Segment:
    """Apply corrections of a log (delay, gain, gravity, …) to the full-rate wrench of a segment.

    The measured pose is kept: the change δψ of the features by a map is converted to the wrench
    −Y(δψ) φ on the body, so that w − Y(ψ) φ is the residual of the mapped columns.

    `corrections`: successive maps of the columns z, shape (43, 43), each with the offset to
    subtract from the mapped wrench, shape (n, 6) [N, N m]; `phi`: parameters of the body, shape
    (10,).
    """
    if not corrections or len(segment.time) < _MIN_DERIVATIVE_SAMPLES:
        return segment
    z = _extended_columns(segment)
    psi = z[:, FEATURES].copy()
    for M, offset in corrections:
        z = z @ M
        z[:, WRENCH] -= offset
    wrench = z[:, WRENCH] - (z[:, FEATURES] - psi) @ (FEATURE_TENSOR @ phi)
    return replace(segment, wrench=wrench)


def _extended_columns(segment: Segment) -> Array:
    """Form all columns of the equations of motion of a segment by central differences."""
    step = (segment.time[-1] - segment.time[0]) / (len(segment.time) - 1)

    def rate(values: Array) -> Array:
        return np.gradient(values, step, axis=0)

    to_body = rotation_from_quaternion(segment.quaternion).transpose(0, 2, 1)
    z = np.empty((len(segment.time), len(WIDE_LAYOUT.columns)))
    z[:, 0] = 1.0
    z[:, FEATURES] = BodyMotion(
        rotate(to_body, rate(segment.velocity) - segment.gravity),
        segment.angular_velocity,
        rate(segment.angular_velocity),
    ).features
    z[:, WRENCH] = segment.wrench
    z[:, ATTITUDE] = to_body.reshape(-1, 9)
    z[:, WRENCH_RATE] = rate(segment.wrench)
    z[:, WRENCH_SECOND_RATE] = rate(z[:, WRENCH_RATE])
    z[:, POSITION] = rotate(to_body, segment.position)
    return z
