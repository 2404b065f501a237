"""Integrators by name; a new one is a file and a line here."""

from __future__ import annotations

from identify.errors import SimulationError, did_you_mean
from identify.simulation.integrators.interface import Integrator
from identify.simulation.integrators.lie_group import MuntheKaas4
from identify.simulation.integrators.runge_kutta import RungeKutta4
from identify.simulation.integrators.semi_implicit_euler import SemiImplicitEuler
from identify.simulation.integrators.splitting import StrangSplitting
from identify.simulation.integrators.suzuki import SuzukiSplitting

INTEGRATORS: dict[str, type[Integrator]] = {
    kind.name: kind
    for kind in (
        SemiImplicitEuler,
        RungeKutta4,
        MuntheKaas4,
        StrangSplitting,
        SuzukiSplitting,
    )
}


def find_integrator(name: str) -> type[Integrator]:
    """The integrator of a name.

    Raises:
        SimulationError: there is none; names the nearest.
    """
    if name not in INTEGRATORS:
        raise SimulationError(
            f"integrator: expected one of {', '.join(map(repr, INTEGRATORS))}, got {name!r}"
            f"{did_you_mean(str(name), INTEGRATORS)}"
        )
    return INTEGRATORS[name]
