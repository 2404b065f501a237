"""Integrators of the coupled equations of motion, behind one interface."""

from identify.simulation.integrators.interface import Integrator
from identify.simulation.integrators.registry import INTEGRATORS, find_integrator

__all__ = ["INTEGRATORS", "Integrator", "find_integrator"]
