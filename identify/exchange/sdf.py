"""Reader and writer of the links of SDFormat files, nested models included."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import partial
from typing import ClassVar

import numpy as np

from identify.arrays import Mat66
from identify.errors import ModelError
from identify.exchange.link_geometry import LinkGeometry, inertia_from_shapes
from identify.exchange.link_inertia import LinkInertia, largest_magnitude
from identify.exchange.model_format import (
    INERTIA_ENTRIES,
    LinkEntry,
    LinkJoint,
    ModelFormat,
    link_with_inertia,
    massless_link,
    read_link,
    require_name,
)
from identify.exchange.rounding import RoundedBody
from identify.exchange.xml_document import Edit, PrintedNumbers, XmlDocument, XmlElement
from identify.inertia.added_mass import checked_added_mass
from identify.inertia.conventions.simulators import SdfInertial
from identify.inertia.parameters import DEFAULT_DENSITY
from identify.spatial import Pose

_ROD_MARGIN = 1e-6
"""Smallest second moment of a written rod, relative to the sum of the three.

Gazebo and Drake check the moments that gz-math computes in closed form, whose arccosine separates
the two largest of them, equal for a rod, by up to a few 1e-8."""

_DEFAULT_ENTRIES: dict[str, float] = dict(
    zip(INERTIA_ENTRIES, (1.0, 0.0, 0.0, 1.0, 0.0, 1.0), strict=True)
)
"""Default entries of the inertia in SDFormat: moments 1, products 0."""

_DEFAULT_MASS = PrintedNumbers(np.ones(1), np.zeros(1))
"""Default mass in SDFormat [kg]."""

_NO_INERTIAL_NOTE = "no <inertial>: listed as massless, but SDFormat would give it 1 kg and 1 kg m²"

_MOTION_LETTERS = "xyzpqr"
"""Letters of surge, sway, heave, roll, pitch and yaw: two letters name an entry of added mass."""


class Sdf(ModelFormat):
    """Model format SDFormat: `<inertial>` with `<pose>`, `<mass>`, `<inertia>`, added mass."""

    name: ClassVar[str] = "sdf"
    root_tags: ClassVar[tuple[str, ...]] = ("sdf", "gazebo")
    rod_margin: ClassVar[float] = _ROD_MARGIN

    def links(self, document: XmlDocument) -> Iterator[LinkEntry]:
        """Yield every link of an SDF file; names within nested models are joined by `::`."""
        largest = _largest_length(document)
        for scope, link in _elements(document, document.root, "link"):
            name = scope + require_name(document, link)
            read = partial(_read_inertial, document, name, link, largest)
            yield read_link(document, name, link, read)

    def children(self, body: RoundedBody, newline: str, step: str) -> dict[str, str]:
        """Return the elements within `<inertial>`, by tag."""
        entries = zip(INERTIA_ENTRIES, body.inertia, strict=True)
        six = "".join(f"{newline}{step}<{name}>{x}</{name}>" for name, x in entries)
        return {
            "pose": f"<pose>{' '.join(body.com)} 0 0 0</pose>",
            "mass": f"<mass>{body.mass}</mass>",
            "inertia": f"<inertia>{six}{newline}</inertia>",
        }

    def edits(
        self, document: XmlDocument, inertial: XmlElement, body: RoundedBody, *, whole: bool
    ) -> tuple[Edit, ...]:
        """Return the edits of an `<inertial>`; `auto="true"`, which ignores numbers, is removed."""
        edits = super().edits(document, inertial, body, whole=whole)
        if not _is_true(inertial, "auto"):
            return edits
        start, end = document.start_tag(inertial)
        end -= 2 if document.is_empty_tag(inertial) else 1
        return (*edits, Edit(start, end, "<inertial"))

    def geometry(self, document: XmlDocument, link: XmlElement) -> Iterator[LinkGeometry]:
        """Yield the shapes of `<collision>` and `<visual>`; poses in other frames are marked."""
        for role in ("collision", "visual"):
            for element in link.find_all(role):
                pose, note = _read_pose(document, element.find("pose"))
                for geometry in element.find_all("geometry"):
                    for shape in geometry.children:
                        kind = "shape at a pose in another frame" if note else shape.tag
                        yield LinkGeometry(role, kind, pose, partial(_child_text, shape))

    def joints(self, document: XmlDocument, entries: Sequence[LinkEntry]) -> dict[str, LinkJoint]:
        """Return the joint of every link with a parent; poses relative to frames are not read."""
        links = {entry.inertia.name: entry.link_element for entry in entries}
        joints: dict[str, LinkJoint] = {}
        for scope, joint in _elements(document, document.root, "joint"):
            parent, child = (scope + _child_text(joint, tag).strip() for tag in ("parent", "child"))
            if parent in links and child in links:
                fixed = joint.attributes.get("type") == "fixed"
                pose = partial(_relative_pose, document, links[parent], links[child])
                joints[child] = LinkJoint(parent, fixed, pose)
        return joints


def _relative_pose(document: XmlDocument, parent: XmlElement, child: XmlElement) -> Pose:
    """Return the pose of a link in another of the same model."""
    X_MP, X_MC = (_read_pose(document, link.find("pose"))[0] for link in (parent, child))
    return X_MP.inverse() @ X_MC


def _child_text(element: XmlElement, name: str) -> str:
    child = element.find(name)
    return "" if child is None else child.text


def _elements(
    document: XmlDocument, root: XmlElement, tag: str
) -> Iterator[tuple[str, XmlElement]]:
    """Yield links or joints with the prefix of their models, except a single top-level model's."""
    outer = [
        model for element in (root, *root.find_all("world")) for model in element.find_all("model")
    ]
    only_model = outer[0] if len(outer) == 1 else None
    stack = [("", root)]
    while stack:
        scope, element = stack.pop()
        if element.tag == tag:
            yield scope, element
            continue
        if element.tag == "model":
            name = require_name(document, element)
            scope = "" if element is only_model else f"{scope}{name}::"
        nested = [e for e in element.children if e.tag in ("world", "model", tag)]
        stack.extend((scope, child) for child in reversed(nested))


def _read_inertial(
    document: XmlDocument, name: str, link: XmlElement, largest: float | None
) -> LinkEntry:
    inertial = link.find("inertial")
    if inertial is None:
        return massless_link(name, link, note=_NO_INERTIAL_NOTE)
    mass_element, tensor = inertial.find("mass"), inertial.find("inertia")
    mass, mass_note = _DEFAULT_MASS, "no <mass>: SDFormat gives it 1 kg"
    if mass_element is not None:
        mass, mass_note = document.text_numbers(mass_element, 1), ""
    if _is_true(inertial, "auto"):
        given = None if mass_element is None else float(mass.values[0])
        return LinkEntry(_automatic_inertia(document, name, link, inertial, given), link, inertial)
    six = PrintedNumbers(np.zeros(6), np.zeros(6))
    if tensor is not None or mass.values.any():
        six = _read_entries(document, tensor)
    added = _added_mass(document, inertial.find("fluid_added_mass"))
    if not (mass.values.any() or six.values.any()):
        return massless_link(name, link, inertial, added_mass=added)
    X_LC, note = _read_pose(document, inertial.find("pose"))
    missing = ", ".join(f"<{e}>" for e in ("ixx", "iyy", "izz") if not (tensor and tensor.find(e)))
    default = f"no {missing if tensor else '<inertia>'}: SDFormat gives it 1 kg m² about each axis"
    note = "; ".join(filter(None, (mass_note, default if missing else "", note)))
    other, _ = _read_pose(document, inertial.find("pose"), other_unit=True)
    entry = link_with_inertia(
        *(name, link, inertial, mass, six, X_LC, largest),
        note=note,
        axes_in_other_unit=other.rotation,
        added_mass=added,
    )
    return entry._replace(frame=None) if tensor is None else entry


def _automatic_inertia(
    document: XmlDocument, name: str, link: XmlElement, inertial: XmlElement, mass: float | None
) -> LinkInertia:
    """Return the inertia of collision shapes at their densities, or scaled to a mass [kg].

    The density of a shape is that of its `<collision>`, else of the `<inertial>`, else 1000 kg/m³.
    """
    auto = "inertial auto='true'"
    collisions = [c for c in link.find_all("collision") if c.find("geometry") is not None]
    shapes = [shape for shape in Sdf().geometry(document, link) if shape.role == "collision"]
    try:
        filled = inertia_from_shapes(shapes, document.path)
    except ModelError as error:
        note = f"{auto}: a simulator computes it from the collision shapes; {error}"
        return LinkInertia(name, inertial.line, note=note)
    default = _density(document, inertial, DEFAULT_DENSITY)
    densities = [_density(document, collision, default) for collision in collisions]
    if not shapes or len(densities) != len(shapes) or not filled.description.startswith("its coll"):
        return LinkInertia(name, inertial.line, note=f"{auto}, but it has no collision shapes")
    phi = np.array(densities) @ filled.parts
    if mass is not None:
        phi *= mass / float(phi[0])
    note = f"{auto}: computed from {filled.description}, {phi[0] / filled.phi[0]:.6g} kg/m³"
    return LinkInertia(name, inertial.line, phi, note=note)


def _density(document: XmlDocument, element: XmlElement, default: float) -> float:
    density = element.find("density")
    return default if density is None else float(document.text_numbers(density, 1).values[0])


def _is_true(element: XmlElement, name: str) -> bool:
    return element.attributes.get(name, "").strip().lower() in ("true", "1")


def _read_entries(document: XmlDocument, tensor: XmlElement | None) -> PrintedNumbers:
    """Return the six numbers of an inertia; by default moments are 1 and products 0."""
    values, rounding_errors = np.array(list(_DEFAULT_ENTRIES.values())), np.zeros(6)
    for i, entry in enumerate(INERTIA_ENTRIES):
        element = None if tensor is None else tensor.find(entry)
        if element is not None:
            values[i : i + 1], rounding_errors[i : i + 1] = document.text_numbers(element, 1)
    return PrintedNumbers(values, rounding_errors)


def _added_mass(document: XmlDocument, element: XmlElement | None) -> Mat66 | None:
    """Return the matrix of a `<fluid_added_mass>`, linear first; missing entries are zero."""
    if element is None:
        return None
    matrix = np.zeros((6, 6))
    for i, j in itertools.combinations_with_replacement(range(6), 2):
        entry = element.find(_MOTION_LETTERS[i] + _MOTION_LETTERS[j])
        if entry is not None:
            matrix[i, j] = matrix[j, i] = document.text_numbers(entry, 1).values[0]
    try:
        return checked_added_mass(matrix)
    except ModelError as error:
        raise document.error(f"<fluid_added_mass>: {error}", element) from error


def _read_pose(
    document: XmlDocument, pose: XmlElement | None, *, other_unit: bool = False
) -> tuple[Pose, str]:
    """Return a pose in the link, and a note if the file gives it relative to another frame.

    `other_unit`: whether to take angles in degrees for radians, and vice versa.
    """
    if pose is None:
        return Pose.identity(), ""
    frame = pose.attributes.get("relative_to") or pose.attributes.get("frame")
    note = f"its pose is taken in the link's frame, not in {frame!r}" if frame else ""
    if not pose.text.strip():
        return Pose.identity(), note
    form = pose.attributes.get("rotation_format", "euler_rpy")
    numbers = document.text_numbers(pose, 7 if form == "quat_xyzw" else 6).values
    if form == "quat_xyzw" and not np.linalg.norm(numbers[3:]) > 1e-12:
        raise document.error("<pose>: a quaternion of length zero", pose)
    degrees = _is_true(pose, "degrees") is not (other_unit and form == "euler_rpy")
    try:
        inertial = SdfInertial(np.array(1.0), numbers, np.zeros(6), form, degrees)  # pyright: ignore[reportArgumentType]
        return inertial.X_LC, note
    except ModelError as error:
        raise document.error(str(error), pose) from error


def _largest_length(document: XmlDocument) -> float | None:
    words = []
    for parent in document.root.walk():
        placed = parent.tag in ("link", "joint", "visual", "collision")
        for element in parent.children:
            if element.tag in ("size", "radius", "length", "radii"):
                words += element.text.split()
            elif placed and element.tag == "pose":
                words += element.text.split()[:3]
    return largest_magnitude(words)
