"""Figures of the pages as SVG files that are readable in light and in dark."""

from pathlib import Path

IMAGES = Path(__file__).parent / "images"

INK, FAINT, PAPER = "#1b1b1d", "#9a9a9e", "#ffffff"
"""Colours of text and lines, of their background, and of the page."""

BLUE, ORANGE, GREEN, RED = "#2f7ed8", "#d9730d", "#2a9d5c", "#d43f52"
"""Colours visible on light and dark pages and with colour-vision deficiency."""

_DARK = {INK: "#e6e6e8", FAINT: "#77777c", PAPER: "#131416"}
_NAMES = {INK: "--ink", FAINT: "--faint", PAPER: "--paper"}

STYLE = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "legend.labelcolor": INK,
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor"), INK),
    **dict.fromkeys(("xtick.color", "ytick.color", "axes.titlecolor"), INK),
}
"""Settings of matplotlib for all figures."""


def write_svg(figure, name):
    """Write a figure whose text, lines and page follow the reader's colour scheme."""
    path = IMAGES / f"{name}.svg"
    figure.savefig(path, metadata={"Date": None})
    light, dark = (
        " ".join(f"{_NAMES[colour]}: {shown(colour)};" for colour in _NAMES)
        for shown in (lambda colour: colour, _DARK.get)
    )
    style = f"<style>:root {{{light}}} @media (prefers-color-scheme: dark) {{:root {{{dark}}}}}"
    text = path.read_text(encoding="utf-8")
    for colour, variable in _NAMES.items():
        text = text.replace(colour, f"var({variable})")
    before, opened, after = text.partition("<defs>")
    style += "</style>\n "
    path.write_text(before + style + opened + after, encoding="utf-8")
