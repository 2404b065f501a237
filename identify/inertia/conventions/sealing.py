"""Numbers of other tools: float64, finite, read-only, those of one body with one batch shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Phi, seal
from identify.errors import ModelError

_ASYMMETRY = 1e-9
"""Largest relative asymmetry of a matrix that was printed and read again."""

Shapes = Mapping[str, tuple[int, ...]]
"""Trailing shapes of fields, by their names."""


class Record:
    """A dataclass of numbers as a tool takes them: those of `SHAPES` are sealed."""

    __slots__ = ()
    SHAPES: ClassVar[Shapes] = {}

    def __post_init__(self) -> None:
        shapes = self._shapes()
        fields = {name: getattr(self, name) for name in shapes}
        for name, array in seal_fields(type(self).__name__, fields, shapes).items():
            object.__setattr__(self, name, array)

    def _shapes(self) -> Shapes:
        return self.SHAPES


def seal_fields(what: str, fields: Mapping[str, ArrayLike], shapes: Shapes) -> dict[str, Array]:
    """Sealed copies of the numbers of a body, or of a batch of bodies.

    Raises:
        ModelError: a field of another shape or that is not finite, a matrix that is not symmetric,
            or fields of unlike batch shapes.
    """
    arrays = {name: seal_batch(fields[name], f"{what}.{name}", shapes[name]) for name in shapes}
    batches = {
        name: array.shape[: array.ndim - len(shapes[name])] for name, array in arrays.items()
    }
    if len(set(batches.values())) > 1:
        raise ModelError(f"{what}: expected one batch shape for all fields, got {batches}")
    for name, matrix in arrays.items():
        if shapes[name] == (3, 3):
            off = np.abs(matrix - np.swapaxes(matrix, -1, -2)).max(axis=(-2, -1), initial=0.0)
            if np.any(off > _ASYMMETRY * np.abs(matrix).max(axis=(-2, -1), initial=0.0)):
                raise ModelError(
                    f"{what}.{name}: expected a symmetric matrix, got entries that differ by "
                    f"{np.max(off):.1e} from their mirror images"
                )
    return arrays


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
