"""Interface of a method: rows in, ten parameters out, with intervals if it has any."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from experiments.peers.rows import Rows
from identify.arrays import Array, Phi


class NotInstalled(ImportError):
    """The library of a method is missing; the message is the command that installs it."""


@dataclass(frozen=True, slots=True)
class BodyEstimate:
    """Result of a method for one log.

    Attributes:
        phi: ten parameters about Bo in B, shape (10,).
        intervals: 95 % bounds of each, shape (10, 2), NaN for parameters without; None for a
            method without intervals.
    """

    phi: Phi
    intervals: Array | None = None


@dataclass(frozen=True, slots=True)
class Method:
    """A method of the comparison.

    Attributes:
        name: name in the tables.
        description: description of the method.
        estimate: function that estimates the body from rows.
    """

    name: str
    description: str
    estimate: Callable[[Rows], BodyEstimate]
