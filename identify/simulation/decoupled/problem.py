"""Checked input of a decoupled rollout, with bodies in a flat batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Indices, PhiLike, Vec3, Vec6, as_array, require_positive
from identify.errors import SimulationError
from identify.simulation.checks import (
    Interpolation,
    broadcast_batches,
    require_simulable,
    require_word,
)
from identify.simulation.decoupled.workspace import Workspace
from identify.simulation.principal_axes import PrincipalBody
from identify.simulation.state import State

_CHECKED_SAMPLES = 1 << 16
"""Number of samples that are checked at a time."""


@dataclass(frozen=True, slots=True)
class SampledWrench:
    """Samples of the wrench [f; t] on each body; samples common to all bodies are stored once.

    Attributes:
        samples: samples at Bo in B, shape (wrenches, n, 6).
        wrench_index: index of the wrench of each body, shape (bodies,); None if all share one, or
            each has one in the same order.
    """

    samples: Vec6
    wrench_index: Indices | None

    @classmethod
    def broadcast_to(cls, wrench: Vec6, batch: tuple[int, ...]) -> SampledWrench:
        """Create the samples of a batch of bodies from a wrench that broadcasts to (..., n, 6)."""
        repeated = (slice(0, 1) if stride == 0 else slice(None) for stride in wrench.strides[:-2])
        wrench = wrench[tuple(repeated)]  # else what `np.broadcast_to` made would be copied
        *shape, n, _ = wrench.shape
        count = int(np.prod(shape))
        which = np.broadcast_to(np.arange(count).reshape(shape), batch).reshape(-1)
        return cls(wrench.reshape(count, n, 6), None if count == 1 else which)

    def select(self, bodies: slice) -> SampledWrench:
        """Return the samples of the wrench on some of the bodies."""
        if self.wrench_index is None:  # of a whole batch: all share one
            return self
        index = self.wrench_index[bodies]
        if np.all(np.diff(index) == 1):  # one each, in their order: a view will do
            return SampledWrench(self.samples[index[0] : index[-1] + 1], None)
        return SampledWrench(self.samples, index)

    def rows(self, first: int, nodes: int, workspace: Workspace) -> Array:
        """Return the samples of a chunk, components first, shape (6, nodes, bodies or 1)."""
        part = self.samples[:, first : first + nodes].transpose(2, 1, 0)
        if len(self.samples) == 1:
            return part
        out = workspace.rows(0, 6, nodes)
        if self.wrench_index is None:
            np.copyto(out, part)
        else:
            np.take(part, self.wrench_index, axis=2, out=out, mode="clip")
        return out


@dataclass(frozen=True, slots=True)
class RolloutProblem:
    """Checked arguments of a rollout: a flat batch of bodies with states, gravity and wrenches.

    Attributes:
        batch_shape: shape of the batch, of size `bodies`.
        body: shape (bodies,).
        start: [p, q, v, ω] with q of unit norm, shape (bodies, 13).
        gravity: g in W [m/s²], shape (bodies, 3).
        wrench: samples at Bo in B; None if gravity alone acts.
        linear_interpolation: whether the wrench is interpolated linearly.
        step: h [s].
        steps: number of steps.
    """

    batch_shape: tuple[int, ...]
    body: PrincipalBody
    start: Array
    gravity: Vec3
    wrench: SampledWrench | None
    linear_interpolation: bool
    step: float
    steps: int

    def principal_bodies(self, which: slice) -> PrincipalBody:
        """Return some of the bodies, with principal moments and axes."""
        b = self.body
        return PrincipalBody(b.mass[which], b.com[which], b.moments[which], b.quaternion[which])

    @classmethod
    def of(
        cls,
        phi: PhiLike,
        start: State,
        wrench: Vec6 | None,
        step: float,
        gravity: ArrayLike,
        *,
        interpolation: Interpolation,
        steps: int | None,
    ) -> RolloutProblem:
        """Check and flatten the arguments of `fast_rollout`.

        Raises `SimulationError`: invalid argument.
        """
        require_word(interpolation, Interpolation, "interpolation")
        step = require_positive(step, "time step", "s", SimulationError)
        steps, samples = _steps_and_samples(wrench, steps)
        phi, g = require_simulable(phi), as_array(gravity, "gravity", (..., 3), SimulationError)
        first = start.vector
        shapes = {"phi": phi.shape[:-1], "start": first.shape[:-1], "gravity": g.shape[:-1]}
        shapes["wrench"] = () if samples is None else samples.shape[:-2]
        batch = broadcast_batches(shapes)
        body = _flatten_body(PrincipalBody.of(phi), batch)
        if np.any(body.moments <= 0.0):
            raise SimulationError(
                "a principal moment of inertia about the centre of mass is lost in rounding (it "
                "lies too far from the origin of the frame): give the parameters about a point "
                "nearer to the body"
            )
        return cls(
            batch_shape=batch,
            body=body,
            start=_flatten_rows(first, batch),
            gravity=_flatten_rows(g, batch),
            wrench=None if samples is None else SampledWrench.broadcast_to(samples, batch),
            linear_interpolation=interpolation == "linear",
            step=step,
            steps=steps,
        )


def _steps_and_samples(wrench: Vec6 | None, steps: int | None) -> tuple[int, Vec6 | None]:
    """Return the number of steps of a rollout, and the samples of its wrench, if any."""
    if not (steps is None or (isinstance(steps, (int, np.integer)) and steps >= 0)):
        raise SimulationError(f"steps: expected a whole number, 0 or more, got {steps!r}")
    if wrench is None:
        if steps is None:
            raise SimulationError("without a wrench, steps must say how many are taken")
        return int(steps), None
    samples = as_array(wrench, "wrench", (..., None, 6), SimulationError, finite=False)
    available = samples.shape[-2] - 1
    if available < 0:
        raise SimulationError(f"wrench: expected shape (..., n, 6), got {samples.shape}")
    taken = available if steps is None else int(steps)
    if taken > available:
        raise SimulationError(
            f"wrench: {available + 1} samples are enough for {available} steps, asked for {taken}"
        )
    # Samples in use are checked only if a motion is not finite, which saves time.
    require_finite_samples(samples[..., taken:, :])
    return taken, samples


def require_finite_samples(wrench: Vec6) -> None:
    """Raise `SimulationError` unless all samples of a wrench, shape (..., n, 6), are finite."""
    rows = max(1, _CHECKED_SAMPLES * wrench.shape[-2] // max(wrench.size, 1))
    for first in range(0, wrench.shape[-2], rows):  # no array of flags as large as the samples
        if not np.isfinite(wrench[..., first : first + rows, :]).all():
            raise SimulationError("wrench: some samples are not finite")


def _flatten_body(body: PrincipalBody, batch: tuple[int, ...]) -> PrincipalBody:
    """Broadcast principal bodies to a flat batch."""
    mass = _flatten_rows(body.mass[..., None], batch)[:, 0]
    fields = (body.com, body.moments, body.quaternion)
    return PrincipalBody(mass, *(_flatten_rows(field, batch) for field in fields))


def _flatten_rows(array: np.ndarray, batch: tuple[int, ...]) -> np.ndarray:
    """Broadcast rows to a flat batch, shape (bodies, k)."""
    return np.broadcast_to(array, (*batch, array.shape[-1])).reshape(-1, array.shape[-1])
