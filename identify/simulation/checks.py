"""Checks of simulations: bodies, batch shapes, options, and motions that diverge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias, get_args

import numpy as np

from identify.arrays import Array, Flags, Phi, PhiLike, as_array
from identify.errors import SimulationError, did_you_mean
from identify.inertia import check_consistency, inertia_about_com, is_consistent, spatial_inertia
from identify.inertia.matrices import second_moment_about_com

MAX_STEP_ANGLE = 1.0
"""Maximum rotation in one step [rad]. With more, no integrator here has two digits, and from half a
turn on, the attitudes do not determine the rotation between them."""

DIVERGENCE_ANGLE = 1e6
"""Rotation in one step [rad] above which the motion diverges, whatever the step."""


Interpolation: TypeAlias = Literal["linear", "hold"]
"""Interpolation of the load between samples: linear, or sample and hold."""

_MAX_CONDITION = 1e13
"""Largest condition number of a scaled 6×6 inertia that can be simulated."""

_MIN_THICK_DETERMINANT = 1e-10
"""Determinant of a scaled inertia above which its condition is certainly below `_MAX_CONDITION`."""

_MIN_SOLID_MINOR = 1e-12
"""Minors of second moments, relative to the trace of the inertia, that rounding cannot cause."""

_MIN_NORMAL_MOMENT, _MAX_NORMAL_MOMENT = float(np.finfo(float).tiny), 1e280
"""Limits of moments of inertia, and of their ratio to the mass, between which numbers have full
precision."""


def require_simulable(phi: PhiLike) -> Phi:
    """Check that the accelerations of bodies are determined; return phi, shape (..., 10).

    Raises `SimulationError`: another shape, or a body that is inconsistent, a point or a rod.
    """
    phi = as_array(phi, "phi", (..., 10), SimulationError)
    if np.all(_are_solid(phi)):
        return phi
    require_consistent(phi)
    thin = _are_singular(phi)
    if np.any(thin):
        raise SimulationError(
            f"the body{format_batch_index(first_true_index(thin))} has no inertia about some axis "
            "(a point or a rod): its rotation about it is not determined"
        )
    return phi


def _are_solid(phi: Phi) -> Flags:
    """Return whether bodies are certainly solid: second moments positive definite with a margin.

    Leading minors are much faster than eigenvalues. Eight times the determinant of S_c is at most
    that of the inertia about the centre of mass, so that such bodies are not thin either.
    """
    with np.errstate(all="ignore"):
        size = np.abs(phi[..., [4, 7, 9]]).sum(axis=-1)
        Sc = second_moment_about_com(phi) / size[..., None, None]
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = np.moveaxis(Sc, (-2, -1), (0, 1))
        minor = xx * yy - xy * xy
        determinant = zz * minor - xx * yz * yz - yy * xz * xz + 2.0 * xy * yz * xz
        in_reach = (size > _MIN_NORMAL_MOMENT) & (
            size < _MAX_NORMAL_MOMENT * np.minimum(phi[..., 0], 1.0)
        )
        return in_reach & (xx > 0.0) & (minor > _MIN_SOLID_MINOR) & (determinant > _MIN_SOLID_MINOR)


def _are_singular(phi: Phi) -> Flags:
    """Return whether the 6×6 inertia, scaled to a diagonal of ones, is singular up to rounding."""
    diagonal = phi[..., [4, 7, 9]]
    with np.errstate(divide="ignore", invalid="ignore"):
        # Its determinant, of which 2.5 times the least eigenvalue is no less: five others sum to 6.
        share = np.linalg.det(inertia_about_com(phi)) / np.prod(diagonal, axis=-1)
    thin = np.asarray(~(share > _MIN_THICK_DETERMINANT))
    M = spatial_inertia(phi[thin])
    scale = 1.0 / np.sqrt(np.diagonal(M, axis1=-2, axis2=-1).clip(np.finfo(float).tiny))
    values = np.linalg.eigvalsh(M * scale[..., :, None] * scale[..., None, :])
    thin[thin] = values[..., 0] * _MAX_CONDITION < values[..., -1]
    return thin


def require_consistent(phi: Phi, unit: Array | None = None) -> None:
    """Raise `SimulationError` for the first body that is not physically consistent.

    `phi`: shape (..., 10); `unit`: scale that phi was divided by, shape (...); the message has the
    original numbers.
    """
    consistent = is_consistent(phi)
    if np.all(consistent):
        return
    index = first_true_index(~np.asarray(consistent))
    given = phi[index] if unit is None else phi[index] * unit[index]
    raise SimulationError(
        f"the body{format_batch_index(index)} is not physically possible: "
        f"{'; '.join(check_consistency(given).reasons) or 'it has no mass'}. Simulate a consistent "
        "estimate, or repair the body first"
    )


def require_output_interval(every: int) -> None:
    """Raise `SimulationError` unless `every`, steps per returned state, is a positive integer."""
    if isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1:
        raise SimulationError(f"every: expected a whole number of steps, 1 or more, got {every!r}")


def require_word(word: str, known: object, name: str) -> None:
    """Raise `SimulationError`, with the nearest known word, unless an option is a known word."""
    words = get_args(known)
    if word not in words:
        expected = " or ".join(f'"{each}"' for each in words)
        raise SimulationError(
            f"{name}: expected {expected}, got {word!r}{did_you_mean(str(word), words)}"
        )


def broadcast_batches(shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Broadcast batch shapes to a common shape.

    `shapes`: batch shapes by the names of their arrays.
    Raises `SimulationError`: they do not broadcast.
    """
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items() if shape)
        raise SimulationError(f"the batches do not broadcast with each other: {listed}") from None


def first_true_index(flags: Flags) -> tuple[int, ...]:
    """Return the index of the first true entry of an array."""
    return tuple(int(i) for i in np.argwhere(flags)[0])


def format_batch_index(index: tuple[int, ...]) -> str:
    """Format the index of a body in a batch for a message; empty for a single body."""
    return f" (batch index {', '.join(map(str, index))})" if index else ""


class Diverged(SimulationError):
    """A simulation diverged: its state is not finite, or the rotation in one step is too large.

    Attributes:
        time: time since the start [s].
        index: index of the body in the batch; () for a single body.
    """

    def __init__(self, message: str, *, time: float, index: tuple[int, ...]) -> None:
        self.time, self.index = time, index
        super().__init__(message)


def divergence_error(turn: float, time: float, step: float, index: tuple[int, ...]) -> Diverged:
    """Create the error for a rotation `turn` in one step [rad], which is too large or NaN.

    `time` [s] is since the start; `index` is that of the body in the batch, () for a single body.
    """
    body = f"the body{format_batch_index(index)}"
    if turn < DIVERGENCE_ANGLE:
        message = (
            f"{body} turns by {turn:.3g} rad in a step of {step:g} s at {time:.6g} s, more than "
            f"the {MAX_STEP_ANGLE:g} rad that any integrator here can follow; take a step of "
            f"{0.1 * step / turn:.1g} s or less, or check the loads"
        )
    else:
        message = (
            f"{body} moved beyond all bounds at {time:.6g} s; check the loads, or take a smaller "
            f"step than {step:g} s"
        )
    return Diverged(message, time=time, index=index)
