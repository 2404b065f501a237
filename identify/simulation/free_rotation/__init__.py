"""Rotation without torque in closed form, and the equations that it solves."""

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
from identify.simulation.free_rotation.motion import free_motion
from identify.simulation.free_rotation.regimes import Regime
from identify.simulation.free_rotation.solution import FreeRotation, free_rotation

__all__ = [
    "FreeRotation",
    "Regime",
    "RotationInvariants",
    "angular_acceleration",
    "angular_momentum",
    "angular_velocity_of_momentum",
    "free_motion",
    "free_rotation",
    "inertia_in_world",
    "inertia_rate_in_world",
    "quaternion_rate",
    "quaternion_rate_in_world",
    "rotation_invariants",
]
