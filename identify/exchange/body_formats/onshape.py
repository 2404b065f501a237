"""Mass properties of Onshape's REST API: JSON of a part, a part studio or an assembly, in SI.

`inertia` is about the centroid in axes of the coordinate system, 9 numbers by rows (18 more are the
limits of a tolerance); `principalInertia` and `principalAxes` show the sign of the products.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from identify.documents import lookup, numbers_validator, short_repr
from identify.errors import ModelError
from identify.exchange.body_formats.mass_report import MassReport
from identify.exchange.body_formats.printed_numbers import RoundedNumbers

_KEYS = ("mass", "centroid", "inertia")
_WHOLE = "-all-"
"""Key of the sum of all parts of a part studio."""


def is_onshape(document: Mapping[str, object]) -> bool:
    """Return whether a JSON object has mass properties of Onshape."""
    return any(all(key in body for key in _KEYS) for body in _bodies(document).values())


def read_report(document: Mapping[str, object], wanted: str | None) -> MassReport:
    """Return the mass properties of a JSON object of Onshape.

    `wanted`: the id of a part, if there are several.
    Raises `ModelError`: several parts and none is wanted, parts without a material, or a value that
    is missing or no number.
    """
    bodies = _bodies(document)
    parts = [name for name in bodies if name != _WHOLE]
    if wanted is None and len(bodies) > 1:
        if len(parts) > 1:
            raise ModelError(
                f"{len(parts)} parts: {', '.join(parts)}; choose one as FILE#ID"
                + (f", or all together as FILE#{_WHOLE}" if _WHOLE in bodies else "")
            )
        wanted = parts[0]
    name = next(iter(bodies)) if wanted is None else wanted
    body = lookup(bodies, name, "part", ModelError)
    missing = body.get("massMissingCount")
    if body.get("hasMass") is False or (isinstance(missing, int) and missing > 0):
        raise ModelError(
            f"{name or 'the body'} has {short_repr(missing)} parts without a material, whose mass "
            "is missing: assign materials in Onshape"
        )
    axes = body.get("principalAxes")
    return MassReport(
        name,
        _exact(_first_numbers(body, "mass", 1)[0]),
        _exact(_first_numbers(body, "centroid", 3)),
        about_com=_exact(_first_numbers(body, "inertia", 9).reshape(3, 3)),
        principal_moments=(
            _exact(_first_numbers(body, "principalInertia", 3)) if axes is not None else None
        ),
        principal_axes=None if axes is None else _exact(_read_axes(axes)),
    )


def _bodies(document: Mapping[str, object]) -> dict[str, Mapping[str, object]]:
    bodies = document.get("bodies")
    if isinstance(bodies, Mapping):
        return {str(name): body for name, body in bodies.items() if isinstance(body, Mapping)}
    return {"": document}


def _first_numbers(body: Mapping[str, object], key: str, count: int) -> np.ndarray:
    value = body.get(key)
    if isinstance(value, list) and count < len(value) != 3 * count:
        raise ModelError(f"{key}: expected {count} or {3 * count} numbers, got {len(value)}")
    try:
        return np.array(
            numbers_validator(count)(value[:count] if isinstance(value, list) else value)
        )
    except ValueError as error:
        raise ModelError(f"{key}: {error}") from error


def _read_axes(axes: object) -> np.ndarray:
    try:
        rows = [[axis[key] for key in "xyz"] for axis in axes]  # pyright: ignore[reportGeneralTypeIssues]
        return np.array(numbers_validator(3, 3)(rows))
    except (TypeError, LookupError, ValueError) as error:
        raise ModelError(
            f"principalAxes: expected three of x, y, z, got {short_repr(axes)}"
        ) from error


def _exact(values: np.ndarray) -> RoundedNumbers:
    """Return numbers that are printed with all their digits."""
    values = np.asarray(values, dtype=np.float64)
    return RoundedNumbers(values, np.zeros_like(values))
