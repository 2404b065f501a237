"""Units of logs as factors to SI; only the package `logs` uses other units."""

from __future__ import annotations

from collections.abc import Mapping
from math import pi
from types import MappingProxyType

from identify.spatial.vectors import STANDARD_GRAVITY

_POUND_FORCE = 4.4482216152605
_INCH = 0.0254

TICKS_PER_SECOND: Mapping[str, int] = MappingProxyType(
    {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
)
SECONDS_PER_DAY = 86_400
"""Length of a day [s], the time unit of spreadsheets."""
LENGTH_UNITS: Mapping[str, float] = MappingProxyType({"m": 1.0, "mm": 1e-3})
ANGLE_UNITS: Mapping[str, float] = MappingProxyType({"rad": 1.0, "deg": pi / 180.0})
ACCELERATION_UNITS: Mapping[str, float] = MappingProxyType(
    {"m/s^2": 1.0, "g": STANDARD_GRAVITY, "mg": 1e-3 * STANDARD_GRAVITY}
)
FORCE_UNITS: Mapping[str, float] = MappingProxyType(
    {"N": 1.0, "mN": 1e-3, "kN": 1e3, "kgf": STANDARD_GRAVITY, "lbf": _POUND_FORCE}
)
TORQUE_UNITS: Mapping[str, float] = MappingProxyType(
    {
        "Nm": 1.0,
        "mNm": 1e-3,
        "kNm": 1e3,
        "Ncm": 1e-2,
        "Nmm": 1e-3,
        "kgfcm": STANDARD_GRAVITY * 1e-2,
        "kgfm": STANDARD_GRAVITY,
        "lbfin": _POUND_FORCE * _INCH,
        "lbfft": _POUND_FORCE * 12.0 * _INCH,
    }
)
CURRENT_UNITS: Mapping[str, float] = MappingProxyType({"A": 1.0, "mA": 1e-3, "%": 1e-2})
"""Units of efforts that only gains make torques; "%" is of a motor's rated torque or current."""
