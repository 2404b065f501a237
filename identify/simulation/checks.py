"""What every simulation asks of its input."""

from __future__ import annotations

from numbers import Real
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Phi, Vec3, Vec6
from identify.errors import SimulationError
from identify.inertia import InertialParameters, is_consistent, spatial_inertia

Interpolation: TypeAlias = Literal["linear", "hold"]
"""The load between samples: a straight line, or the last sample held."""

_WORST_CONDITION = 1e13
_AT_A_TIME = 1 << 16


def require_simulable(phi: Phi | InertialParameters) -> Phi:
    """Ten parameters whose accelerations are determined, as float64, shape (..., 10).

    Raises:
        SimulationError: another shape, a body that no density realises, or one without extent.
    """
    phi = as_numbers(phi.phi if isinstance(phi, InertialParameters) else phi, "phi")
    if phi.shape[-1:] != (10,):
        raise SimulationError(f"phi: expected shape (..., 10), got {phi.shape}")
    if not (np.isfinite(phi).all() and np.all(is_consistent(phi))):
        raise SimulationError(
            "the body is not physically possible (mass or pseudo-inertia not positive); simulate "
            "a consistent estimate, or repair the body first"
        )
    M = spatial_inertia(phi)
    scale = 1.0 / np.sqrt(np.diagonal(M, axis1=-2, axis2=-1).clip(np.finfo(float).tiny))
    values = np.linalg.eigvalsh(M * scale[..., :, None] * scale[..., None, :])
    if np.any(values[..., 0] * _WORST_CONDITION < values[..., -1]):
        raise SimulationError(
            "the body has no inertia about some axis (a point or a rod): its rotation about it "
            "is not determined"
        )
    return phi


def as_numbers(values: ArrayLike, what: str) -> Array:
    """Values as float64.

    Raises:
        SimulationError: they are no numbers, or no array of them.
    """
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise SimulationError(f"{what}: expected numbers: {error}") from error


def require_positive(value: float, what: str) -> float:
    """A length of time [s].

    Raises:
        SimulationError: not one number, not positive, or not finite.
    """
    number = isinstance(value, Real) or (isinstance(value, np.ndarray) and value.ndim == 0)
    if not (number and np.isfinite(value) and value > 0.0):
        raise SimulationError(f"the {what} must be positive and finite, got {value!r} s")
    return float(value)


def require_step(step: float) -> float:
    """A time step [s].

    Raises:
        SimulationError: not one number, not positive, or not finite.
    """
    return require_positive(step, "time step")


def require_interpolation(interpolation: str) -> None:
    """A known way to interpolate.

    Raises:
        SimulationError: it is not.
    """
    if interpolation not in ("linear", "hold"):
        raise SimulationError(f'interpolation: expected "linear" or "hold", got {interpolation!r}')


def require_sample_shape(wrench: Vec6) -> Vec6:
    """Samples of a wrench as float64, shape (..., n, 6), n ≥ 1.

    Raises:
        SimulationError: another shape.
    """
    wrench = as_numbers(wrench, "wrench")
    if wrench.ndim < 2 or wrench.shape[-1] != 6 or wrench.shape[-2] < 1:
        raise SimulationError(f"wrench: expected shape (..., n, 6), got {wrench.shape}")
    return wrench


def require_finite_samples(wrench: Vec6) -> Vec6:
    """Samples of a wrench, shape (..., n, 6), that are numbers.

    Raises:
        SimulationError: some are not finite.
    """
    rows = max(1, _AT_A_TIME * wrench.shape[-2] // max(wrench.size, 1))
    for first in range(0, wrench.shape[-2], rows):  # no array of flags as large as the samples
        if not np.isfinite(wrench[..., first : first + rows, :]).all():
            raise SimulationError("wrench: some samples are not finite")
    return wrench


def require_gravity(gravity: ArrayLike) -> Vec3:
    """Gravity vectors as float64, shape (3,) or (..., 3).

    Raises:
        SimulationError: another shape, or not finite.
    """
    g = as_numbers(gravity, "gravity")
    if g.shape[-1:] != (3,):
        raise SimulationError(f"gravity: expected shape (3,) or (..., 3), got {g.shape}")
    if not np.isfinite(g).all():
        raise SimulationError(f"gravity: expected finite numbers, got {g.tolist()}")
    return g


def broadcast_batches(shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The batch shape of phi, start, gravity and wrench, in this order.

    Raises:
        SimulationError: they do not broadcast.
    """
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise SimulationError(
            f"the batches of phi, start, gravity (and wrench) do not broadcast: {shapes}"
        ) from None
