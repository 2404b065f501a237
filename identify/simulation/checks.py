"""What every simulation asks of its input, and how it says that a motion diverged."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Phi, Vec3, Vec6
from identify.errors import SimulationError
from identify.inertia import is_consistent, spatial_inertia

Interpolation: TypeAlias = Literal["linear", "hold"]
"""The load between samples: a straight line, or the last sample held."""

_WORST_CONDITION = 1e13
_AT_A_TIME = 1 << 16


def require_simulable(phi: Phi) -> Phi:
    """Ten parameters whose accelerations are determined, as float64, shape (..., 10).

    Raises:
        SimulationError: another shape, a body that no density realises, or one without extent.
    """
    phi = np.asarray(phi, dtype=np.float64)
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


def require_step(step: float) -> float:
    """A time step [s].

    Raises:
        SimulationError: not positive, or not finite.
    """
    if not (np.isfinite(step) and step > 0.0):
        raise SimulationError(f"the time step must be positive and finite, got {step!r} s")
    return float(step)


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
    wrench = np.asarray(wrench, dtype=np.float64)
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
    g = np.asarray(gravity, dtype=np.float64)
    if g.shape[-1:] != (3,):
        raise SimulationError(f"gravity: expected shape (3,) or (..., 3), got {g.shape}")
    if not np.isfinite(g).all():
        raise SimulationError(f"gravity: expected finite numbers, got {g.tolist()}")
    return g


def diverged(time: float, body: tuple[int, ...]) -> SimulationError:
    """The error of a motion that is not finite.

    Args:
        time: since the start [s].
        body: index in the batch, () where there is one body.
    """
    which = f" (batch index {', '.join(str(i) for i in body)})" if body else ""
    return SimulationError(
        f"the simulation{which} grew beyond all bounds at {time:.4g} s; take a smaller step, or "
        "check the wrench"
    )
