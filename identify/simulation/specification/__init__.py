"""The file that specifies a simulation (TOML), and the simulation it specifies."""

from identify.simulation.specification.load_file import COLUMNS, read_samples
from identify.simulation.specification.reading import read_simulation, simulation_of_estimate
from identify.simulation.specification.simulation import Simulation

__all__ = ["COLUMNS", "Simulation", "read_samples", "read_simulation", "simulation_of_estimate"]
