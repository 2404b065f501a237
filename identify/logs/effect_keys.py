"""Keys of the schema table `[effects]`: small sensor faults included in every fit.

The check of a schema, the table in `docs/log-schema.md` and the fit use this table, so a new key is
one entry of `EFFECT_KEYS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import BeforeValidator, create_model

from identify.documents import DocumentTable, finite_number, short_repr
from identify.logs.units import ANGLE_UNITS


@dataclass(frozen=True, slots=True)
class EffectKey:
    """Schema key of `[effects]` for the prior size of one small sensor fault, with its limits.

    Attributes:
        name: name of the key, which ends with its unit.
        prior_size: default prior size of the fault, in `unit`.
        max_size: largest size allowed in a schema and in a fit, in `unit`.
        unit: unit of the size, "deg", "m" or "s", or the quantity to which it is relative.
        description: the fault in one sentence.
    """

    name: str
    prior_size: float
    max_size: float
    unit: str
    description: str

    @property
    def si_factor(self) -> float:
        """Factor from the key's unit to SI: one, except for angles in degrees."""
        return ANGLE_UNITS.get(self.unit, 1.0)

    @property
    def prior_size_in_si(self) -> float:
        """Prior size of the sensor fault in SI."""
        return self.si_factor * self.prior_size


@dataclass(frozen=True, slots=True)
class FaultSizeSetting:
    """Prior size and maximum size of a small sensor fault in a fit, in SI or relative.

    Attributes:
        prior_size: prior size.
        max_size: largest size.
    """

    prior_size: float
    max_size: float


EFFECT_KEYS: Mapping[str, EffectKey] = MappingProxyType(
    {
        key.name: key
        for key in (
            EffectKey(
                "gain",
                prior_size=0.005,
                max_size=0.05,
                unit="relative",
                description="The gain of each channel, and of all forces or all torques, is off.",
            ),
            EffectKey(
                "crosstalk",
                prior_size=0.005,
                max_size=0.05,
                unit="relative",
                description=(
                    "Each channel also reads a share of every other one; force and torque are "
                    "compared by the lever of the centre of mass."
                ),
            ),
            EffectKey(
                "misalignment_deg",
                prior_size=0.5,
                max_size=3.0,
                unit="deg",
                description="The sensor is turned against the axes that the schema gives it.",
            ),
            EffectKey(
                "tilt_deg",
                prior_size=0.3,
                max_size=2.0,
                unit="deg",
                description="The vertical of the world's frame is tilted against gravity.",
            ),
            EffectKey(
                "point_m",
                prior_size=0.003,
                max_size=0.15,
                unit="m",
                description="The pose is that of another point than the one of the wrench.",
            ),
            EffectKey(
                "delay_s",
                prior_size=0.005,
                max_size=0.06,
                unit="s",
                description="The wrench of a row is older than its pose, or newer.",
            ),
            EffectKey(
                "filter_s",
                prior_size=0.004,
                max_size=0.04,
                unit="s",
                description="A low-pass filter of this time constant smooths the wrench.",
            ),
            EffectKey(
                "clock",
                prior_size=0.001,
                max_size=0.1,
                unit="relative",
                description="The clock is fast or slow, where rates are derivatives of the pose.",
            ),
            EffectKey(
                "cable",
                prior_size=0.02,
                max_size=1.0,
                unit="relative to the weight, a metre",
                description=(
                    "A cable or a hose pulls at the body, the more the farther it is from where "
                    "it hangs free."
                ),
            ),
            EffectKey(
                "force_drift",
                prior_size=0.01,
                max_size=0.15,
                unit="relative to the weight",
                description="The offset of the force drifts during a log.",
            ),
            EffectKey(
                "torque_drift",
                prior_size=0.01,
                max_size=0.15,
                unit="relative to the weight times its lever",
                description="The offset of the torque drifts during a log.",
            ),
        )
    }
)
"""Keys of `[effects]` by name."""


def _prior_size_validator(key: EffectKey) -> BeforeValidator:
    """Return the validator of an `[effects]` key: false, or a size up to the key's maximum."""

    def check(value: object) -> float | bool:
        if value is False:
            return False
        try:
            size = finite_number(value)
        except ValueError:
            size = 0.0
        if not 0.0 < size <= key.max_size:
            raise ValueError(
                f"expected 0 < size <= {key.max_size:g} [{key.unit}], or false, "
                f"got {short_repr(value)}"
            )
        return size

    return BeforeValidator(check)


_PRIOR_SIZE_FIELDS: dict[str, Any] = {
    key.name: (Annotated[Any, _prior_size_validator(key)], None) for key in EFFECT_KEYS.values()
}
_EffectSizes: Any = create_model("_EffectSizes", __base__=DocumentTable, **_PRIOR_SIZE_FIELDS)


class EffectsTable(_EffectSizes):
    """Schema table `[effects]`: prior sizes of small sensor faults; false excludes a fault."""
