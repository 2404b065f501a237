"""Turns what pydantic says about a simulation's file into one `SchemaError` a person can act on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from identify.errors import SchemaError, did_you_mean


def explain(error: ValidationError, where: str, model: type[BaseModel]) -> SchemaError:
    """The error with the file, the place of each key, and for an unknown key the nearest known.

    Args:
        error: what pydantic raised.
        where: the file, for the message.
        model: the model of the whole file.
    """
    problems = [_explain_one(detail, model) for detail in error.errors(include_url=False)]
    return SchemaError(f"{where}: " + "; and ".join(dict.fromkeys(problems)))


def _explain_one(detail: Any, model: type[BaseModel]) -> str:
    location = tuple(detail["loc"])
    table, key = location[:-1], location[-1] if location else ""
    match detail["type"]:
        case "extra_forbidden":
            return f"{spell(table)}unknown key {key!r}{_nearest(table, str(key), model)}"
        case "missing":
            kind = f"table [{key}]" if not table else f"key {key!r}"
            return f"{spell(table)}the {kind} is missing"
        case "value_error":
            message = str(detail["ctx"]["error"])
        case "model_type" | "model_attributes_type" | "dict_type":
            return f"{spell(location)}expected a table, got {detail['input']!r}"
        case "tuple_type":
            return f"expected tables [[{key}]], got {detail['input']!r}"
        case _:
            message = f"{_lower(detail['msg'])}, got {detail['input']!r}"
    if _names(location) in dict(_tables(model)):
        return f"{spell(location)}{message}"
    return f"{spell(table)}{key}: {message}"


def spell(table: tuple[str | int, ...]) -> str:
    """The place of a table as it stands in the file: `[body]`, or `[[loads]] 2`, from one on."""
    match table:
        case ():
            return ""
        case (str(name), int(index), *_):
            return f"[[{name}]] {index + 1}: "
        case _:
            return f"[{'.'.join(map(str, table))}] "


def _nearest(table: tuple[str | int, ...], key: str, model: type[BaseModel]) -> str:
    """The nearest known key, in the same table or else in another one."""
    tables = dict(_tables(model))
    known = _keys(tables.get(_names(table), model))
    if hint := did_you_mean(key, known):
        return hint
    for path, other in tables.items():
        if path and key in _keys(other):
            return f"; it belongs in [{'.'.join(path)}]"
    return f"; known keys are {', '.join(known)}"


def _keys(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _names(location: tuple[str | int, ...]) -> tuple[str, ...]:
    return tuple(part for part in location if isinstance(part, str))


def _tables(model: type[BaseModel]) -> Iterator[tuple[tuple[str, ...], type[BaseModel]]]:
    """The file itself and each of its tables, with its path."""
    yield (), model
    for name, field in model.model_fields.items():
        for kind in (field.annotation, *get_args(field.annotation)):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield (name,), kind


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
