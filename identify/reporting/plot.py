"""Figures of a `FitResult`, and of simulated motions.

Each returns a matplotlib `Figure` that belongs to no window:

    identify.plot.wrench(result).savefig("wrench.png", dpi=150)

With `ax=` the panels are drawn on axes of one's own, in their style, and these are returned: one
pair of axes for the first panel; several for as many panels in their order, an array of rows and
columns column by column; or a mapping from the names of panels, as `subplot_mosaic` gives it.

    # forces to the left, torques to the right
    figure, axes = plt.subplots(3, 2, figsize=(11, 6), layout="constrained")
    identify.plot.residuals(result, ax=axes)

Every figure has its own file in `figures/`; a new one is a file there and a line here.
"""

from identify.reporting.figures.excitation import excitation
from identify.reporting.figures.motion import motion
from identify.reporting.figures.parameters import parameters
from identify.reporting.figures.poinsot import poinsot
from identify.reporting.figures.replay import replay
from identify.reporting.figures.sources import sources
from identify.reporting.figures.wrench import residuals, wrench

__all__ = [
    "excitation",
    "motion",
    "parameters",
    "poinsot",
    "replay",
    "residuals",
    "sources",
    "wrench",
]
