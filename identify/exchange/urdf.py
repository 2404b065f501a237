"""URDF: links and their `<inertial>`, read, and written as text."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from identify.exchange.link_inertia import LinkInertia, largest_of
from identify.exchange.model_format import (
    SIX,
    FoundLink,
    ModelFormat,
    name_of,
    require_unlike_names,
    written_link,
)
from identify.exchange.rounding import RoundedBody
from identify.exchange.xml_document import XmlDocument, XmlElement
from identify.exchange.xml_edit import Edit, child_edits, value_edits
from identify.exchange.xml_numbers import PrintedNumbers, attribute_numbers, require_mass
from identify.inertia.conventions.axes import rotation_from_rpy
from identify.inertia.conventions.central import InertialFrame
from identify.spatial import Pose

_NUMBERED = ("link", "origin", "mass", "inertia", "box", "cylinder", "sphere", "limit", "axis")
"""Elements of a URDF with names and numbers, where `${...}` is an expression of xacro."""


class Urdf(ModelFormat):
    """URDF: `<inertial>` with `<origin xyz rpy>`, `<mass>` and `<inertia>`."""

    name: ClassVar[str] = "urdf"
    roots: ClassVar[tuple[str, ...]] = ("robot",)

    def read(self, document: XmlDocument) -> tuple[FoundLink, ...]:
        """Every link of a URDF; xacro is refused, and what `ModelFormat.read` says."""
        _refuse_xacro(document)
        largest = _largest_length(document)
        found = tuple(_found(document, link, largest) for link in document.root.all("link"))
        require_unlike_names(document, found)
        return found

    def children(self, body: RoundedBody, newline: str = "", step: str = "") -> dict[str, str]:
        """The elements within `<inertial>`, by tag, each on one line."""
        six = " ".join(f'{name}="{x}"' for name, x in zip(SIX, body.inertia, strict=True))
        return {
            "origin": f'<origin xyz="{" ".join(body.com)}" rpy="0 0 0"/>',
            "mass": f'<mass value="{body.mass}"/>',
            "inertia": f"<inertia {six}/>",
        }

    def edits(
        self, document: XmlDocument, inertial: XmlElement, body: RoundedBody
    ) -> tuple[Edit, ...]:
        """The edits of the three elements; comments and other elements stay."""
        children = self.children(body)
        if inertial.find("origin") is None and not any(float(x) for x in body.com):
            del children["origin"]  # its default says the same
        return child_edits(document, inertial, children)

    def tensor_edits(
        self, document: XmlDocument, inertial: XmlElement, body: RoundedBody
    ) -> tuple[Edit, ...]:
        """The edits of the six numbers of an `<inertia>`."""
        tensor = inertial.find("inertia")
        assert tensor is not None  # there is one where a frame was read
        return value_edits(document, tensor, dict(zip(SIX, body.inertia, strict=True)))


def _largest_length(document: XmlDocument) -> float | None:
    """The largest length of joints and shapes [m]; meshes do not tell theirs."""
    placed = [
        e for parent in document.root.walk() if parent.tag != "inertial" for e in parent.children
    ]
    words = [
        word
        for element in placed
        if element.tag in ("origin", "box", "cylinder", "sphere", "capsule")
        for name in ("xyz", "size", "length", "radius")
        for word in element.attributes.get(name, "").split()
    ]
    return largest_of(words)


def _refuse_xacro(document: XmlDocument) -> None:
    macro = next((e for e in document.root.walk() if _is_xacro(e)), None)
    if macro is not None or document.path.suffix == ".xacro":
        what = "this is xacro, which has to be expanded first"
        raise document.error(
            f"{what}: xacro {document.path} > model.urdf, then give model.urdf", macro
        )


def _is_xacro(element: XmlElement) -> bool:
    """Whether an element is a macro, or has an expression in the place of a number."""
    return element.tag.startswith("xacro:") or (
        element.tag in _NUMBERED
        and any(start in text for text in element.attributes.values() for start in ("${", "$("))
    )


def _found(document: XmlDocument, link: XmlElement, largest: float | None) -> FoundLink:
    name = name_of(document, link)
    inertial = link.find("inertial")
    if inertial is None:
        return FoundLink(LinkInertia(name, link.line, massless=True), link, None)
    inertia, frame = _inertia(document, name, inertial, largest)
    return FoundLink(inertia, link, inertial, frame)


def _inertia(
    document: XmlDocument, name: str, inertial: XmlElement, largest: float | None
) -> tuple[LinkInertia, InertialFrame | None]:
    mass_element, tensor = inertial.find("mass"), inertial.find("inertia")
    if mass_element is None:
        raise document.error(f"link {name!r}: an <inertial> without <mass>", inertial)
    printed_mass = attribute_numbers(document, mass_element, "value", 1)
    mass = require_mass(document, mass_element, printed_mass)
    if tensor is None:
        if mass == 0.0:
            return LinkInertia(name, inertial.line, massless=True), None
        raise document.error(f"link {name!r}: an <inertial> without <inertia>", inertial)
    entries = [attribute_numbers(document, tensor, entry, 1) for entry in SIX]
    six = np.concatenate([entry.values for entry in entries])
    if mass == 0.0 and not six.any():
        return LinkInertia(name, inertial.line, massless=True), None
    origin = inertial.find("origin")
    xyz = rpy = np.zeros(3)
    if origin is not None:
        xyz = attribute_numbers(document, origin, "xyz", 3, "0 0 0").values
        rpy = attribute_numbers(document, origin, "rpy", 3, "0 0 0").values
    X_LC = Pose(rotation_from_rpy(rpy), xyz)
    units = np.concatenate([entry.half_units for entry in entries])
    return written_link(name, inertial, printed_mass, PrintedNumbers(six, units), X_LC, largest)
