"""Interface of a method: rows in, ten parameters out, with intervals if it has any."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from experiments.peers.rows import Rows
from identify.arrays import Array, Phi


class NotInstalled(ImportError):
    """A library of a method is not there; the message is the command that would bring it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Result of a method for one log.

    Attributes:
        phi: ten parameters about Bo in B, shape (10,).
        intervals: 95 % bounds of each, shape (10, 2), NaN where it has none; None of a method
            without any.
    """

    phi: Phi
    intervals: Array | None = None


@dataclass(frozen=True, slots=True)
class Method:
    """A method that is compared.

    Attributes:
        name: in tables.
        about: what it does, in a sentence.
        estimate: the estimate from rows.
    """

    name: str
    about: str
    estimate: Callable[[Rows], Answer]
