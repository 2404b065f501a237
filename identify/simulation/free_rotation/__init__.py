"""Rotation without torque in closed form, and the equations that it solves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from identify.lazy import attach

if TYPE_CHECKING:
    from identify.simulation.free_rotation.euler_equations import (
        angular_acceleration as angular_acceleration,
    )
    from identify.simulation.free_rotation.euler_equations import (
        angular_velocity_of_momentum as angular_velocity_of_momentum,
    )
    from identify.simulation.free_rotation.euler_equations import (
        inertia_in_world as inertia_in_world,
    )
    from identify.simulation.free_rotation.euler_equations import (
        inertia_rate_in_world as inertia_rate_in_world,
    )
    from identify.simulation.free_rotation.euler_equations import quaternion_rate as quaternion_rate
    from identify.simulation.free_rotation.euler_equations import (
        quaternion_rate_in_world as quaternion_rate_in_world,
    )
    from identify.simulation.free_rotation.invariants import (
        RotationInvariants as RotationInvariants,
    )
    from identify.simulation.free_rotation.invariants import angular_momentum as angular_momentum
    from identify.simulation.free_rotation.invariants import (
        rotation_invariants as rotation_invariants,
    )
    from identify.simulation.free_rotation.polhode import Regime as Regime
    from identify.simulation.free_rotation.solution import FreeRotation as FreeRotation
    from identify.simulation.free_rotation.solution import free_motion as free_motion
    from identify.simulation.free_rotation.solution import rotate_freely as rotate_freely
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
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
        },
    )
