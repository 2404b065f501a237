"""Colours and line styles of all figures and pages, in light and dark mode."""

from __future__ import annotations

from collections.abc import Mapping

TEXT = "#1f2933"
"""Colour of text and lines."""
MUTED = "#66727f"
"""Colour of secondary text."""
GRID = "#e3e8ee"
"""Colour of grid lines."""
AXIS = "#b4bdc7"
"""Colour of the edges of axes."""
MEASURED = "#9aa5b1"
"""Colour of measured signals."""
ESTIMATE = "#0061a8"
"""Colour of the estimate."""
OTHER_BODY = "#d1530a"
"""Colour of bodies other than the estimate."""
BAND = "#d6e6f5"
"""Colour of error bands."""
PREDICTED_DASHES = (4.0, 2.0)
"""Dash pattern of a predicted line over a measured one [line widths]."""
AXIS_STYLES = (
    ("x", "#0061a8", "-"),
    ("y", "#d1530a", (0, (5, 1.5))),
    ("z", "#17866b", (0, (1.5, 1))),
)
"""Name, colour and dashes of the three axes of a vector; the dashes differ for print in grey."""

IMPRECISE, CONSTRAINT = "#f3efe6", "#8a5a00"
"""Colours of parameters no more precise than the body's own scale, and of parameters set by a
constraint."""

CSS_VARIABLES: Mapping[str, tuple[str, str]] = {
    TEXT: ("ink", "#e6eaee"),
    MUTED: ("muted", "#a8b2bd"),
    GRID: ("grid", "#333c46"),
    AXIS: ("edge", "#66727f"),
    MEASURED: ("measured", "#7f8b97"),
    ESTIMATE: ("estimate", "#62b3f2"),
    OTHER_BODY: ("other", "#f39355"),
    BAND: ("band", "#24435c"),
    AXIS_STYLES[2][1]: ("third", "#45c9a5"),
    IMPRECISE: ("shade", "#2c2b25"),
    CONSTRAINT: ("constraint", "#e2b45c"),
}
"""CSS variable, and value in dark mode, of each colour."""


def css_color(color: str) -> str:
    """Return the CSS variable of a colour, which follows the reader's light or dark mode."""
    return f"var(--{CSS_VARIABLES[color][0]})" if color in CSS_VARIABLES else color
