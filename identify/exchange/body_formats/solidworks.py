"""Mass properties of SolidWorks: the text of Evaluate > Mass Properties, copied or saved.

`L` is the inertia about the centre of mass, `I` that about the output coordinate system, both in
its axes. `(Using positive tensor notation.)` is printed by newer versions, where it is set.
"""

from __future__ import annotations

import re

from identify.exchange.body_formats.printed_numbers import NUMBER
from identify.exchange.body_formats.report_lines import ReportLines

_MARGIN = re.compile(r"^[\s#%/*|>;]+")
"""Marks of a comment or a table that the text was pasted into."""

_NAME = re.compile(r"Mass properties of\s+(.+)", re.IGNORECASE)
_SYSTEM = re.compile(r"Coordinate system\s*:\s*(.+)", re.IGNORECASE)
_MASS = re.compile(rf"Mass\s*(?:\([^)]*\)\s*)?=\s*({NUMBER})\s*([^(]*)", re.IGNORECASE)
_COM = re.compile(r"Cent(?:er|re) of mass\s*:?\s*(?:\((.*?)\))?", re.IGNORECASE)
_COORDINATE = re.compile(rf"([XYZ])\s*=\s*({NUMBER})")
_PRINCIPAL = re.compile(
    r"Principal axes of inertia and principal moments of inertia\s*:?\s*(?:\((.*)\))?",
    re.IGNORECASE,
)
_AXIS = re.compile(rf"I([xyz])\s*=\s*\(\s*({NUMBER})\s*[,;]\s*({NUMBER})\s*[,;]\s*({NUMBER})\s*\)")
_MOMENT = re.compile(rf"P([xyz])\s*=\s*({NUMBER})")
_INERTIA = re.compile(r"Moments of inertia\s*:?\s*(?:\(([^)]*)\))?", re.IGNORECASE)
_NOTATION = re.compile(r"using (positive|negative) tensor notation", re.IGNORECASE)
_TAKEN_AT = re.compile(r"Taken at the (cent(?:er|re) of mass|output coordinate)", re.IGNORECASE)
_ENTRY = re.compile(rf"([LI])([xyz][xyz])\s*=\s*({NUMBER})")

_POINTS = {"L": "about_com", "I": "about_origin"}

HEADING = re.compile(r"\bL[xyz][xyz]\s*=|Mass properties of |Taken at the output coordinate system")
"""Pattern of a text of SolidWorks."""


def read_lines(text: str) -> list[ReportLines]:
    """Return the bodies of a text of SolidWorks, each with its lines.

    Raises `ModelError`: a quantity of a body is given twice.
    """
    bodies: list[ReportLines] = []
    inertia_unit = section = stated_point = ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = _MARGIN.sub("", raw)
        if match := _NAME.match(line):
            bodies.append(ReportLines(match[1].strip(), number))
            continue
        starts_body = _MASS.match(line) and (not bodies or "mass" in bodies[-1].quantities)
        if starts_body or not bodies:
            bodies.append(ReportLines("", number))
        body = bodies[-1]
        if match := _SYSTEM.match(line):
            body.coordinate_system = match[1].strip()
        elif match := _MASS.match(line):
            body.add("mass", number, match[2]).entries[""] = match[1]
        elif match := _COM.match(line):
            body.add("com", number, match[1] or "")
            section = "com"
        elif match := _PRINCIPAL.match(line):
            body.add("moments", number, match[1] or "")
            body.add("axes", number, "")
            section = "moments"
        elif match := _INERTIA.match(line):
            inertia_unit, section, stated_point = match[1] or "", "inertia", ""
        elif section == "com":
            for axis, value in _COORDINATE.findall(line):
                body.quantities["com"].entries[axis.lower()] = value
        elif section == "moments":
            _read_principal(body, line)
        if section == "inertia" and (match := _TAKEN_AT.search(line)):
            stated_point = "about_origin" if match[1].lower().startswith("output") else "about_com"
        if match := _NOTATION.search(line):
            body.stated_sign = "positive" if match[1].lower() == "positive" else "negative"
        for letter, key, value in _ENTRY.findall(line):
            point = _POINTS[letter]
            if point not in body.quantities or (
                key == "xx" and key in body.quantities[point].entries
            ):
                body.add(point, number, inertia_unit)
                body.point_is_stated &= stated_point == point
            body.quantities[point].entries[key] = value
    for body in bodies:
        _drop_empty_principal(body)
    return [body for body in bodies if body.quantities]


def _drop_empty_principal(body: ReportLines) -> None:
    """Leave out principal axes and moments of which a text has the heading only."""
    principal = {key: body.quantities[key] for key in ("axes", "moments") if key in body.quantities}
    if principal and not any(quantity.entries for quantity in principal.values()):
        for key in principal:
            del body.quantities[key]


def _read_principal(body: ReportLines, line: str) -> None:
    for name, *components in _AXIS.findall(line):
        for axis, value in zip("xyz", components, strict=True):
            body.quantities["axes"].entries[f"{name}{axis}"] = value
    for name, value in _MOMENT.findall(line):
        body.quantities["moments"].entries[name] = value
