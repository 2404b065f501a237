"""What a data sheet or a calibration sheet says of a sensor: how far its scale may be off."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np
from pydantic import BeforeValidator, Field

from identify.arrays import Array
from identify.documents import Number, finite, shown

_WANTED = (
    "a number, two (of force and of torque), six (of fx fy fz tx ty tz), or six rows of six with "
    "the cross-talk; one sigma as a share, as 0.01 for 1 %"
)

Share: TypeAlias = Annotated[Number, Field(ge=0.0, le=1.0)]
"""One sigma of a relative error."""

GainAccuracy: TypeAlias = Annotated[Any, BeforeValidator(lambda value: _accuracy(value))]
"""One sigma of the errors of a sensor's gains, relative: see `gain_errors`."""


def _accuracy(value: object) -> float | tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        return _share(value)
    rows = [row for row in value if isinstance(row, list | tuple)]
    if rows and (len(value) != 6 or any(len(row) != 6 for row in rows) or len(rows) != 6):
        raise ValueError(f"expected {_WANTED}; got {shown(value)}")
    if rows:
        return tuple(tuple(map(_share, row)) for row in rows)
    if len(value) not in (2, 6):
        raise ValueError(f"expected {_WANTED}; got {len(value)}: {shown(value)}")
    return tuple(map(_share, value))


def _share(value: object) -> float:
    try:
        number = finite(value)
    except ValueError as error:
        raise ValueError(f"expected {_WANTED}; got {shown(value)}") from error
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"expected shares from 0 to 1, as 0.01 for 1 %; got {number:g}")
    return number


def gain_errors(accuracy: Any) -> Array:
    """Errors of one sigma, independent of each other: the sensor reads (1 + D) [f; t] for each.

    Six numbers are those of the channels, each by itself. A number, or one of force and one of
    torque, does not say whether axes are off together: an error that is common to the three axes
    and one of each axis by itself are both counted. Of a matrix each entry is an error by itself,
    (i, j) what reading i has of reading j, in N and N m.

    Args:
        accuracy: as `[wrench] gain_accuracy` has it.

    Returns:
        D, shape (K, 6, 6).
    """
    sigma = np.asarray(accuracy, dtype=np.float64)
    entries = np.eye(36).reshape(36, 6, 6)
    if sigma.shape == (6, 6):
        errors = sigma.reshape(36, 1, 1) * entries
    else:
        kinds = np.repeat(np.eye(2), 3, axis=1)  # which channels are of force and of torque
        of_channels = sigma if sigma.shape == (6,) else np.broadcast_to(sigma, 2) @ kinds
        errors = of_channels[:, None, None] * entries[::7]
        if sigma.shape != (6,):
            common = of_channels * kinds
            errors = np.concatenate((errors, common[:, :, None] * np.eye(6)))
    return errors[errors.any(axis=(1, 2))]
