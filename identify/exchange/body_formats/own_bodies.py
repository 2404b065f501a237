"""Bodies that a person writes: TOML or JSON with the keys of estimate.json, and units.

    mass = 300
    com = [0, 0, 40]
    inertia_about_com = [[250, 0, 0], [0, 250, 0], [0, 0, 120]]
    units = { mass = "g", length = "mm", inertia = "kg mm^2" }
    products = "negative"

Without `units` all is in SI, and without `products` they are the matrix's entries, as in
estimate.json.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches

import numpy as np

from identify.documents import lookup, numbers_validator
from identify.errors import ModelError
from identify.exchange.body_formats.answers import BodyAnswers, UnstatedProperty
from identify.exchange.body_formats.units import inertia_unit, length_unit, mass_unit
from identify.inertia.conventions.orders import (
    ENTRIES_BY_ROWS,
    convert_product_sign,
    matrix_from_entries,
)

MATRIX_KEYS = ("inertia_about_com", "inertia_about_origin")
"""Keys of an inertia matrix."""

_OWN_KEYS = ("units", "products")
_POINTLESS_KEY = "inertia"
_UNIT_KEYS = {"mass": mass_unit, "length": length_unit, "inertia": inertia_unit}


def parse_own_toml(text: str) -> dict[str, object]:
    """Return the keys of a body in TOML; raise `ModelError` if it is no TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        hint = ""
        if re.search(r"=\s*[-+]?\d+,\d", text):
            hint = "; write a decimal point, not a comma"
        elif "overwrite" in str(error):
            hint = "; write one body to a file"
        elif "Unclosed" in str(error) or "end of document" in str(error):
            hint = "; is the file cut off?"
        raise ModelError(f"not a TOML file: {error}{hint}") from error


def body_keys_in_si(document: Mapping[str, object], answers: BodyAnswers) -> dict[str, object]:
    """Return the keys of a person's own body as those of an estimate.json, in SI.

    Raises `UnstatedProperty`: `inertia` does not say about which point; `ModelError`: an unknown
    unit, or a matrix that is none.
    """
    keys = dict(document)
    for key in keys:
        near = get_close_matches(key, _OWN_KEYS)
        if near and key not in _OWN_KEYS:
            raise ModelError(f"unknown key {key!r}; do you mean {near[0]!r}?")
    if _POINTLESS_KEY in keys and not any(key in keys for key in (*MATRIX_KEYS, "phi")):
        if answers.point is None:
            raise UnstatedProperty(
                "'inertia' does not say about which point: name it inertia_about_com or "
                "inertia_about_origin",
                "--about com|origin",
            )
        keys[f"inertia_about_{answers.point}"] = keys.pop(_POINTLESS_KEY)
    mass, length, inertia = _unit_factors(keys.pop("units", None), answers)
    if "phi" in keys and (mass, length, inertia) != (1.0, 1.0, 1.0):
        raise ModelError("units: phi is in SI; give mass, com and an inertia in other units")
    sign = lookup(
        {"negative": "negative", "positive": "positive"},
        str(keys.pop("products", answers.products or "negative")),
        "sign of products",
        ModelError,
    )
    for key, factor, shape in (("mass", mass, ()), ("com", length, (3,))):
        if factor != 1.0 and key in keys:
            keys[key] = (factor * np.array(_checked(key, keys[key], *shape))).tolist()
    for key in MATRIX_KEYS:
        if key in keys:
            matrix = _matrix(key, keys[key])
            keys[key] = (inertia * convert_product_sign(matrix, sign)).tolist()  # pyright: ignore[reportArgumentType]
    return keys


def _unit_factors(units: object, answers: BodyAnswers) -> tuple[float, float, float]:
    """Return the units of mass [kg], length [m] and inertia [kg m²]; of SI if none is given."""
    given = (answers.mass_unit, answers.length_unit, answers.inertia_unit)
    words = {key: word for key, word in zip(_UNIT_KEYS, given, strict=True) if word}
    if units is not None:
        if not isinstance(units, Mapping):
            raise ModelError(f"units: expected a table of {', '.join(_UNIT_KEYS)}, got {units!r}")
        for key, word in units.items():
            lookup(_UNIT_KEYS, str(key), "quantity with a unit", ModelError)
            words[str(key)] = str(word)
    if not words:
        return 1.0, 1.0, 1.0
    if missing := [key for key in _UNIT_KEYS if key not in words]:
        raise UnstatedProperty(
            f"units: no unit of {' and of '.join(missing)}; give all three, or none for SI",
            " ".join(f"--{key}-unit UNIT" for key in missing),
        )
    mass, length, inertia = (unit(words[key]) for key, unit in _UNIT_KEYS.items())
    return mass, length, inertia


def _matrix(key: str, value: object) -> np.ndarray:
    """Return a matrix from three rows, or from a table of its six entries."""
    if isinstance(value, Mapping):
        lowered = {str(name).lower()[-2:]: number for name, number in value.items()}
        if missing := [f"I{entry}" for entry in ENTRIES_BY_ROWS if entry not in lowered]:
            raise ModelError(f"{key}: no {', '.join(missing)}")
        six = [_checked(f"{key}.I{entry}", lowered[entry]) for entry in ENTRIES_BY_ROWS]
        return matrix_from_entries(six, "identify")
    return np.array(_checked(key, value, 3, 3))


def _checked(key: str, value: object, *shape: int):
    try:
        return numbers_validator(*shape)(value)
    except ValueError as error:
        hint = "; write a decimal point, not a comma" if "," in str(value) and shape == () else ""
        raise ModelError(f"{key}: {error}{hint}") from error
