"""Figures of a `FitResult`; each returns a matplotlib `Figure` that belongs to no window.

    identify.plot.wrench(result).savefig("wrench.png", dpi=150)

Every figure has its own file in `figures/`; a new one is a file there and a line here.
"""

from identify.reporting.figures.excitation import excitation
from identify.reporting.figures.parameters import parameters
from identify.reporting.figures.replay import replay
from identify.reporting.figures.wrench import residuals, wrench

__all__ = ["excitation", "parameters", "replay", "residuals", "wrench"]
