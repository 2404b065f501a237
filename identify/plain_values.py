"""Values of the toolkit as plain JSON and named arrays, and back: dataclasses, no pickles.

A file of them is safe to read whoever wrote it: nothing but dataclasses and named tuples of the
toolkit are made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import PurePath
from typing import Any

import numpy as np

from identify.errors import ModelError

_PACKAGE = __name__.partition(".")[0]


def pack(value: object, arrays: dict[str, np.ndarray], name: str) -> object:
    """A value as JSON has it, its arrays put aside.

    Args:
        value: None, numbers, text, arrays, and sequences, mappings, named tuples and dataclasses
            of these.
        arrays: takes the arrays, each by its place in the value, as `logs.0.time`.
        name: the place of the value.

    Raises:
        TypeError: anything else.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, np.generic):
        return pack(value.item(), arrays, name)
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.ndarray):
        arrays[name] = value
        return {"array": name}
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        items = [pack(one, arrays, f"{name}.{k}") for k, one in enumerate(value)]
        return items if isinstance(value, list) else {"tuple": items}
    if isinstance(value, Mapping):
        pairs = ((key, pack(one, arrays, f"{name}.{key}")) for key, one in value.items())
        return {"mapping": [[key, one] for key, one in pairs]}
    kind = type(value)
    if (names := _fields_of(kind)) is not None:
        said = {one: pack(getattr(value, one), arrays, f"{name}.{one}") for one in names}
        return {"class": f"{kind.__module__}:{kind.__qualname__}", "fields": said}
    raise TypeError(f"{name}: a {type(value).__name__} cannot be kept")


def unpack(said: object, arrays: Mapping[str, np.ndarray]) -> Any:
    """The value that `pack` made this of; paths come back as text.

    Raises:
        ModelError: a class that the toolkit does not have.
        KeyError, TypeError, ValueError: it is not what `pack` makes.
    """
    if isinstance(said, list):
        return [unpack(one, arrays) for one in said]
    if not isinstance(said, dict):
        return said
    if "array" in said:
        return arrays[said["array"]]
    if "float" in said:
        return float(said["float"])
    if "tuple" in said:
        return tuple(unpack(one, arrays) for one in said["tuple"])
    if "mapping" in said:
        return {key: unpack(one, arrays) for key, one in said["mapping"]}
    kind = _class_of(said["class"])
    return kind(**{name: unpack(one, arrays) for name, one in said["fields"].items()})


def _fields_of(kind: type) -> tuple[str, ...] | None:
    """Names of what a dataclass, or a named tuple, is made of; None of any other class."""
    if is_dataclass(kind):
        return tuple(one.name for one in fields(kind) if one.init)
    return getattr(kind, "_fields", None) if issubclass(kind, tuple) else None


def _class_of(place: str) -> Callable[..., object]:
    module, _, name = place.partition(":")
    found = None
    if module.split(".")[0] == _PACKAGE and name.isidentifier():
        try:
            found = getattr(import_module(module), name, None)
        except ImportError:
            found = None
    if not isinstance(found, type) or _fields_of(found) is None:
        raise ModelError(f"{place}: no class of this version of the toolkit")
    return found
