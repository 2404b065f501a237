"""How noise in the signals of a log reaches the columns [ψ, w], to first order.

The columns are functions of the signals and their derivatives at the same instant (`BodyAxes`); a
complex step in each gives its Jacobian to rounding. Noise of the attitude is a rotation vector θ in
B, with an index for how often it was differentiated:

    R_WB exp(θ₀×)        δω = θ₁ + ω × θ₀        δα = θ₂ + ω × θ₁ + α × θ₀
"""

from __future__ import annotations

from typing import Any

import numpy as np

from identify.arrays import Array, Indices
from identify.signals.kinematics import BodyAxes, Samples, SignalDerivative
from identify.spatial.rotations import cross, hat

_COMPLEX_STEP = 2.0**-64
"""Of the imaginary part; its square is nothing beside one."""

_STEPS: Any = 1j * _COMPLEX_STEP * np.eye(3)[:, None]
_ROTATION_STEPS: Any = 1j * _COMPLEX_STEP * hat(np.eye(3))[:, None]


def propagate(samples: Samples, at: Indices) -> tuple[tuple[SignalDerivative, ...], Array]:
    """How noise reaches the columns at some samples: δ[ψ, w](t) = J(t) n, n stacked over the ways.

    Args:
        samples: whose columns were formed, so that the ways are known.
        at: which of them, shape (t,).

    Returns:
        The ways by which noise comes, and J, shape (t, 18, 3 · ways); (t, 42, 3 · ways) for
        [ψ, w, Rᵀ, ẇ, ẅ, Rᵀp], without noise in the last.
    """
    values = {way: taken[at] for way, taken in samples.evaluated.items()}
    J = np.zeros((len(at), samples.in_body.width(wide=samples.wide), 3 * len(values)))
    for number, way in enumerate(values):
        moved = _perturbed(values, way, samples.attitude)
        columns = slice(3 * number, 3 * number + 3)
        stepped = BodyAxes(
            samples.recording,
            samples.signals,
            lambda *way, of=moved: of[way],
            samples.attitude,
            samples.imu,
        )
        for rows, vector in stepped.column_blocks(wide=samples.wide):
            if np.iscomplexobj(vector):
                J[:, rows, columns] = np.moveaxis(vector.imag, 0, -1) / _COMPLEX_STEP
    return tuple(values), J


def _perturbed(
    values: dict[SignalDerivative, Array], way: SignalDerivative, attitude: SignalDerivative
) -> dict[SignalDerivative, Array]:
    """The values with a step along each axis in those that the noise of a way is in, (3, t, 3)."""
    name = way[0]
    if name != "quaternion":
        return values | {way: values[way] + _STEPS}
    moved = dict(values)
    rates, alpha = ("quaternion", 1), ("quaternion", 2)
    if way == attitude:
        moved[way] = values[way] @ (np.eye(3) + _ROTATION_STEPS)
        for turned in {rates, alpha} & values.keys():
            moved[turned] = values[turned] + cross(values[turned], _STEPS)
    else:
        moved[way] = values[way] + _STEPS
        if way == rates and alpha in values:
            moved[alpha] = values[alpha] + cross(values[rates], _STEPS)
    return moved
