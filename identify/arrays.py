"""Array aliases, and sealing: arrays of a value type are float64, finite and read-only.

The aliases carry the trailing shape in their name; leading dimensions are a batch.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from identify.errors import ModelError

Array: TypeAlias = NDArray[np.floating]
"""Real numbers: float64 wherever the toolkit makes them."""
Indices: TypeAlias = NDArray[np.integer]
Flags: TypeAlias = NDArray[np.bool_]
Vec3: TypeAlias = Array
"""Vectors, shape (..., 3)."""
Vec4: TypeAlias = Array
"""Quaternions [x, y, z, w], shape (..., 4)."""
Vec6: TypeAlias = Array
"""Spatial vectors, linear first, shape (..., 6)."""
Phi: TypeAlias = Array
"""Ten inertial parameters about Bo in B, shape (..., 10)."""
PhiLike: TypeAlias = ArrayLike
"""What a function takes for ten parameters: an `InertialParameters`, of one body or of a batch, an
array of shape (..., 10), or what else NumPy makes one from, such as a list of bodies."""
Mat33: TypeAlias = Array
Mat44: TypeAlias = Array
Mat66: TypeAlias = Array


def is_masked(values: object) -> bool:
    """Whether an array, or one in a list, has masked entries."""
    if isinstance(values, list | tuple):
        return any(is_masked(value) for value in values)
    return isinstance(values, np.ma.MaskedArray) and bool(np.ma.is_masked(values))


def as_real(values: ArrayLike, name: str) -> Array:
    """An array of real numbers as float64, not copied where it is one.

    NumPy would drop imaginary parts, and take what lies beneath a mask for numbers.

    Args:
        values: anything NumPy makes an array of numbers from.
        name: what the array is, for the message.

    Raises:
        ModelError: complex numbers, or masked entries.
        TypeError, ValueError, OverflowError: no numbers.
    """
    if is_masked(values):
        raise ModelError(
            f"{name}: has masked entries, and none can be left out here; expected plain numbers"
        )
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise ModelError(f"{name}: expected real numbers, got {array.dtype}; give .real")
    return np.asarray(array, dtype=np.float64)


def seal(values: ArrayLike, name: str, shape: tuple[int | None, ...]) -> Array:
    """A read-only float64 copy of `values`, checked to be finite and of the given shape.

    Args:
        values: anything NumPy makes an array of numbers from.
        name: what the array is, for the message.
        shape: expected lengths; None admits any length.

    Raises:
        ModelError: not real numbers, masked, not finite, or of another shape.
    """
    try:
        array = np.array(as_real(values, name))
    except ModelError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(
            f"{name}: expected numbers of shape {_spell(shape)}, got {error}"
        ) from error
    matches = array.ndim == len(shape) and all(
        want is None or want == got for want, got in zip(shape, array.shape, strict=True)
    )
    if not matches:
        raise ModelError(f"{name}: expected shape {_spell(shape)}, got {array.shape}")
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ModelError(f"{name}: entry {where} is {array[where]}; every entry must be finite")
    array.flags.writeable = False
    return array


def seal_batch(values: ArrayLike, name: str, trailing: tuple[int, ...]) -> Array:
    """A sealed copy of `values`, shape (..., *trailing) with any leading shape.

    Raises:
        ModelError: not real numbers, masked, not finite, or of another trailing shape.
    """
    try:
        leading = max(np.ndim(values) - len(trailing), 0)
    except ValueError:  # a ragged list: `seal` says what is wrong with it
        leading = 0
    return seal(values, name, (*(None,) * leading, *trailing))


def _spell(shape: tuple[int | None, ...]) -> str:
    return "(" + ", ".join("n" if length is None else str(length) for length in shape) + ")"
