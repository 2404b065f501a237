"""Turns what pydantic says about a schema into one `SchemaError` a person can act on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from identify.errors import SchemaError, did_you_mean


def explain(error: ValidationError, where: str, model: type[BaseModel]) -> SchemaError:
    """The error with the file, the path of each key, and for an unknown key the nearest known.

    Args:
        error: what pydantic raised.
        where: the file, for the message.
        model: the model of the whole file.
    """
    problems = [_explain_one(detail, model) for detail in error.errors(include_url=False)]
    return SchemaError(f"{where}: " + "; and ".join(dict.fromkeys(problems)))


def _explain_one(detail: Any, model: type[BaseModel]) -> str:
    location = [part for part in detail["loc"] if isinstance(part, str)]
    table, key = location[:-1], location[-1] if location else ""
    match detail["type"]:
        case "extra_forbidden":
            return f"{_spell(table)}unknown key {key!r}{_nearest(table, key, model)}"
        case "missing":
            kind = f"table [{'.'.join(location)}]" if _is_table(location, model) else f"key {key!r}"
            return f"{_spell(table)}the {kind} is missing"
        case "value_error":
            message = str(detail["ctx"]["error"])
        case "model_type" | "model_attributes_type" | "dict_type":
            return f"expected a table [{'.'.join(location)}], got {detail['input']!r}"
        case _:
            message = f"{_lower(detail['msg'])}, got {detail['input']!r}"
    if location and not _is_table(location, model):
        return f"{_spell(table)}{key}: {message}"
    return f"{_spell(location)}{message}"


def _nearest(table: list[str], key: str, model: type[BaseModel]) -> str:
    """The nearest known key, in the same table or else in another one."""
    here = _model_at(table, model)
    known = list(here.model_fields) if here is not None else []
    if hint := did_you_mean(key, known):
        return hint
    for path, other in _tables(model):
        if key in other.model_fields:
            return f"; it belongs in [{'.'.join(path)}]" if path else "; it belongs on top"
    return f"; known keys are {', '.join(known)}"


def _model_at(table: list[str], model: type[BaseModel]) -> type[BaseModel] | None:
    return dict(_tables(model)).get(tuple(table))


def _is_table(location: list[str], model: type[BaseModel]) -> bool:
    return _model_at(location, model) is not None


def _tables(
    model: type[BaseModel], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], type[BaseModel]]]:
    """Every table of the file with its path, the whole file first."""
    yield path, model
    for name, field in model.model_fields.items():
        for kind in (field.annotation, *get_args(field.annotation)):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from _tables(kind, (*path, name))


def _spell(table: list[str]) -> str:
    return f"[{'.'.join(table)}] " if table else ""


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
