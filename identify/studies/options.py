"""`Options`: base class of the options of log sources, perturbations and estimators."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, ClassVar, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

Scalar: TypeAlias = str | int | float | bool
"""Type of an option in a column of the results."""

Number: TypeAlias = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Positive: TypeAlias = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0.0)]
NotNegative: TypeAlias = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0.0)]
Count: TypeAlias = Annotated[int, Field(strict=True, ge=1)]
Vector: TypeAlias = tuple[Number, Number, Number]


class Options(BaseModel):
    """Base class of entries of a study file: frozen, validated, without defaults in keys.

    The fields of a subclass are its keys in a study file, and their types decide which lists are
    alternatives (see `identify.studies.document`).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: ClassVar[str]
    """Name in the registry and in study files."""

    def non_default(self) -> dict[str, object]:
        """Return the options that differ from their defaults, as plain JSON values."""
        return self.model_dump(mode="json", exclude_defaults=True)

    def key_text(self) -> str:
        """Return a text that identifies the settings, for the key of a trial."""
        return canonical_json({"kind": self.kind, **self.non_default()})

    def display_name(self) -> str:
        """Return the kind with its options for tables: `noise(force=0.05)`."""
        return format_call(self.kind, self.non_default())

    def columns(self, prefix: str) -> dict[str, Scalar]:
        """Return the options as result columns, defaults included; nested options as JSON."""
        values = self.model_dump(mode="json")
        return {
            f"{prefix}_{name}": value if isinstance(value, Scalar) else canonical_json(value)
            for name, value in values.items()
            if value is not None
        }


def canonical_json(value: object) -> str:
    """Format a value as JSON with sorted keys and no spaces: equal values give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def format_call(name: str, options: Mapping[str, object]) -> str:
    """Format a name with its options in parentheses; without options, only the name."""
    if not options:
        return name
    return f"{name}({', '.join(f'{key}={_format_value(value)}' for key, value in options.items())})"


def _format_value(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}={_format_value(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_format_value, value)) + "]"
    return f"{value:g}" if isinstance(value, float) else str(value)
