"""Forward simulation of a free rigid body from its ten parameters.

Names are loaded when first used: a replay needs the fast rollout alone.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from identify.simulation.forward import simulate
    from identify.simulation.free_rotation import (
        FreeRotation,
        Regime,
        RotationInvariants,
        free_motion,
        rotate_freely,
        rotation_invariants,
    )
    from identify.simulation.integrators import INTEGRATORS, Integrator, find_integrator
    from identify.simulation.layered.rollout import SingleShot, fast_rollout, single_shot
    from identify.simulation.loads import ConstantLoad, Impulse, Load, SampledLoad, buoyancy
    from identify.simulation.poinsot import Poinsot, poinsot_motion
    from identify.simulation.principal_axes import PrincipalBody
    from identify.simulation.specification.reading import (
        Simulation,
        read_simulation,
        simulation_of_estimate,
    )
    from identify.simulation.state import Jump, State, Trajectory

_SOURCES = {
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
}

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
    "poinsot_motion",
    "read_simulation",
    "rotate_freely",
    "rotation_invariants",
    "simulate",
    "simulation_of_estimate",
    "single_shot",
]


def __getattr__(name: str) -> object:
    for module, names in _SOURCES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
