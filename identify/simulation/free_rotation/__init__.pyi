from identify.simulation.free_rotation.euler_equations import (
    angular_acceleration as angular_acceleration,
    angular_velocity_of_momentum as angular_velocity_of_momentum,
    inertia_in_world as inertia_in_world,
    inertia_rate_in_world as inertia_rate_in_world,
    quaternion_rate as quaternion_rate,
    quaternion_rate_in_world as quaternion_rate_in_world,
)
from identify.simulation.free_rotation.invariants import (
    RotationInvariants as RotationInvariants,
    angular_momentum as angular_momentum,
    rotation_invariants as rotation_invariants,
)
from identify.simulation.free_rotation.polhode import Regime as Regime
from identify.simulation.free_rotation.solution import (
    FreeRotation as FreeRotation,
    free_motion as free_motion,
    rotate_freely as rotate_freely,
)
