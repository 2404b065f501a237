"""Serialisation of dataclasses, to JSON for plain values and to named arrays, without pickle.

Files of unknown origin are safe to read: only dataclasses and named tuples of the toolkit are
created.
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


def to_json_and_arrays(value: object, arrays: dict[str, np.ndarray], name: str) -> object:
    """Serialise a value to JSON, with its arrays apart, by their path in the value.

    `value`: None, numbers, text, arrays, and sequences, mappings, named tuples and dataclasses of
    these.
    Raises `TypeError`: anything else.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, np.generic):
        return to_json_and_arrays(value.item(), arrays, name)
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.ndarray):
        arrays[name] = value
        return {"array": name}
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        items = [to_json_and_arrays(item, arrays, f"{name}.{k}") for k, item in enumerate(value)]
        return items if isinstance(value, list) else {"tuple": items}
    if isinstance(value, Mapping):
        pairs = [
            [key, to_json_and_arrays(item, arrays, f"{name}.{key}")] for key, item in value.items()
        ]
        return {"mapping": pairs}
    kind = type(value)
    if (names := _init_fields(kind)) is not None:
        document = {
            field: to_json_and_arrays(getattr(value, field), arrays, f"{name}.{field}")
            for field in names
        }
        return {"class": f"{kind.__module__}:{kind.__qualname__}", "fields": document}
    raise TypeError(f"{name}: a {type(value).__name__} cannot be serialised")


def from_json_and_arrays(document: object, arrays: Mapping[str, np.ndarray]) -> Any:
    """Restore a value from the output of `to_json_and_arrays`; file paths become text.

    Raises `ModelError`: unknown class; `KeyError, TypeError, ValueError`: not an output of
    `to_json_and_arrays`.
    """
    if isinstance(document, list):
        return [from_json_and_arrays(item, arrays) for item in document]
    if not isinstance(document, dict):
        return document
    if "array" in document:
        return arrays[document["array"]]
    if "float" in document:
        return float(document["float"])
    if "tuple" in document:
        return tuple(from_json_and_arrays(item, arrays) for item in document["tuple"])
    if "mapping" in document:
        return {key: from_json_and_arrays(item, arrays) for key, item in document["mapping"]}
    kind = _find_class(document["class"])
    return kind(
        **{name: from_json_and_arrays(item, arrays) for name, item in document["fields"].items()}
    )


def _init_fields(value_class: type) -> tuple[str, ...] | None:
    """Return the constructor's fields of a dataclass or named tuple; None for other classes."""
    if is_dataclass(value_class):
        return tuple(item.name for item in fields(value_class) if item.init)
    return getattr(value_class, "_fields", None) if issubclass(value_class, tuple) else None


def _find_class(class_path: str) -> Callable[..., object]:
    module, _, name = class_path.partition(":")
    resolved = None
    if module.split(".")[0] == _PACKAGE and name.isidentifier():
        try:
            resolved = getattr(import_module(module), name, None)
        except ImportError:
            resolved = None
    if not isinstance(resolved, type) or _init_fields(resolved) is None:
        raise ModelError(f"{class_path}: unknown class")
    return resolved
