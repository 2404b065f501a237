"""URDF: links and their `<inertial>`, read, and written as text."""

from __future__ import annotations

import numpy as np

from identify.exchange.found_link import Edit, FoundLink, require_unlike_names
from identify.exchange.link_inertia import LinkInertia, largest_of, unit_note
from identify.exchange.rounding import RoundedBody, round_body
from identify.exchange.xml_edit import child_edits
from identify.exchange.xml_numbers import attribute_numbers, require_mass
from identify.exchange.xml_text import XmlDocument, XmlElement
from identify.inertia.conventions.urdf import UrdfInertial

_SIX = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def read_urdf_links(document: XmlDocument) -> tuple[FoundLink, ...]:
    """Every link of a URDF, in the order of the file.

    Raises:
        ModelFileError: xacro, a link without a name or two of one name, or an `<inertial>` without
            mass or inertia or with what is no number.
    """
    _refuse_xacro(document)
    largest = largest_length(document)
    found = tuple(_found(document, link, largest) for link in document.root.all("link"))
    require_unlike_names(document, found)
    return found


def urdf_edits(document: XmlDocument, inertial: XmlElement, body: RoundedBody) -> tuple[Edit, ...]:
    """The edits that make an `<inertial>` say a body; comments and other elements in it stay."""
    children = urdf_children(body)
    if inertial.find("origin") is None and not any(float(x) for x in body.com):
        del children["origin"]  # its default says the same
    return child_edits(document, inertial, children)


def urdf_children(body: RoundedBody) -> dict[str, str]:
    """The elements within `<inertial>`, by tag."""
    six = " ".join(f'{name}="{x}"' for name, x in zip(_SIX, body.inertia, strict=True))
    return {
        "origin": f'<origin xyz="{" ".join(body.com)}" rpy="0 0 0"/>',
        "mass": f'<mass value="{body.mass}"/>',
        "inertia": f"<inertia {six}/>",
    }


def urdf_inertial(body: RoundedBody, newline: str, step: str) -> str:
    """A whole `<inertial>`; lines after the first begin with `newline`, inner ones with `step`."""
    inner = "".join(f"{newline}{step}{text}" for text in urdf_children(body).values())
    return f"<inertial>{inner}{newline}</inertial>"


def round_for_urdf(phi: np.ndarray, digits: int) -> RoundedBody:
    """A body as URDF prints it: about the centre of mass, in the link's axes."""
    return round_body(phi, digits=digits)


def largest_length(document: XmlDocument) -> float | None:
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
    macro = next((e for e in document.root.walk() if e.tag.startswith("xacro:")), None)
    if macro is not None or document.path.suffix == ".xacro":
        what = "this is xacro, which has to be expanded first"
        raise document.error(
            f"{what}: xacro {document.path} > model.urdf, then give model.urdf", macro
        )


def _found(document: XmlDocument, link: XmlElement, largest: float | None) -> FoundLink:
    name = link.attributes.get("name")
    if not name:
        raise document.error("a <link> without a name", link)
    inertial = link.find("inertial")
    if inertial is None:
        return FoundLink(LinkInertia(name, link.line, massless=True), link, None)
    return FoundLink(_inertia(document, name, inertial, largest), link, inertial)


def _inertia(
    document: XmlDocument, name: str, inertial: XmlElement, largest: float | None
) -> LinkInertia:
    mass_element, tensor = inertial.find("mass"), inertial.find("inertia")
    if mass_element is None:
        raise document.error(f"link {name!r}: an <inertial> without <mass>", inertial)
    printed_mass = attribute_numbers(document, mass_element, "value", 1)
    mass = require_mass(document, mass_element, printed_mass)
    if tensor is None:
        if mass == 0.0:
            return LinkInertia(name, inertial.line, massless=True)
        raise document.error(f"link {name!r}: an <inertial> without <inertia>", inertial)
    entries = [attribute_numbers(document, tensor, entry, 1) for entry in _SIX]
    six = np.concatenate([entry.values for entry in entries])
    if mass == 0.0 and not six.any():
        return LinkInertia(name, inertial.line, massless=True)
    origin = inertial.find("origin")
    xyz = rpy = np.zeros(3)
    if origin is not None:
        xyz = attribute_numbers(document, origin, "xyz", 3, "0 0 0").values
        rpy = attribute_numbers(document, origin, "rpy", 3, "0 0 0").values
    phi = UrdfInertial(np.array(mass), xyz, rpy, six).to_phi()
    printed = np.concatenate(([mass], np.zeros(3), six))
    return LinkInertia(
        name,
        inertial.line,
        phi,
        printed=printed,
        half_units=np.concatenate(
            (printed_mass.half_units, np.zeros(3), *(entry.half_units for entry in entries))
        ),
        note=unit_note(printed, largest),
    )
