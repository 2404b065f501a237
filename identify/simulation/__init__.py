"""Forward simulation of a free rigid body from its ten parameters.

Names are loaded when first used: a replay needs the fast rollout alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from identify.lazy import attach

if TYPE_CHECKING:
    from identify.simulation.forward import simulate as simulate
    from identify.simulation.free_rotation import FreeRotation as FreeRotation
    from identify.simulation.free_rotation import Regime as Regime
    from identify.simulation.free_rotation import RotationInvariants as RotationInvariants
    from identify.simulation.free_rotation import free_motion as free_motion
    from identify.simulation.free_rotation import rotate_freely as rotate_freely
    from identify.simulation.free_rotation import rotation_invariants as rotation_invariants
    from identify.simulation.integrators import INTEGRATORS as INTEGRATORS
    from identify.simulation.integrators import Integrator as Integrator
    from identify.simulation.integrators import find_integrator as find_integrator
    from identify.simulation.layered.rollout import SingleShot as SingleShot
    from identify.simulation.layered.rollout import fast_rollout as fast_rollout
    from identify.simulation.layered.rollout import single_shot as single_shot
    from identify.simulation.loads import ConstantLoad as ConstantLoad
    from identify.simulation.loads import Impulse as Impulse
    from identify.simulation.loads import Load as Load
    from identify.simulation.loads import SampledLoad as SampledLoad
    from identify.simulation.loads import buoyancy as buoyancy
    from identify.simulation.poinsot import Poinsot as Poinsot
    from identify.simulation.poinsot import poinsot_motion as poinsot_motion
    from identify.simulation.principal_axes import PrincipalBody as PrincipalBody
    from identify.simulation.specification.reading import Simulation as Simulation
    from identify.simulation.specification.reading import read_simulation as read_simulation
    from identify.simulation.specification.reading import (
        simulation_of_estimate as simulation_of_estimate,
    )
    from identify.simulation.state import Jump as Jump
    from identify.simulation.state import State as State
    from identify.simulation.state import Trajectory as Trajectory
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "forward": ("simulate",),
            "free_rotation": (
                "FreeRotation",
                "Regime",
                "RotationInvariants",
                "free_motion",
                "rotate_freely",
                "rotation_invariants",
            ),
            "integrators": ("INTEGRATORS", "Integrator", "find_integrator"),
            "layered.rollout": ("SingleShot", "fast_rollout", "single_shot"),
            "loads": ("ConstantLoad", "Impulse", "Load", "SampledLoad", "buoyancy"),
            "poinsot": ("Poinsot", "poinsot_motion"),
            "principal_axes": ("PrincipalBody",),
            "specification.reading": ("Simulation", "read_simulation", "simulation_of_estimate"),
            "state": ("Jump", "State", "Trajectory"),
        },
    )
