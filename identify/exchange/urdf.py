"""Reader and writer of the links of URDF files and their `<inertial>`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import ClassVar

import numpy as np

from identify.exchange.link_geometry import LinkGeometry
from identify.exchange.link_inertia import largest_magnitude
from identify.exchange.model_format import (
    INERTIA_ENTRIES,
    LinkEntry,
    LinkJoint,
    ModelFormat,
    first_of_fixed_groups,
    link_with_inertia,
    massless_link,
    read_link,
    require_name,
)
from identify.exchange.rounding import RoundedBody
from identify.exchange.xml_document import PrintedNumbers, XmlDocument, XmlElement
from identify.inertia.conventions.axes import rotation_from_rpy
from identify.spatial import Pose

_NUMERIC_ELEMENTS = (
    "link",
    "origin",
    "mass",
    "inertia",
    "box",
    "cylinder",
    "sphere",
    "limit",
    "axis",
)
"""Elements of a URDF with numbers in attributes, where `${...}` is an expression of xacro."""


class Urdf(ModelFormat):
    """Model format URDF: `<inertial>` with `<origin xyz rpy>`, `<mass>` and `<inertia>`."""

    name: ClassVar[str] = "urdf"
    root_tags: ClassVar[tuple[str, ...]] = ("robot",)

    def links(self, document: XmlDocument) -> Iterator[LinkEntry]:
        """Yield every link of a URDF; xacro files are rejected."""
        _refuse_xacro(document)
        largest = _largest_length(document)
        for link in document.root.find_all("link"):
            name = require_name(document, link)
            read = partial(_read_inertial, document, name, link, largest)
            yield read_link(document, name, link, read)

    def children(self, body: RoundedBody, newline: str = "", step: str = "") -> dict[str, str]:
        """Return the elements within `<inertial>`, by tag, each on one line."""
        six = " ".join(
            f'{name}="{x}"' for name, x in zip(INERTIA_ENTRIES, body.inertia, strict=True)
        )
        return {
            "origin": f'<origin xyz="{" ".join(body.com)}" rpy="0 0 0"/>',
            "mass": f'<mass value="{body.mass}"/>',
            "inertia": f"<inertia {six}/>",
        }

    def geometry(self, document: XmlDocument, link: XmlElement) -> Iterator[LinkGeometry]:
        """Yield the shapes of `<collision>` and `<visual>`."""
        for role in ("collision", "visual"):
            for element in link.find_all(role):
                for geometry in element.find_all("geometry"):
                    for shape in geometry.children:
                        text = partial(_attribute, shape)
                        yield LinkGeometry(role, shape.tag, _read_pose(document, element), text)

    def joints(self, document: XmlDocument, entries: Sequence[LinkEntry]) -> dict[str, LinkJoint]:
        """Return the joint of every link with a parent, by name of the link."""
        return {
            child.attributes.get("link", ""): LinkJoint(
                parent.attributes.get("link", ""),
                joint.attributes.get("type") == "fixed",
                partial(_read_pose, document, joint),
            )
            for joint in document.root.find_all("joint")
            for parent, child in [(joint.find("parent"), joint.find("child"))]
            if parent is not None and child is not None
        }

    def filled_frames(self, document: XmlDocument, entries: Sequence[LinkEntry]) -> Iterator[str]:
        """Yield the names of attached links with collision shapes and no `<inertial>`."""
        attached = self.joints(document, entries)
        for inertia, link, inertial, _ in entries:
            if inertial is None and inertia.name in attached and link.find("collision") is not None:
                yield inertia.name

    def moving_frames(self, document: XmlDocument, entries: Sequence[LinkEntry]) -> Iterator[str]:
        """Yield the names of massless links that a joint moves without any mass fixed to them."""
        joints = self.joints(document, entries)
        first = first_of_fixed_groups([entry.inertia.name for entry in entries], joints)
        with_mass = {
            first[entry.inertia.name]
            for entry in entries
            if not entry.inertia.massless
            # MuJoCo computes the inertia of a link without <inertial> from its shapes.
            or (entry.inertial_element is None and entry.link_element.find("collision") is not None)
        }
        for entry in entries:
            name = entry.inertia.name
            moved = first[name] == name and name in joints.keys() - with_mass
            if entry.inertia.massless and moved:
                yield name


def _attribute(element: XmlElement, name: str) -> str:
    return element.attributes.get(name, "")


def _largest_length(document: XmlDocument) -> float | None:
    """Return the largest length of joints and shapes [m], meshes excluded."""
    return largest_magnitude(
        word
        for parent in document.root.walk()
        if parent.tag != "inertial"
        for element in parent.children
        if element.tag in ("origin", "box", "cylinder", "sphere", "capsule")
        for name in ("xyz", "size", "length", "radius")
        for word in element.attributes.get(name, "").split()
    )


def _refuse_xacro(document: XmlDocument) -> None:
    """Raise `ModelFileError` if the file contains xacro macros or expressions."""
    macro = next((e for e in document.root.walk() if _is_xacro(e)), None)
    if macro is not None or document.path.suffix == ".xacro":
        problem = "this is a xacro file; expand it first"
        problem += f": xacro {document.path} > model.urdf, then give model.urdf"
        raise document.error(problem, macro)


def _is_xacro(element: XmlElement) -> bool:
    """Return whether an element is a macro, or has an expression instead of a number."""
    return element.tag.startswith("xacro:") or (
        element.tag in _NUMERIC_ELEMENTS
        and any(start in text for text in element.attributes.values() for start in ("${", "$("))
    )


def _read_inertial(
    document: XmlDocument, name: str, link: XmlElement, largest: float | None
) -> LinkEntry:
    inertial = link.find("inertial")
    if inertial is None:
        return massless_link(name, link)
    mass_element, tensor = inertial.find("mass"), inertial.find("inertia")
    if mass_element is None:
        raise document.error("an <inertial> without <mass>", inertial)
    mass = document.attribute_numbers(mass_element, "value", 1)
    six = PrintedNumbers(np.zeros(6), np.zeros(6))
    if tensor is not None:
        if missing := ", ".join(
            repr(entry) for entry in INERTIA_ENTRIES if entry not in tensor.attributes
        ):
            raise document.error(f"<inertia> has no attribute {missing}", tensor)
        six = PrintedNumbers(
            *np.hstack([document.attribute_numbers(tensor, entry, 1) for entry in INERTIA_ENTRIES])
        )
    if not (mass.values.any() or six.values.any()):
        return massless_link(name, link, inertial)
    X_LC, note = _read_pose(document, inertial), "" if tensor is not None else "it has no <inertia>"
    other = _read_pose(document, inertial, degrees=True).rotation
    return link_with_inertia(
        name, link, inertial, mass, six, X_LC, largest, note=note, axes_in_other_unit=other
    )


def _read_pose(document: XmlDocument, element: XmlElement, *, degrees: bool = False) -> Pose:
    """Return the pose in the `<origin>` of an element, by default the identity."""
    origin = element.find("origin")
    if origin is None:
        return Pose.identity()
    xyz, rpy = (
        document.attribute_numbers(origin, key, 3, "0 0 0").values for key in ("xyz", "rpy")
    )
    return Pose(rotation_from_rpy(np.radians(rpy) if degrees else rpy), xyz)
