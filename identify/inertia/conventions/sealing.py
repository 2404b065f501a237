"""Fields of another tool's record: float64, finite, read-only, all with one batch shape."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Mat33, Phi, seal
from identify.errors import ModelError

_ASYMMETRY = 1e-9
"""Largest relative asymmetry of a matrix that was printed and read again."""


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


def seal_fields(record: object, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Seals fields of a frozen record in place.

    Args:
        record: the record, in its `__post_init__`.
        shapes: name of each field and its trailing shape.

    Raises:
        ModelError: a field of another shape or not finite, or fields of unlike batch shapes.
    """
    what = type(record).__name__
    batches: dict[str, tuple[int, ...]] = {}
    for name, trailing in shapes.items():
        array = seal_batch(getattr(record, name), f"{what}.{name}", trailing)
        batches[name] = array.shape[: array.ndim - len(trailing)]
        object.__setattr__(record, name, array)
    if len(set(batches.values())) > 1:
        raise ModelError(f"{what}: expected one batch shape for all fields, got {batches}")


def seal_phi(phi: ArrayLike) -> Phi:
    """Ten parameters, sealed, shape (..., 10)."""
    return seal_batch(phi, "phi", (10,))


def require_symmetric(matrix: Mat33, name: str) -> None:
    """Checks that square matrices, shape (..., n, n), are symmetric up to printed digits.

    Raises:
        ModelError: an asymmetry above 1e-9 of the largest entry.
    """
    difference = np.abs(matrix - np.swapaxes(matrix, -1, -2)).max(axis=(-2, -1), initial=0.0)
    scale = np.abs(matrix).max(axis=(-2, -1), initial=0.0)
    if not np.all(difference <= _ASYMMETRY * scale):
        raise ModelError(
            f"{name}: expected a symmetric matrix, got entries that differ by "
            f"{np.max(difference):.1e} from their mirror images"
        )
