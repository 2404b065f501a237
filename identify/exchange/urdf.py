"""URDF: links and their `<inertial>`, read, and written as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from identify.exchange.link_inertia import largest_of
from identify.exchange.model_format import (
    SIX,
    FoundLink,
    ModelFormat,
    massless_link,
    name_of,
    require_mass,
    written_link,
)
from identify.exchange.rounding import RoundedBody
from identify.exchange.xml_document import PrintedNumbers, XmlDocument, XmlElement
from identify.exchange.xml_edit import Edit, child_edits, value_edits
from identify.inertia.conventions.axes import rotation_from_rpy
from identify.spatial import Pose

_NUMBERED = ("link", "origin", "mass", "inertia", "box", "cylinder", "sphere", "limit", "axis")
"""Elements of a URDF with names and numbers, where `${...}` is an expression of xacro."""


class Urdf(ModelFormat):
    """URDF: `<inertial>` with `<origin xyz rpy>`, `<mass>` and `<inertia>`."""

    name: ClassVar[str] = "urdf"
    roots: ClassVar[tuple[str, ...]] = ("robot",)

    def links(self, document: XmlDocument) -> Iterator[FoundLink]:
        """Every link of a URDF; xacro is refused."""
        _refuse_xacro(document)
        largest = _largest_length(document)
        for link in document.root.all("link"):
            yield _found(document, link, largest)

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
    return largest_of(
        word
        for parent in document.root.walk()
        if parent.tag != "inertial"
        for element in parent.children
        if element.tag in ("origin", "box", "cylinder", "sphere", "capsule")
        for name in ("xyz", "size", "length", "radius")
        for word in element.attributes.get(name, "").split()
    )


def _refuse_xacro(document: XmlDocument) -> None:
    macro = next((e for e in document.root.walk() if _is_xacro(e)), None)
    if macro is not None or document.path.suffix == ".xacro":
        what = "this is xacro, which has to be expanded first"
        what += f": xacro {document.path} > model.urdf, then give model.urdf"
        raise document.error(what, macro)


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
        return massless_link(name, link)
    mass_element, tensor = inertial.find("mass"), inertial.find("inertia")
    if mass_element is None:
        raise document.error(f"link {name!r}: an <inertial> without <mass>", inertial)
    mass = document.attribute_numbers(mass_element, "value", 1)
    require_mass(document, name, mass_element, mass)
    six = PrintedNumbers(np.zeros(6), np.zeros(6))
    if tensor is not None:
        six = PrintedNumbers(
            *np.hstack([document.attribute_numbers(tensor, entry, 1) for entry in SIX])
        )
    elif mass.values.any():
        raise document.error(f"link {name!r}: an <inertial> without <inertia>", inertial)
    if not (mass.values.any() or six.values.any()):
        return massless_link(name, link, inertial)
    xyz = rpy = np.zeros(3)
    origin = inertial.find("origin")
    if origin is not None:
        xyz, rpy = (
            document.attribute_numbers(origin, key, 3, "0 0 0").values for key in ("xyz", "rpy")
        )
    return written_link(name, link, inertial, mass, six, Pose(rotation_from_rpy(rpy), xyz), largest)
