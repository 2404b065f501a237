"""`[effects]` in a schema: a size, or false, for each key of `identify.logs.effects`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, create_model

from identify.documents import Table, finite, shown
from identify.logs.effects import EFFECT_KEYS, EffectKey


def _size_of(key: EffectKey) -> BeforeValidator:
    """A check for a size up to the cap of a key, or false."""

    def check(value: object) -> float | bool:
        if value is False:
            return False
        try:
            size = finite(value)
        except ValueError:
            size = 0.0
        if not 0.0 < size <= key.cap:
            raise ValueError(
                f"expected 0 < size <= {key.cap:g} [{key.unit}], or false, got {shown(value)}"
            )
        return size

    return BeforeValidator(check)


_FIELDS: dict[str, Any] = {
    key.name: (Annotated[Any, _size_of(key)], None) for key in EFFECT_KEYS.values()
}
_EffectSizes: Any = create_model("_EffectSizes", __base__=Table, **_FIELDS)


class EffectsTable(_EffectSizes):
    """`[effects]`: prior sizes of the small faults of a sensor; False leaves one out of a fit."""
