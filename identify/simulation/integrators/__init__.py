"""Integrators of the coupled equations of motion by name; a new one is a class and a line here."""

from __future__ import annotations

from identify.documents import lookup
from identify.errors import IdentifyError, SimulationError
from identify.simulation.integrators.explicit import MuntheKaas4, SemiImplicitEuler
from identify.simulation.integrators.interface import Integrator
from identify.simulation.integrators.splitting import SuzukiSplitting

__all__ = ["CLOSED_FORM", "INTEGRATORS", "Integrator", "find_integrator"]

INTEGRATORS: dict[str, type[Integrator]] = {
    kind.name: kind for kind in (SemiImplicitEuler, MuntheKaas4, SuzukiSplitting)
}
"""Integrators by name."""

CLOSED_FORM = "exact"
"""Name of the closed-form solution for a body on which gravity alone acts."""


def find_integrator(
    name: str, error: type[IdentifyError] = SimulationError
) -> type[Integrator] | None:
    """Return the integrator of a name; None for the closed-form solution.

    Raises:
        SimulationError, or `error`: unknown name; the message suggests the nearest one.
    """
    return lookup({**INTEGRATORS, CLOSED_FORM: None}, name, "integrator", error)
