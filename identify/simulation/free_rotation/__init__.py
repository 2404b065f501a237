"""Rotation without torque in closed form, and the equations that it solves."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from identify.simulation.free_rotation.euler_equations import (
        angular_acceleration,
        angular_velocity_of_momentum,
        inertia_in_world,
        inertia_rate_in_world,
        quaternion_rate,
        quaternion_rate_in_world,
    )
    from identify.simulation.free_rotation.invariants import (
        RotationInvariants,
        angular_momentum,
        rotation_invariants,
    )
    from identify.simulation.free_rotation.polhode import Regime
    from identify.simulation.free_rotation.solution import FreeRotation, free_motion, rotate_freely

_SOURCES = {
    "euler_equations": (
        "angular_acceleration",
        "angular_velocity_of_momentum",
        "inertia_in_world",
        "inertia_rate_in_world",
        "quaternion_rate",
        "quaternion_rate_in_world",
    ),
    "invariants": ("RotationInvariants", "angular_momentum", "rotation_invariants"),
    "polhode": ("Regime",),
    "solution": ("FreeRotation", "free_motion", "rotate_freely"),
}

__all__ = [
    "FreeRotation",
    "Regime",
    "RotationInvariants",
    "angular_acceleration",
    "angular_momentum",
    "angular_velocity_of_momentum",
    "free_motion",
    "inertia_in_world",
    "inertia_rate_in_world",
    "quaternion_rate",
    "quaternion_rate_in_world",
    "rotate_freely",
    "rotation_invariants",
]


def __getattr__(name: str) -> object:
    for module, names in _SOURCES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
