"""Integrators of the coupled equations of motion by name; a new one is a class and a line here."""

from __future__ import annotations

from identify.documents import lookup
from identify.errors import SimulationError
from identify.simulation.integrators.explicit import MuntheKaas4, RungeKutta4, SemiImplicitEuler
from identify.simulation.integrators.interface import Integrator
from identify.simulation.integrators.splitting import StrangSplitting, SuzukiSplitting

__all__ = ["INTEGRATORS", "Integrator", "find_integrator"]

INTEGRATORS: dict[str, type[Integrator]] = {
    kind.name: kind
    for kind in (SemiImplicitEuler, RungeKutta4, MuntheKaas4, StrangSplitting, SuzukiSplitting)
}


def find_integrator(name: str) -> type[Integrator]:
    """The integrator of a name.

    Raises:
        SimulationError: there is none; names the nearest.
    """
    return lookup(INTEGRATORS, name, "integrator", SimulationError)
