"""Samples of a wrench on each body of a batch, stored as they were given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Indices, Vec6
from identify.simulation.checks import require_finite_samples
from identify.simulation.layered.workspace import Workspace


@dataclass(frozen=True, slots=True)
class SampledWrench:
    """Samples of [f; t] on each body of a flat batch; samples that bodies share are stored once.

    Attributes:
        samples: at Bo in B, shape (wrenches, n, 6).
        of_body: which wrench each body has, shape (bodies,); None where they all share one.
        in_order: whether each has its own, in the order of the samples.
    """

    samples: Vec6
    of_body: Indices | None
    in_order: bool = False

    @classmethod
    def over(cls, wrench: Vec6, batch: tuple[int, ...]) -> SampledWrench:
        """Samples, shape (..., n, 6), as a batch of bodies broadcasts them."""
        repeated = (slice(0, 1) if stride == 0 else slice(None) for stride in wrench.strides[:-2])
        wrench = wrench[tuple(repeated)]  # else what `np.broadcast_to` made would be copied
        *shape, n, _ = wrench.shape
        count = int(np.prod(shape))
        which = np.broadcast_to(np.arange(count).reshape(shape), batch).reshape(-1)
        return cls(wrench.reshape(count, n, 6), None if count == 1 else which)

    def require_finite(self) -> None:
        """Refuse samples that are not finite.

        Raises:
            SimulationError: some are not.
        """
        require_finite_samples(self.samples)

    def of_bodies(self, bodies: slice) -> SampledWrench:
        """Those on some bodies."""
        if self.of_body is None:
            return self
        which = self.of_body[bodies]
        if np.all(np.diff(which) == 1):  # one each, in their order: a view will do
            samples = self.samples[which[0] : which[-1] + 1]
            return SampledWrench(samples, np.arange(len(which)), in_order=True)
        return SampledWrench(self.samples, which)

    def rows(self, first: int, nodes: int, workspace: Workspace) -> Array:
        """Samples from `first` on, component first, shape (6, nodes, bodies, or 1 if shared)."""
        part = self.samples[:, first : first + nodes].transpose(2, 1, 0)
        if self.of_body is None:
            return part
        out = workspace.rows(0, 6, nodes)
        if self.in_order:
            np.copyto(out, part)
        else:
            np.take(part, self.of_body, axis=2, out=out, mode="clip")
        return out
