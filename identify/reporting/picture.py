"""A figure as the bytes of a picture."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

from identify.reporting.canvas import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DPI = 160


def png(figure: Figure) -> bytes:
    """The figure as PNG."""
    buffer = BytesIO()
    with style():
        figure.savefig(buffer, format="png", dpi=_DPI)
    return buffer.getvalue()
