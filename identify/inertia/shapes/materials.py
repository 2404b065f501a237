"""Typical densities of materials of tools and grippers, by name.

Alloys and plastics of one name differ by some percent, and printed parts by their infill: weigh the
part and give its mass where it matters.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

MATERIAL_DENSITIES: Mapping[str, float] = MappingProxyType(
    {
        "abs": 1040.0,
        "aluminium": 2700.0,
        "aluminum": 2700.0,
        "brass": 8500.0,
        "carbon-fibre": 1550.0,
        "copper": 8960.0,
        "nylon": 1140.0,
        "petg": 1270.0,
        "pla": 1240.0,
        "pmma": 1180.0,
        "polycarbonate": 1200.0,
        "pom": 1410.0,
        "ptfe": 2200.0,
        "stainless-steel": 7900.0,
        "steel": 7850.0,
        "titanium": 4430.0,
        "water": 1000.0,
    }
)
"""Densities [kg/m³]: titanium is Ti-6Al-4V, stainless steel 1.4301, nylon PA 6."""
