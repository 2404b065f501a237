"""Channels of each kind, such as the three of a force: what weights are the same for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from identify.arrays import Array, Flags, Indices


@dataclass(frozen=True, eq=False)
class Kinds:
    """Which channels of G groups are of one kind, for up to K kinds a group.

    Attributes:
        flags: shape (G, K, m).
        effective_samples: of each group, shape (G,).
    """

    flags: Flags
    effective_samples: Array

    @cached_property
    def numbers(self) -> Array:
        """One for the channels of each kind, shape (G, K, m)."""
        return self.flags.astype(np.float64)

    @cached_property
    def counts(self) -> Array:
        """How many channels each kind has, shape (G, K)."""
        return self.numbers.sum(axis=2)

    @cached_property
    def degrees(self) -> Array:
        """How many numbers were measured of each kind, shape (G, K)."""
        return self.counts * self.effective_samples[:, None]

    @cached_property
    def channels(self) -> Array:
        """One for the channels that each group has, shape (G, m)."""
        return self.numbers.max(axis=1)

    @cached_property
    def blocks(self) -> tuple[Indices, Indices, Indices, Array]:
        """The block of each kind that there is, in the matrices of its group.

        Returns:
            Its group and kind, shape (C,) each; its channels, shape (C, k), with others after them
            where a kind has fewer than the largest; one for its own, zero for others, likewise.
        """
        group, kind = np.nonzero(self.counts)
        own = self.numbers[group, kind]
        widest = int(self.counts.max())
        channels = np.argsort(-own, axis=1, kind="stable")[:, :widest]
        return group, kind, channels, np.take_along_axis(own, channels, axis=1)

    def traces(self, moments: Array) -> Array:
        """Of the channels of each kind, (G, m, m) to (G, K)."""
        return (self.numbers @ moments.diagonal(0, 1, 2)[..., None])[..., 0]

    def by_channel(self, values: Array) -> Array:
        """What each kind has as what each of its channels has, (G, K) to (G, m)."""
        return (values[:, None] @ self.numbers)[:, 0]
