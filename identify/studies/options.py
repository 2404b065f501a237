"""`Options`: what a study file may say of one log source, perturbation or estimator."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, ClassVar, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

Scalar: TypeAlias = str | int | float | bool
"""What an option is in a column of the results."""

Number: TypeAlias = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Positive: TypeAlias = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0.0)]
NotNegative: TypeAlias = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0.0)]
Count: TypeAlias = Annotated[int, Field(strict=True, ge=1)]
Vector: TypeAlias = tuple[Number, Number, Number]


class Options(BaseModel):
    """Base of everything a registry holds: frozen, its keys checked, its defaults left unsaid.

    A subclass is a concept's file: its fields are the keys that a study file may give it, and their
    types decide what is a list of alternatives (see `identify.studies.document`).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: ClassVar[str]
    """The name in the registry and in study files."""

    def given(self) -> dict[str, object]:
        """The options that differ from their defaults, as plain JSON values."""
        return self.model_dump(mode="json", exclude_defaults=True)

    def identity(self) -> str:
        """Text that is the same for the same settings: part of the key of a trial."""
        return canonical({"kind": self.kind, **self.given()})

    def spelled(self) -> str:
        """The kind with its options, as tables show it: `noise(force=0.05)`."""
        return spelled(self.kind, self.given())

    def columns(self, prefix: str) -> dict[str, Scalar]:
        """The options as columns of a table, defaults included; nested ones as JSON."""
        values = self.model_dump(mode="json")
        return {
            f"{prefix}_{name}": value if isinstance(value, Scalar) else canonical(value)
            for name, value in values.items()
            if value is not None
        }


def canonical(value: object) -> str:
    """JSON with sorted keys and no spaces: equal values give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def spelled(name: str, options: Mapping[str, object]) -> str:
    """A name with options in parentheses, or alone."""
    if not options:
        return name
    return f"{name}({', '.join(f'{key}={_value(value)}' for key, value in options.items())})"


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}={_value(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return f"{value:g}" if isinstance(value, float) else str(value)
