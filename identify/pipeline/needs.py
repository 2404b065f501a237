"""What an estimate is needed for, as "mass 1%, com 2mm, inertia 10%", and whether it is met.

A need is met where the 95 % half-widths are no larger: of the mass; of each coordinate of the
centre of mass; of each entry of the inertia about it. A share of the mass is of the estimate's, one
of the inertia of its largest principal moment (entries may be zero). The centre of mass takes
lengths alone: a share of its distance would depend on where the origin is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from identify.errors import SchemaError
from identify.estimation import Estimate

_LENGTHS: Mapping[str, float] = MappingProxyType({"m": 1.0, "cm": 1e-2, "mm": 1e-3})
_MASSES: Mapping[str, float] = MappingProxyType({"kg": 1.0, "g": 1e-3})
_SHARE: Mapping[str, float] = MappingProxyType({"%": 1e-2})
_UNITS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "mass": {**_SHARE, **_MASSES},
        "com": _LENGTHS,
        "inertia": {
            **_SHARE,
            **{f"{m}{u}2": a * b**2 for m, a in _MASSES.items() for u, b in _LENGTHS.items()},
        },
    }
)
"""Units of each quantity, as they are once spaces and the signs of a product are left out."""

_ENTRIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "mass": ("m",),
        "com": ("cx", "cy", "cz"),
        "inertia": ("Icxx", "Icxy", "Icxz", "Icyy", "Icyz", "Iczz"),
    }
)
"""Names of the intervals that a need is about."""

_NEED = re.compile(r"(?P<quantity>[a-z]+)\s*(?P<number>[0-9.]+(?:e[+-]?[0-9]+)?)\s*(?P<unit>.+)")
_GRAMMAR = (
    'expected such as "mass 1%, com 2mm, inertia 10%": commas between needs, each a quantity, a '
    "positive number and a unit: mass in %, kg or g; com in m, cm or mm; inertia in % (of the "
    "largest principal moment), kg m², kg cm² or g mm²"
)


@dataclass(frozen=True, slots=True)
class Need:
    """A half-width that intervals have to reach.

    Attributes:
        text: as it was said.
        quantity: "mass", "com" or "inertia".
        number: in the unit, or in % of the estimate's.
        unit: "%", or one of the quantity, as it was written.
    """

    text: str
    quantity: str
    number: float
    unit: str

    def reached(self, estimate: Estimate) -> float | None:
        """The widest half-width in the need's unit; None where something has no interval.

        Args:
            estimate: with its intervals.
        """
        widths = []
        for name in _ENTRIES[self.quantity]:
            interval = estimate.intervals[name]
            if interval is None:
                return None
            widths.append(0.5 * (interval[1] - interval[0]))
        whole = 1.0
        if self.unit == "%" and self.quantity == "mass":
            whole = estimate.mass
        elif self.unit == "%":
            whole = float(np.linalg.eigvalsh(estimate.inertia_about_com)[-1])
        return max(widths) / whole / _UNITS[self.quantity][_plain(self.unit)]

    def met(self, estimate: Estimate) -> bool:
        """Whether it is reached."""
        reached = self.reached(estimate)
        return reached is not None and reached <= self.number


def parse_needs(text: str) -> tuple[Need, ...]:
    """The needs that a text says; none of an empty one.

    Raises:
        SchemaError: it is none, with the grammar.
    """
    if not isinstance(text, str):
        raise SchemaError(f"needs: {_GRAMMAR}; got {text!r}")
    return tuple(_need(part) for part in text.split(",")) if text else ()


def _need(part: str) -> Need:
    found = _NEED.fullmatch(part.strip().lower())
    if found is None or found["quantity"] not in _UNITS:
        raise SchemaError(f"needs: {part.strip()!r} is not a need; {_GRAMMAR}")
    units = _UNITS[found["quantity"]]
    try:
        number = float(found["number"])
    except ValueError:
        number = 0.0
    if _plain(found["unit"]) not in units or not (np.isfinite(number) and number > 0.0):
        raise SchemaError(f"needs: {part.strip()!r} is not a need; {_GRAMMAR}")
    return Need(" ".join(part.split()), found["quantity"], number, found["unit"])


def _plain(unit: str) -> str:
    return re.sub(r"[\s*·^]", "", unit.replace("²", "2"))


def needs_met(text: str, estimate: Estimate) -> dict[str, bool]:
    """Whether the intervals of an estimate meet each of the needs that a text says."""
    return {need.text: need.met(estimate) for need in parse_needs(text)}
