"""Properties of Autodesk Fusion: the text of Properties > Copy, or of a part's physical tab.

Both headings name their point: `Moment of Inertia at Center of Mass` and `at Origin`, in axes of
the origin's frame. No heading states the sign of the products.
"""

from __future__ import annotations

import re

from identify.exchange.body_formats.printed_numbers import NUMBER
from identify.exchange.body_formats.report_lines import ReportLines

_MARGIN = re.compile(r"^[\s#%/*|>;]+")
_NAME = re.compile(r"(?:Part Name|Name|Component Name)\s*[\t:]\s*(\S.*)", re.IGNORECASE)
_MASS = re.compile(rf"Mass\s*[:=]?\s+({NUMBER})\s*(.*)")
_COM = re.compile(
    rf"Center of Mass\s*[:=]?\s+({NUMBER})\s*([a-z]*)\s*,\s+({NUMBER})\s*([a-z]*)\s*,\s+({NUMBER})"
    r"\s*([a-z]*)",
    re.IGNORECASE,
)
_INERTIA = re.compile(
    r"Moments? of Inertia at (Center of Mass|Origin)\s*(?:\(([^)]*)\))?", re.IGNORECASE
)
_ENTRY = re.compile(rf"I([xyz][xyz])\s*[:=]?\s+({NUMBER})", re.IGNORECASE)

HEADING = re.compile(r"Moments? of Inertia at (?:Center of Mass|Origin)", re.IGNORECASE)
"""Pattern of a text of Fusion."""


def read_lines(text: str) -> list[ReportLines]:
    """Return the bodies of a text of Fusion, each with its lines.

    Raises `ModelError`: a quantity of a body is given twice.
    """
    bodies = [ReportLines("", 1)]
    point = name = ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = _MARGIN.sub("", raw)
        if match := _NAME.match(line):
            name = match[1].strip()
        elif match := _MASS.match(line):
            if "mass" in bodies[-1].quantities:
                bodies.append(ReportLines(name, number))
            bodies[-1].name = name
            bodies[-1].add("mass", number, match[2]).entries[""] = match[1]
            name = ""
        elif match := _COM.match(line):
            x, unit, y, unit_of_y, z, unit_of_z = match.groups()
            same = unit if {unit_of_y, unit_of_z} == {unit} else f"{unit}, {unit_of_y}, {unit_of_z}"
            bodies[-1].add("com", number, same).entries.update(x=x, y=y, z=z)
        elif match := _INERTIA.match(line):
            point = "about_com" if match[1].lower() == "center of mass" else "about_origin"
            bodies[-1].add(point, number, match[2] or "")
        elif point and (match := _ENTRY.match(line)):
            bodies[-1].quantities[point].entries[match[1].lower()] = match[2]
        elif line.strip() and not bodies[-1].quantities and not name:
            name = line.strip()
    return bodies
