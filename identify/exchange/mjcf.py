"""Reader and writer of the bodies of MJCF files and their `<inertial>`.

Bodies with an `<inertial>` are read from the XML; for bodies whose inertia comes from their geoms
MuJoCo computes it, if it is installed (`mjcf_compiling`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar
from xml.sax.saxutils import quoteattr

import numpy as np

from identify.exchange.link_geometry import LinkGeometry
from identify.exchange.link_inertia import LinkInertia, largest_magnitude
from identify.exchange.mjcf_compiling import CompiledBody, compiled_bodies, has_geoms
from identify.exchange.mjcf_geometry import body_shapes
from identify.exchange.mjcf_poses import (
    AngleSettings,
    composed_pose,
    read_angle_settings,
    read_orientation,
)
from identify.exchange.model_format import (
    LinkEntry,
    LinkJoint,
    ModelFormat,
    first_of_fixed_groups,
    link_with_inertia,
    massless_link,
    read_link,
)
from identify.exchange.mujoco_compiler import MujocoCompiler
from identify.exchange.rounding import (
    DEFAULT_DIGITS,
    MIN_MOMENT_RATIO,
    InertiaFloor,
    RoundedBody,
    round_in_frame,
)
from identify.exchange.xml_document import Edit, PrintedNumbers, XmlDocument, XmlElement
from identify.inertia.conventions.mass_properties import InertialFrame, inertial_frame
from identify.inertia.conventions.orders import entries_in_order, matrix_from_entries
from identify.inertia.conventions.simulators import MUJOCO_MIN_INERTIA
from identify.spatial import Pose


class Mjcf(ModelFormat):
    """Model format MJCF: `<inertial pos quat mass diaginertia>` or `fullinertia`."""

    name: ClassVar[str] = "mjcf"
    root_tags: ClassVar[tuple[str, ...]] = ("mujoco", "mujocoinclude")
    has_principal_moments: ClassVar[bool] = True

    def links(self, document: XmlDocument) -> list[LinkEntry]:
        """Return every body of an MJCF file, as MuJoCo's compiler changes it."""
        root = document.root
        bodies = [
            e for world in root.find_all("worldbody") for e in world.walk() if e.tag == "body"
        ]
        settings = read_angle_settings(document)
        compiler = MujocoCompiler.of_document(document)
        from_geoms = [
            compiler.inertia_from_geoms != "false"
            and has_geoms(body, compiler.groups)
            and (compiler.inertia_from_geoms == "true" or body.find("inertial") is None)
            for body in bodies
        ]
        compiled = compiled_bodies(document, bodies) if any(from_geoms) else {}
        largest = _largest_length(document)
        entries: list[LinkEntry] = []
        for number, (body, by_geoms) in enumerate(zip(bodies, from_geoms, strict=True), 1):
            name = body.attributes.get("name") or f"unnamed body {number}"
            inertial = body.find("inertial")
            if by_geoms:
                inertia = _inertia_from_geoms(name, body, compiled[body.start_byte])
                entries.append(LinkEntry(inertia, body, inertial))
            elif inertial is None:
                entries.append(massless_link(name, body))
            else:
                read = partial(_read_body, document, name, body, inertial, settings, largest)
                entries.append(read_link(document, name, body, read))
        return self._compiled(document, entries, compiler)

    def _compiled(
        self, document: XmlDocument, entries: Sequence[LinkEntry], compiler: MujocoCompiler
    ) -> list[LinkEntry]:
        """Apply the compiler's settings to the bodies; the printed numbers stay."""
        bodies = [(_compiled_body(document, entry, compiler), entry) for entry in entries]
        if compiler.total_mass is None:
            return [entry._replace(inertia=inertia) for inertia, entry in bodies]
        known = all(inertia.massless or inertia.phi is not None for inertia, _ in bodies)
        first = self._first_of_groups(document, entries)
        moving = {e.inertia.name for e in entries if _has_joint(e.link_element)}
        mass = sum(
            float(inertia.phi[0])
            for inertia, _ in bodies
            if inertia.phi is not None
            and (not compiler.fuses_static or first[inertia.name] in moving)
        )
        factor = compiler.scale(mass) if known else None
        return [
            entry._replace(inertia=_scaled_to_total_mass(inertia, factor))
            for inertia, entry in bodies
        ]

    def inertial(self, body: RoundedBody, newline: str = "", step: str = "") -> str:
        """Return an `<inertial>` with principal moments, on one line; indentation is ignored."""
        rotated = body.quat_wxyz[1:] != ("0", "0", "0")
        quat = f'quat="{" ".join(body.quat_wxyz)}" ' if rotated else ""
        return (
            f'<inertial pos="{" ".join(body.com)}" {quat}mass="{body.mass}" '
            f'diaginertia="{" ".join(body.diagonal)}"/>'
        )

    def edits(
        self, document: XmlDocument, inertial: XmlElement, body: RoundedBody, *, whole: bool
    ) -> tuple[Edit, ...]:
        """Return the edit that writes a body, or its inertia alone, into an `<inertial>`."""
        text = self.inertial(body)
        if not whole:
            values = {**inertial.attributes, "diaginertia": " ".join(body.diagonal)}
            if "fullinertia" in inertial.attributes:
                del values["diaginertia"]
                xx, xy, xz, yy, yz, zz = body.inertia
                values["fullinertia"] = " ".join((xx, yy, zz, xy, xz, yz))
            pairs = " ".join(f"{name}={quoteattr(value)}" for name, value in values.items())
            text = f"<inertial {pairs}/>"
        return (Edit(*document.span(inertial), text),)

    def rounded_in_frame(
        self, inertial: XmlElement, frame: InertialFrame, digits: int = DEFAULT_DIGITS
    ) -> RoundedBody:
        """Round an inertia in the axes of its element, which are principal for `diaginertia`."""
        if "fullinertia" in inertial.attributes:
            return ModelFormat.rounded_in_frame(self, inertial, frame, digits)
        diagonal = frame._replace(inertia=np.diag(np.diag(frame.inertia)))
        return round_in_frame(diagonal, InertiaFloor(MIN_MOMENT_RATIO, MUJOCO_MIN_INERTIA), digits)

    def geometry(self, document: XmlDocument, link: XmlElement) -> Iterator[LinkGeometry]:
        """Yield the geoms of a body."""
        return iter(sorted(body_shapes(document, link), key=lambda geometry: geometry.role))

    def joints(self, document: XmlDocument, entries: Sequence[LinkEntry]) -> dict[str, LinkJoint]:
        """Return the joint of every body in another, by name; bodies of the world have none."""
        names = {entry.link_element.start_byte: entry.inertia.name for entry in entries}
        joints: dict[str, LinkJoint] = {}
        stack: list[tuple[XmlElement, str, tuple[XmlElement, ...]]] = [
            (world, "", ()) for world in document.root.find_all("worldbody")
        ]
        while stack:
            element, parent, frames = stack.pop()
            for child in element.children:
                if child.tag in ("frame", "replicate"):
                    stack.append((child, parent, (*frames, child)))
                elif child.tag == "body":
                    name = names[child.start_byte]
                    if parent:
                        pose = partial(composed_pose, document, (*frames, child))
                        joints[name] = LinkJoint(parent, not _has_joint(child), pose)
                    stack.append((child, name, ()))
        return joints

    def moving_frames(self, document: XmlDocument, entries: Sequence[LinkEntry]) -> Iterator[str]:
        """Yield the names of massless bodies with a joint and no fixed children with mass."""
        first = self._first_of_groups(document, entries)
        with_mass = {first[e.inertia.name] for e in entries if not e.inertia.massless}
        for entry in entries:
            if _has_joint(entry.link_element) and entry.inertia.name not in with_mass:
                yield entry.inertia.name

    def _first_of_groups(
        self, document: XmlDocument, entries: Sequence[LinkEntry]
    ) -> dict[str, str]:
        names = [entry.inertia.name for entry in entries]
        return first_of_fixed_groups(names, self.joints(document, entries))

    def require_writable(self, document: XmlDocument) -> None:
        """Raise `ModelFileError` if inertiafromgeom or settotalmass of the compiler is on."""
        compiler = MujocoCompiler.of_document(document)
        problem = ""
        if compiler.total_mass is not None:
            problem = "<compiler settotalmass> makes MuJoCo scale every mass and inertia; remove it"
        elif compiler.inertia_from_geoms == "true":
            problem = (
                "<compiler inertiafromgeom='true'> makes MuJoCo ignore every <inertial>; set it to "
                "'auto'"
            )
        if problem:
            raise document.error(f"{problem} first", document.root.find("compiler"))


def _has_joint(body: XmlElement) -> bool:
    return any(child.tag in ("joint", "freejoint") for child in body.children)


def _compiled_body(
    document: XmlDocument, entry: LinkEntry, compiler: MujocoCompiler
) -> LinkInertia:
    """Apply bounds and balance to a body as MuJoCo does."""
    inertia = entry.inertia
    if not compiler.changes_inertias or inertia.unreadable:
        return inertia
    if entry.frame is not None:
        frame = entry.frame
    elif inertia.phi is not None:
        frame = inertial_frame(inertia.phi, "mujoco")
    elif inertia.massless:  # its centre of mass is its position in its parent
        X = composed_pose(document, (entry.link_element,))
        frame = InertialFrame(np.array(0.0), X, np.zeros((3, 3)))
    else:
        return inertia
    phi, changes = compiler.compiled(frame)
    if not changes:
        return inertia
    note = "; ".join(filter(None, (inertia.note, *(f"<compiler> {text}" for text in changes))))
    return replace(inertia, phi=phi, massless=False, note=note)


def _inertia_from_geoms(name: str, body: XmlElement, compiled: CompiledBody) -> LinkInertia:
    if compiled.phi is None:
        return LinkInertia(name, body.line, massless=not compiled.note, note=compiled.note)
    notes = filter(None, ("its inertia comes from its geoms", compiled.note))
    return LinkInertia(name, body.line, compiled.phi, note="; ".join(notes))


def _scaled_to_total_mass(inertia: LinkInertia, factor: float | None) -> LinkInertia:
    """Scale a body as MuJoCo does for `settotalmass`; the printed numbers stay."""
    if inertia.phi is None:
        return inertia
    if factor is None:
        note = "<compiler settotalmass> scales its mass and inertia by an unknown factor"
        return replace(inertia, note="; ".join(filter(None, (inertia.note, note))))
    mass = float(inertia.phi[0])
    note = f"<compiler settotalmass> scales its {mass:.6g} kg and its inertia by {factor:.6g}"
    phi = factor * inertia.phi
    return replace(inertia, phi=phi, note="; ".join(filter(None, (inertia.note, note))))


def _read_body(
    document: XmlDocument,
    name: str,
    body: XmlElement,
    inertial: XmlElement,
    settings: AngleSettings,
    largest: float | None,
) -> LinkEntry:
    if "mass" not in inertial.attributes:
        raise document.error("an <inertial> without mass", inertial)
    mass = document.attribute_numbers(inertial, "mass", 1)
    if "fullinertia" in inertial.attributes:
        numbers = document.attribute_numbers(inertial, "fullinertia", 6)
        matrices = [matrix_from_entries(values, "mujoco") for values in numbers]
    elif "diaginertia" in inertial.attributes:
        matrices = [
            np.diag(values) for values in document.attribute_numbers(inertial, "diaginertia", 3)
        ]
    else:
        matrices = [np.zeros((3, 3)), np.zeros((3, 3))]
    six = PrintedNumbers(*(entries_in_order(matrix, "urdf") for matrix in matrices))
    if not (mass.values.any() or six.values.any()):
        return massless_link(name, body, inertial)
    pos = document.attribute_numbers(inertial, "pos", 3).values
    X_BC = Pose(read_orientation(document, inertial, settings), pos)
    order = "diagonal" if "fullinertia" not in inertial.attributes else "mujoco"
    other = read_orientation(document, inertial, settings._replace(degrees=not settings.degrees))
    return link_with_inertia(
        *(name, body, inertial, mass, six, X_BC, largest), order=order, axes_in_other_unit=other
    )


def _largest_length(document: XmlDocument) -> float | None:
    """Return the largest length in an MJCF file [m]."""
    return largest_magnitude(
        word
        for element in document.root.walk()
        if element.tag in ("body", "geom", "joint", "site")
        for name in ("pos", "size", "fromto")
        for word in element.attributes.get(name, "").split()
    )
