"""First-order propagation of signal noise to the columns of motion features and wrench.

The columns are functions of the signals and their derivatives at the same instant (`BodyAxes`); a
complex step in each gives its Jacobian to rounding. Noise of the attitude is a rotation vector θ in
B, with the order of its derivative as index:

    R_WB exp(θ₀×)        δω = θ₁ + ω × θ₀        δα = θ₂ + ω × θ₁ + α × θ₀
"""

from __future__ import annotations

from typing import Any

import numpy as np

from identify.arrays import Array, Indices
from identify.signals.segment_kinematics import BodyAxes, Samples, SignalDerivative
from identify.spatial.rotations import cross, hat

_COMPLEX_STEP = 2.0**-64
"""Size of the complex step; its square is negligible to double precision."""

_VECTOR_STEPS: Any = 1j * _COMPLEX_STEP * np.eye(3)[:, None]
_ROTATION_STEPS: Any = 1j * _COMPLEX_STEP * hat(np.eye(3))[:, None]


def noise_jacobian(
    samples: Samples, sample_indices: Indices
) -> tuple[tuple[SignalDerivative, ...], Array]:
    """Return the Jacobian of features and wrench with respect to signal noise, at some samples.

    `sample_indices`: shape (t,).
    Returns the signal derivatives stacked in n, and J, shape (t, 18, 3 · derivatives); (t, 42, 3 ·
    derivatives) for [ψ, w, Rᵀ, ẇ, ẅ, Rᵀp], without noise in the last.
    """
    values = {derivative: taken[sample_indices] for derivative, taken in samples.evaluated.items()}
    J = np.zeros((len(sample_indices), samples.in_body.width(wide=samples.wide), 3 * len(values)))
    for number, derivative in enumerate(values):
        perturbed = _with_complex_steps(values, derivative, samples.attitude)
        columns = slice(3 * number, 3 * number + 3)
        perturbed_axes = BodyAxes(
            samples.recording,
            samples.signals,
            lambda *derivative, of=perturbed: of[derivative],
            samples.attitude,
            samples.imu,
        )
        for rows, vector in perturbed_axes.column_blocks(wide=samples.wide):
            if np.iscomplexobj(vector):
                J[:, rows, columns] = np.moveaxis(vector.imag, 0, -1) / _COMPLEX_STEP
    return tuple(values), J


def _with_complex_steps(
    values: dict[SignalDerivative, Array], derivative: SignalDerivative, attitude: SignalDerivative
) -> dict[SignalDerivative, Array]:
    """Add complex steps along each axis to all values that noise in a signal derivative affects."""
    name = derivative[0]
    if name != "quaternion":
        return values | {derivative: values[derivative] + _VECTOR_STEPS}
    perturbed = dict(values)
    rates, alpha = ("quaternion", 1), ("quaternion", 2)
    if derivative == attitude:
        perturbed[derivative] = values[derivative] @ (np.eye(3) + _ROTATION_STEPS)
        for rate in {rates, alpha} & values.keys():
            perturbed[rate] = values[rate] + cross(values[rate], _VECTOR_STEPS)
    else:
        perturbed[derivative] = values[derivative] + _VECTOR_STEPS
        if derivative == rates and alpha in values:
            perturbed[alpha] = values[alpha] + cross(values[rates], _VECTOR_STEPS)
    return perturbed
