"""Records of other tools: their fields float64, finite, read-only, all with one batch shape."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Mat33, Phi, seal
from identify.errors import ModelError

_ASYMMETRY = 1e-9
"""Largest relative asymmetry of a matrix that was printed and read again."""


class Record:
    """Numbers as a tool takes them, sealed; a matrix among them has to be symmetric.

    `SHAPES` names the fields that are numbers, with their trailing shapes. A field of another shape
    or that is not finite, and fields of unlike batch shapes, raise `ModelError`.
    """

    __slots__ = ()
    SHAPES: ClassVar[dict[str, tuple[int, ...]]] = {}

    def __post_init__(self) -> None:
        what = type(self).__name__
        batches: dict[str, tuple[int, ...]] = {}
        shapes = self._shapes()
        for name, trailing in shapes.items():
            array = seal_batch(getattr(self, name), f"{what}.{name}", trailing)
            batches[name] = array.shape[: array.ndim - len(trailing)]
            object.__setattr__(self, name, array)
        if len(set(batches.values())) > 1:
            raise ModelError(f"{what}: expected one batch shape for all fields, got {batches}")
        for name, trailing in shapes.items():
            if trailing == (3, 3):
                _require_symmetric(getattr(self, name), f"{what}.{name}")

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return self.SHAPES


def seal_batch(values: ArrayLike, name: str, trailing: tuple[int, ...]) -> Array:
    """A sealed copy of `values`, shape (..., *trailing) with any leading shape.

    Raises:
        ModelError: not numbers, not finite, or of another trailing shape.
    """
    try:
        leading = max(np.ndim(values) - len(trailing), 0)
    except ValueError:  # a ragged list: `seal` says what is wrong with it
        leading = 0
    return seal(values, name, (*(None,) * leading, *trailing))


def seal_phi(phi: ArrayLike) -> Phi:
    """Ten parameters, sealed, shape (..., 10)."""
    return seal_batch(phi, "phi", (10,))


def _require_symmetric(matrix: Mat33, name: str) -> None:
    difference = np.abs(matrix - np.swapaxes(matrix, -1, -2)).max(axis=(-2, -1), initial=0.0)
    scale = np.abs(matrix).max(axis=(-2, -1), initial=0.0)
    if not np.all(difference <= _ASYMMETRY * scale):
        raise ModelError(
            f"{name}: expected a symmetric matrix, got entries that differ by "
            f"{np.max(difference):.1e} from their mirror images"
        )
