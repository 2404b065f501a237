"""MJCF: bodies and their `<inertial>`, read, and written as text.

Plain XML says the inertia of bodies that have an `<inertial>`; of those whose inertia comes from
their geoms MuJoCo says it, where it is installed (`mjcf_compiling`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from identify.arrays import Phi
from identify.exchange.link_inertia import LinkInertia, largest_of
from identify.exchange.mjcf_compiling import CompiledBody, compiled_bodies, has_geoms
from identify.exchange.mjcf_orientation import Orientation, read_orientation
from identify.exchange.model_format import (
    FoundLink,
    ModelFormat,
    require_unlike_names,
    written_link,
)
from identify.exchange.regularising import MARGIN, Floor
from identify.exchange.rounding import RoundedBody, round_body, round_in_frame
from identify.exchange.xml_document import XmlDocument, XmlElement
from identify.exchange.xml_edit import Edit, value_edits
from identify.exchange.xml_numbers import PrintedNumbers, attribute_numbers, require_mass
from identify.inertia.conventions.central import InertialFrame
from identify.inertia.conventions.orders import matrix_from_six, six_in_order
from identify.inertia.conventions.simulators import SMALLEST_INERTIA
from identify.spatial import Pose


class Mjcf(ModelFormat):
    """MJCF: `<inertial pos quat mass diaginertia>` or `fullinertia`, all in attributes."""

    name: ClassVar[str] = "mjcf"
    roots: ClassVar[tuple[str, ...]] = ("mujoco", "mujocoinclude")

    def read(self, document: XmlDocument) -> tuple[FoundLink, ...]:
        """Every body of an MJCF file; raises as `ModelFormat.read`."""
        bodies = list(_bodies(document.root))
        setting = Orientation.of(document)
        from_geoms = _takes_geoms(document)
        asked = [
            has_geoms(body) and (from_geoms or body.find("inertial") is None) for body in bodies
        ]
        total = _scales_masses(document)
        compiled = compiled_bodies(document, bodies) if any(asked) or total else {}
        largest = _largest_length(document)
        found = []
        for number, (body, from_its_geoms) in enumerate(zip(bodies, asked, strict=True), 1):
            name = body.attributes.get("name") or f"unnamed body {number}"
            inertial = body.find("inertial")
            if from_its_geoms:
                inertia, frame = _of_geoms(name, body, compiled), None
            elif inertial is None:
                inertia, frame = LinkInertia(name, body.line, massless=True), None
            else:
                inertia, frame = _read(document, name, inertial, setting, largest)
                inertia = _scaled(inertia, compiled.get(body.start)) if total else inertia
            found.append(FoundLink(inertia, body, inertial, frame))
        require_unlike_names(document, found)
        return tuple(found)

    def children(self, body: RoundedBody, newline: str, step: str) -> dict[str, str]:
        """None: the numbers are attributes."""
        return {}

    def inertial(self, body: RoundedBody, newline: str = "", step: str = "") -> str:
        """A whole `<inertial>`, with principal moments; on one line, whatever the indents."""
        turned = body.quat_wxyz[1:] != ("0", "0", "0")
        quat = f'quat="{" ".join(body.quat_wxyz)}" ' if turned else ""
        return (
            f'<inertial pos="{" ".join(body.com)}" {quat}mass="{body.mass}" '
            f'diaginertia="{" ".join(body.diagonal)}"/>'
        )

    def edits(
        self, document: XmlDocument, inertial: XmlElement, body: RoundedBody
    ) -> tuple[Edit, ...]:
        """The edit of the whole `<inertial>`."""
        return (Edit(*document.span(inertial), self.inertial(body)),)

    def tensor_edits(
        self, document: XmlDocument, inertial: XmlElement, body: RoundedBody
    ) -> tuple[Edit, ...]:
        """The edit of `fullinertia` or `diaginertia`."""
        if "fullinertia" in inertial.attributes:
            xx, xy, xz, yy, yz, zz = body.inertia
            values = {"fullinertia": " ".join((xx, yy, zz, xy, xz, yz))}
        else:
            values = {"diaginertia": " ".join(body.diagonal)}
        return value_edits(document, inertial, values)

    def rounded(self, phi: Phi, digits: int) -> RoundedBody:
        """A body as MJCF prints it: principal moments about the centre of mass."""
        return round_body(phi, principal=True, digits=digits)

    def rounded_in_frame(self, inertial: XmlElement, frame: InertialFrame) -> RoundedBody:
        """An inertia in the axes of its element, which are principal for `diaginertia`."""
        if "fullinertia" in inertial.attributes:
            return ModelFormat.rounded_in_frame(self, inertial, frame)
        diagonal = frame._replace(inertia=np.diag(np.diag(frame.inertia)))
        return round_in_frame(diagonal, Floor(MARGIN, SMALLEST_INERTIA))

    def require_writable(self, document: XmlDocument) -> None:
        """Raises `ModelFileError` where inertiafromgeom or settotalmass of the compiler is on."""
        if _scales_masses(document):
            raise document.error(
                "<compiler settotalmass> makes MuJoCo scale every mass and inertia; remove it "
                "first",
                document.root.find("compiler"),
            )
        if _takes_geoms(document):
            raise document.error(
                "<compiler inertiafromgeom='true'> makes MuJoCo ignore every <inertial>; set it to "
                "'auto' first",
                document.root.find("compiler"),
            )


def _takes_geoms(document: XmlDocument) -> bool:
    """Whether the compiler takes inertia from geoms even where there is an `<inertial>`."""
    return _compiler_setting(document, "inertiafromgeom") == "true"


def _scales_masses(document: XmlDocument) -> bool:
    """Whether the compiler scales all masses for them to have a given sum."""
    try:
        return float(_compiler_setting(document, "settotalmass")) > 0.0
    except ValueError:
        return False


def _compiler_setting(document: XmlDocument, name: str) -> str:
    """An attribute of `<compiler>`; of several the last, and empty without any."""
    given = [c.attributes[name] for c in document.root.all("compiler") if name in c.attributes]
    return given[-1] if given else ""


def _bodies(root: XmlElement) -> list[XmlElement]:
    return [e for world in root.all("worldbody") for e in world.walk() if e.tag == "body"]


def _of_geoms(name: str, body: XmlElement, compiled: dict[int, CompiledBody]) -> LinkInertia:
    answer = compiled[body.start]
    if answer.phi is None:
        return LinkInertia(name, body.line, massless=not answer.note, note=answer.note)
    notes = filter(None, ("its inertia comes from its geoms", answer.note))
    return LinkInertia(name, body.line, answer.phi, note="; ".join(notes))


def _scaled(inertia: LinkInertia, compiled: CompiledBody | None) -> LinkInertia:
    """What MuJoCo makes of a body where it scales all masses; the printed numbers stay."""
    if inertia.phi is None or compiled is None:
        return inertia
    mass = float(inertia.phi[0])
    if compiled.phi is None or not mass > 0.0:
        note = "<compiler settotalmass> scales its mass and inertia, by how much is not known here"
        return replace(inertia, note="; ".join(filter(None, (inertia.note, note, compiled.note))))
    factor = float(compiled.phi[0]) / mass
    note = f"<compiler settotalmass> scales its {mass:.6g} kg and its inertia by {factor:.6g}"
    phi = factor * inertia.phi
    return replace(inertia, phi=phi, note="; ".join(filter(None, (inertia.note, note))))


def _read(
    document: XmlDocument,
    name: str,
    inertial: XmlElement,
    setting: Orientation,
    largest: float | None,
) -> tuple[LinkInertia, InertialFrame | None]:
    if "mass" not in inertial.attributes:
        raise document.error(f"body {name!r}: an <inertial> without mass", inertial)
    printed_mass = attribute_numbers(document, inertial, "mass", 1)
    mass = require_mass(document, inertial, printed_mass)
    full = "fullinertia" in inertial.attributes
    if not full and "diaginertia" not in inertial.attributes:
        if mass == 0.0:
            return LinkInertia(name, inertial.line, massless=True), None
        raise document.error(
            f"body {name!r}: an <inertial> with neither diaginertia nor fullinertia", inertial
        )
    if full:
        values, units = attribute_numbers(document, inertial, "fullinertia", 6)
        six = six_in_order(matrix_from_six(values, "mujoco"), "urdf")
        units = six_in_order(matrix_from_six(units, "mujoco"), "urdf")
    else:
        values, units = attribute_numbers(document, inertial, "diaginertia", 3)
        six, units = (six_in_order(np.diag(v), "urdf") for v in (values, units))
    if mass == 0.0 and not six.any():
        return LinkInertia(name, inertial.line, massless=True), None
    pos = attribute_numbers(document, inertial, "pos", 3).values
    rotation = read_orientation(document, inertial, setting)
    X_BC = Pose(rotation, pos)
    return written_link(name, inertial, printed_mass, PrintedNumbers(six, units), X_BC, largest)


def _largest_length(document: XmlDocument) -> float | None:
    return largest_of(
        word
        for element in document.root.walk()
        if element.tag in ("body", "geom", "joint", "site")
        for name in ("pos", "size", "fromto")
        for word in element.attributes.get(name, "").split()
    )
