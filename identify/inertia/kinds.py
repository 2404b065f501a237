"""What ten numbers are: a solid, a plate, a rod, a point mass, nothing, or no body at all."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from identify.arrays import Array, Phi
from identify.inertia.central_spectrum import ROUNDING, central_spectrum


class BodyKind(StrEnum):
    """By the rank of the second moment about the centre of mass, in how many directions mass lies.

    A direction counts where its second moment is above the limit of `central_spectrum`, and is
    impossible where it is below minus that.
    """

    SOLID = "solid"
    """Three: Pi is positive definite."""
    PLATE = "plate"
    """Two: all mass lies in a plane, the largest principal moment is the sum of the others."""
    ROD = "rod"
    """One: all mass lies on a line, one principal moment is zero and the others are equal."""
    POINT = "point"
    """None: no inertia about the centre of mass."""
    MASSLESS = "massless"
    """All ten numbers are zero: a frame, not a body."""
    IMPOSSIBLE = "impossible"
    """No mass density makes these numbers."""


KIND_BY_RANK = (BodyKind.POINT, BodyKind.ROD, BodyKind.PLATE, BodyKind.SOLID)
"""By the number of directions that mass lies in."""


def body_kinds(phi: Phi, tolerance: float = ROUNDING) -> NDArray[np.str_]:
    """The `BodyKind` of each of many bodies; `check` says of one body why.

    Args:
        phi: shape (..., 10).
        tolerance: relative to the body's own spread, as in `central_spectrum`.

    Returns:
        Strings, equal to the members of `BodyKind`, shape (...).

    Raises:
        ModelError: a number is not finite.
    """
    phi = np.asarray(phi, dtype=np.float64)
    values, limit = central_spectrum(phi, tolerance)
    kinds = np.array(KIND_BY_RANK, dtype=np.str_)[np.sum(values > limit[..., None], axis=-1)]
    kinds = np.where(values[..., 0] < -limit, np.str_(BodyKind.IMPOSSIBLE), kinds)
    return np.where((phi == 0.0).all(axis=-1), np.str_(BodyKind.MASSLESS), kinds)


def which_body(index: Sequence[int] | Array) -> str:
    """A body of a batch in words, by its index, one number a dimension."""
    where = [int(i) for i in index]
    if len(where) == 1:
        return f"body {where[0]}"
    return f"body {tuple(where)}" if where else "the body"
