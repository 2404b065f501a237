"""Array type aliases, and validation and sealing of arrays (float64, finite, read-only).

The aliases carry the trailing shape in their name; leading dimensions are a batch.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from types import EllipsisType
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from identify.errors import IdentifyError, ModelError

Array: TypeAlias = NDArray[np.floating]
"""Array of real numbers; arrays created by the toolkit are float64."""
Indices: TypeAlias = NDArray[np.integer]
Flags: TypeAlias = NDArray[np.bool_]
Vec3: TypeAlias = Array
"""Three-dimensional vectors, shape (..., 3)."""
Vec4: TypeAlias = Array
"""Quaternions [x, y, z, w], shape (..., 4)."""
Vec6: TypeAlias = Array
"""Spatial vectors, linear first, shape (..., 6)."""
Phi: TypeAlias = Array
"""Ten inertial parameters about Bo in B, shape (..., 10)."""
PhiLike: TypeAlias = ArrayLike
"""Ten parameters as an argument: an `InertialParameters` of one body or of a batch, an array of
shape (..., 10), or anything that NumPy converts to one, such as a list of bodies."""
Mat33: TypeAlias = Array
Mat44: TypeAlias = Array
Mat66: TypeAlias = Array

AxisLengths: TypeAlias = tuple[int | EllipsisType | None, ...]
"""Lengths of the axes of an array; None means any length, `...` at the front any batch."""
ErrorFactory: TypeAlias = Callable[[str], IdentifyError]
"""Function that creates an error from its message, such as an error class."""


def is_masked(values: object) -> bool:
    """Return whether an array, or any array in a list, has masked entries."""
    if isinstance(values, list | tuple):
        return any(is_masked(value) for value in values)
    return isinstance(values, np.ma.MaskedArray) and bool(np.ma.is_masked(values))


def as_real(values: ArrayLike, name: str, error: ErrorFactory = ModelError) -> Array:
    """Convert values to an array of float64, without a copy if they are one.

    NumPy would drop imaginary parts, and use the values beneath a mask.

    Raises `ModelError`: (or `error`) complex numbers, or masked entries; `TypeError`, `ValueError`,
    `OverflowError`: not numbers.
    """
    if is_masked(values):
        raise error(f"{name}: masked values are not supported here; expected plain numbers")
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise error(f"{name}: expected real numbers, got {array.dtype}; give .real")
    return np.asarray(array, dtype=np.float64)


def as_array(
    values: ArrayLike,
    name: str,
    shape: AxisLengths,
    error: ErrorFactory = ModelError,
    *,
    finite: bool = True,
) -> Array:
    """Convert values to an array of float64 of an expected shape, without a copy if they are one.

    `shape`: expected lengths; None means any length, `...` at the front any batch.
    Raises `ModelError`: (or `error`) not real numbers, masked, of another shape, or not finite.
    """
    try:
        array = as_real(values, name, error)
    except IdentifyError:
        raise
    except (TypeError, ValueError, OverflowError) as problem:
        raise error(
            f"{name}: expected numbers of shape {_format_shape(shape)}, got {problem}"
        ) from problem
    if not _matches_shape(array.shape, shape):
        raise error(f"{name}: expected shape {_format_shape(shape)}, got {array.shape}")
    if finite and not np.isfinite(array).all():
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise error(f"{name}: entry {index} is {array[index]}; every entry must be finite")
    return array


def _matches_shape(got: tuple[int, ...], shape: AxisLengths) -> bool:
    if shape[:1] == (...,):
        shape = shape[1:]
        got = got[max(len(got) - len(shape), 0) :]
    return len(got) == len(shape) and all(
        want in (None, length) for want, length in zip(shape, got, strict=True)
    )


def seal(
    values: ArrayLike, name: str, shape: AxisLengths, error: ErrorFactory = ModelError
) -> Array:
    """Return a validated, read-only array, with the checks of `as_array`.

    It is a copy, unless the array is read-only and owns its memory.
    """
    array = as_array(values, name, shape, error)
    if array is not values or array.flags.writeable or not array.flags.owndata:
        array = np.array(array)
        array.flags.writeable = False
    return array


def require_positive(
    value: object, name: str, unit: str, error: ErrorFactory = ModelError
) -> float:
    """Validate a positive, finite number and return it as a float.

    `unit`: its unit, for the message.
    Raises `ModelError`: (or `error`) not a positive, finite number.
    """
    if not (isinstance(value, Real) or (isinstance(value, np.ndarray) and value.ndim == 0)):
        raise error(f"{name}: expected a number [{unit}], got {value!r}")
    number = float(value)
    if not 0.0 < number < np.inf:
        raise error(f"{name}: expected a positive, finite number [{unit}], got {number:g}")
    return number


def _format_shape(shape: AxisLengths) -> str:
    words = {None: "n", ...: "..."}
    return "(" + ", ".join(words.get(length, str(length)) for length in shape) + ")"
