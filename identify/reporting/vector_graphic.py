"""Matplotlib figures as SVG to stand inside an HTML page."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, tostring

from defusedxml.ElementTree import fromstring

from identify.reporting.canvas import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
_COORDINATES = ("d", "x", "y", "transform")


def inline_svg(figure: Figure, key: str, description: str) -> str:
    """A figure as an `svg` element: no prolog, no metadata, ids that no other figure of a page has.

    Args:
        figure: to draw.
        key: word put before each id; different for each figure of a page.
        description: what it shows, for those who do not see it.

    Returns:
        Markup that is safe to put into a page: text was escaped when it was written.
    """
    from matplotlib import rcParams
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    stream = io.StringIO()
    with style():
        rcParams["svg.hashsalt"] = key
        FigureCanvasSVG(figure)
        figure.savefig(stream, format="svg", metadata=_NO_METADATA)
    root = fromstring(stream.getvalue())
    for parent in root.iter():
        for child in [child for child in parent if child.tag == f"{_SVG}metadata"]:
            parent.remove(child)
    _rename(root, key)
    for element in root.iter():
        element.tag = element.tag.removeprefix(_SVG)
        for name in _COORDINATES:
            if name in element.attrib:
                element.attrib[name] = _NUMBER.sub(_rounded, element.attrib[name])
    box = root.get("viewBox", "")
    root.attrib.clear()
    root.attrib.update({"viewBox": box, "role": "img", "aria-label": description})
    return tostring(root, encoding="unicode")


def _rename(root: Element, key: str) -> None:
    """Keep only the ids that are referred to, each with the figure's key before it."""
    used = {
        name
        for element in root.iter()
        for value in element.attrib.values()
        for name in _REFERENCE.findall(value)
    }
    used |= {element.attrib[_HREF][1:] for element in root.iter() if _HREF in element.attrib}
    for element in root.iter():
        attributes = element.attrib
        if _HREF in attributes:
            attributes["href"] = f"#{key}-{attributes.pop(_HREF)[1:]}"
        for name, value in attributes.items():
            attributes[name] = _REFERENCE.sub(rf"url(#{key}-\1)", value)
        if (name := attributes.pop("id", None)) in used:
            attributes["id"] = f"{key}-{name}"


def _rounded(match: re.Match[str]) -> str:
    """A coordinate to a hundredth of a point."""
    text = f"{float(match[0]):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
