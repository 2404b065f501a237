"""Figures of a `Result` and of simulated motions.

`parameters` and `sources` take an estimate in its place, also one that was loaded; the others show
the logs, which an estimate does not hold. `motion` takes one for its body, and `recording` a log
before any fit.

Each returns a matplotlib `Figure` that belongs to no window:

    identify.plot.wrench(result).savefig("wrench.png", dpi=150)

With `ax=` the panels are drawn on axes of one's own, in their style, and these are returned: one
pair of axes for the first panel; several for as many panels in their order, an array of rows and
columns column by column; or a mapping from the names of panels, as `subplot_mosaic` gives it.

    # forces to the left, torques to the right
    figure, axes = plt.subplots(3, 2, figsize=(11, 6), layout="constrained")
    identify.plot.residuals(result, ax=axes)

Each stands beside the section of the report that shows it; a new one is a function and a line here.
"""

from identify.reporting.motion import excitation
from identify.reporting.precision import parameters, sources
from identify.reporting.replays import replay
from identify.reporting.signal_columns import recording
from identify.reporting.simulated_motion import motion, poinsot
from identify.reporting.wrenches import residuals, wrench

__all__ = [
    "excitation",
    "motion",
    "parameters",
    "poinsot",
    "recording",
    "replay",
    "residuals",
    "sources",
    "wrench",
]
