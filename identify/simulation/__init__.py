"""Forward simulation of a free rigid body from its ten parameters."""

from identify.simulation.dynamics import RigidBodyDynamics
from identify.simulation.free_rotation import (
    FreeRotation,
    Regime,
    RotationInvariants,
    free_motion,
    free_rotation,
    rotation_invariants,
)
from identify.simulation.impulses import Impulse
from identify.simulation.integrators import INTEGRATORS, Integrator, find_integrator
from identify.simulation.layered import SingleShot, fast_rollout, single_shot
from identify.simulation.loads import ConstantLoad, Load, SampledLoad, buoyancy
from identify.simulation.poinsot import Poinsot, poinsot
from identify.simulation.principal_axes import PrincipalBody
from identify.simulation.rollout import rollout
from identify.simulation.simulate import simulate
from identify.simulation.specification import (
    Simulation,
    read_simulation,
    simulation_of_estimate,
)
from identify.simulation.state import Jump, State, Trajectory

__all__ = [
    "INTEGRATORS",
    "ConstantLoad",
    "FreeRotation",
    "Impulse",
    "Integrator",
    "Jump",
    "Load",
    "Poinsot",
    "PrincipalBody",
    "Regime",
    "RigidBodyDynamics",
    "RotationInvariants",
    "SampledLoad",
    "Simulation",
    "SingleShot",
    "State",
    "Trajectory",
    "buoyancy",
    "fast_rollout",
    "find_integrator",
    "free_motion",
    "free_rotation",
    "poinsot",
    "read_simulation",
    "rollout",
    "rotation_invariants",
    "simulate",
    "simulation_of_estimate",
    "single_shot",
]
