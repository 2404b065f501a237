"""Keys of results: made of every field of what decides a result, so that a new field counts."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from pydantic import BaseModel

from identify.experiments.options import Options, canonical


def key_of(*parts: object) -> str:
    """The key of a result, 32 hexadecimal digits of a sha256 of all that decides it.

    Args:
        parts: values that `plain` knows.

    Raises:
        TypeError: a part, or something in it, has no canonical form.
    """
    return hashlib.sha256(canonical(plain(parts)).encode("ascii")).hexdigest()[:32]


def fields_but(value: Any, *left_out: str) -> dict[str, Any]:
    """All fields of a dataclass by name, but for those that do not decide a result.

    Args:
        value: of a dataclass.
        left_out: names of fields.
    """
    names = [field.name for field in fields(value)]
    if unknown := set(left_out).difference(names):
        raise TypeError(f"{type(value).__name__} has no fields {', '.join(sorted(unknown))}")
    return {name: getattr(value, name) for name in names if name not in left_out}


def plain(value: object) -> Any:
    """A value as JSON has it: the same for equal values, and another for any other.

    Of a dataclass all fields count; of a pydantic model all that were set, as a key that is left
    out may mean another thing than its default; of options all that differ from their defaults.

    Raises:
        TypeError: there is no such form of a value of this type.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else {"float": repr(value)}
        case np.generic():
            return plain(value.item())
        case np.ndarray():
            return {"array": plain(value.tolist()), "of": str(value.dtype)}
        case tuple() | list():
            return [plain(one) for one in value]
        case Mapping() if all(isinstance(name, str) for name in value):
            return {"mapping": {name: plain(one) for name, one in value.items()}}
        case Options():
            return {"options": value.kind, **_named(value, value.given())}
        case BaseModel():
            return _named(value, value.model_dump(mode="json", exclude_unset=True))
        case _ if is_dataclass(value) and not isinstance(value, type):
            return _named(value, {k: plain(one) for k, one in fields_but(value).items()})
        case _:
            raise TypeError(
                f"a key cannot be made of {value!r}: {type(value).__qualname__} has no canonical "
                f"form; add one in {__name__}.plain"
            )


def _named(value: object, contents: Mapping[str, Any]) -> dict[str, Any]:
    """Contents with the name of the class: two classes may have the same fields."""
    return {"class": type(value).__qualname__, "fields": dict(contents)}
