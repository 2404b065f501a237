"""Tables of the keys of a schema, made from its models and the docstrings of their fields.

A page lists the keys of a table in a block, as it is read in the repository:

    ```{schema-table} wrench.mount
    translation unit quaternion rotation_vector angle_unit
    ```

`conf.py` puts the table in its place: type, default and meaning of each key. A block whose keys are
not those of the model is an error.
"""

import ast
import inspect
import re
import textwrap
from types import NoneType
from typing import Any, get_args

from pydantic import BaseModel, BeforeValidator

from identify.documents import Quaternion, Vector, WordCheck, iterate_tables
from identify.logs.effect_keys import EFFECT_KEYS
from identify.logs.schema import Schema
from identify.logs.schema_fields import (
    Column,
    FourColumns,
    GainAccuracy,
    JointArrayColumns,
    MatrixColumns,
    RelativeSigma,
    ThreeColumns,
    UpToThreeColumns,
)
from identify.logs.schema_joints import JointNames, JointUnits, Matrix, PerJoint
from identify.logs.schema_poses import PointAndTurn
from identify.logs.units import ANGLE_UNITS, LENGTH_UNITS

BLOCK = re.compile(r"^```\{schema-table\} (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TABLES = {heading.strip("[]"): model for heading, model in iterate_tables(Schema) if heading}
"""Models of the tables of a schema by name, such as "wrench.mount"."""

_TYPES = (
    (Column, "column"),
    (ThreeColumns, "3 columns"),
    (FourColumns, "4 columns"),
    (UpToThreeColumns, "1 to 3 columns"),
    (MatrixColumns, "9 or 16 columns"),
    (JointArrayColumns, "n columns"),
    (Vector, "3 numbers"),
    (Quaternion, "4 numbers"),
    (PointAndTurn, "6 numbers"),
    (RelativeSigma, "share up to 0.5"),
    (GainAccuracy, "1, 2, 6 or 6×6 shares"),
    (PerJoint, "number, or n"),
    (Matrix, "n×n numbers, or n of a diagonal"),
    (JointNames, "n texts"),
    (JointUnits, ", ".join(f'`"{unit}"`' for unit in (*ANGLE_UNITS, *LENGTH_UNITS)) + ", or n"),
)
"""Types of values as a page names them."""
_PLAIN = {bool: "`true`, `false`", float: "number", int: "whole number"}


def fill_tables(page: str) -> str:
    """Return a page with the table of keys in place of each block."""
    return BLOCK.sub(lambda block: "\n".join(_table(block[1], block[2].split())), page)


def keys_of(name: str) -> list[str]:
    """Return the keys of a table of the schema, without the tables in it."""
    model = TABLES[name]
    inner = {heading.rpartition(".")[2] for heading in TABLES if heading.startswith(f"{name}.")}
    return [key for key in model.model_fields if key not in inner]


def descriptions(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstring of each field of a model, its bases included."""
    texts: dict[str, str] = {}
    for cls in _classes(model):
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
        assert isinstance(tree, ast.ClassDef)
        for field, text in zip(tree.body, tree.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                assert isinstance(field.target, ast.Name)
                texts[field.target.id] = " ".join(ast.literal_eval(text.value).split())
    return texts


def _classes(model: type[BaseModel]) -> list[type]:
    """Return the classes that define the fields of a model, bases first."""
    return [cls for cls in reversed(model.__mro__) if cls.__module__.startswith("identify.")]


def _table(name: str, listed: list[str]) -> list[str]:
    keys = keys_of(name)
    if listed != keys:
        raise ValueError(f"schema-table {name}: lists {listed}, expected the keys {keys}")
    if name == "effects":
        return _effects()
    model = TABLES[name]
    hints: dict[str, Any] = {}
    for cls in _classes(model):
        hints |= inspect.get_annotations(cls, eval_str=True)
    texts = descriptions(model)
    lines = ["| key | value | default | meaning |", "|---|---|---|---|"]
    for key in keys:
        field = model.model_fields[key]
        default = "required" if field.is_required() else _default(field.default)
        lines.append(f"| `{key}` | {_type(hints[key])} | {default} | {_words(texts[key])} |")
    return lines


def _effects() -> list[str]:
    lines = ["| key | expected size | largest | the fault |", "|---|---|---|---|"]
    for key in EFFECT_KEYS.values():
        sizes = f"{key.prior_size:g} | {key.max_size:g}"
        lines.append(f"| `{key.name}` [{key.unit}] | {sizes} | {key.description} |")
    return lines


def _type(hint: Any) -> str:
    """Return the type of a value in words: those that are allowed, or its kind."""
    for alias, text in _TYPES:
        if hint == alias:
            return text
    for check in getattr(hint, "__metadata__", ()):
        if isinstance(check, BeforeValidator) and isinstance(check.func, WordCheck):
            return ", ".join(f'`"{word}"`' for word in check.func.known)
    kinds = [kind for kind in get_args(hint) if kind is not NoneType]
    if NoneType in get_args(hint):
        return _type(kinds[0])
    return _PLAIN.get(kinds[0] if kinds else hint, "text")


def _default(value: object) -> str:
    if value is None:
        return ""
    if value is False:
        return "`false`"
    if isinstance(value, tuple):
        return f"`[{', '.join(f'{number:g}' for number in value)}]`"
    return f'`"{value}"`' if isinstance(value, str) else f"`{value:g}`"


def _words(text: str) -> str:
    """Return a description with the words of TOML in it as code."""
    return re.sub(r'(?<![`\w])("[^"`]*")(?![`\w])', r"`\1`", text)
