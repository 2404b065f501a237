"""MJCF: bodies and their `<inertial>`, read, and written as text.

Plain XML says the inertia of bodies that have an `<inertial>`; of those whose inertia comes from
their geoms MuJoCo says it, where it is installed (`mjcf_compiling`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar
from xml.sax.saxutils import quoteattr

import numpy as np

from identify.exchange.link_inertia import LinkInertia, largest_of
from identify.exchange.mjcf_compiling import CompiledBody, compiled_bodies, has_geoms
from identify.exchange.mjcf_orientation import AngleSettings, angle_settings, read_orientation
from identify.exchange.model_format import (
    FoundLink,
    ModelFormat,
    massless_link,
    read_link,
    written_link,
)
from identify.exchange.rounding import DIGITS, MARGIN, Floor, RoundedBody, round_in_frame
from identify.exchange.xml_document import PrintedNumbers, XmlDocument, XmlElement
from identify.exchange.xml_edit import Edit
from identify.inertia.conventions.central import InertialFrame
from identify.inertia.conventions.orders import matrix_from_six, six_in_order
from identify.inertia.conventions.simulators import SMALLEST_INERTIA
from identify.spatial import Pose


class Mjcf(ModelFormat):
    """MJCF: `<inertial pos quat mass diaginertia>` or `fullinertia`, all in attributes."""

    name: ClassVar[str] = "mjcf"
    roots: ClassVar[tuple[str, ...]] = ("mujoco", "mujocoinclude")
    principal: ClassVar[bool] = True
    has_geometry: ClassVar[bool] = False

    def links(self, document: XmlDocument) -> Iterator[FoundLink]:
        """Every body of an MJCF file."""
        root = document.root
        bodies = [e for world in root.all("worldbody") for e in world.walk() if e.tag == "body"]
        setting = angle_settings(document)
        from_geoms, total = _takes_geoms(document), _scales_masses(document)
        asked = [
            has_geoms(body) and (from_geoms or body.find("inertial") is None) for body in bodies
        ]
        compiled = compiled_bodies(document, bodies) if any(asked) or total else {}
        largest = _largest_length(document)
        for number, (body, from_its_geoms) in enumerate(zip(bodies, asked, strict=True), 1):
            name = body.attributes.get("name") or f"unnamed body {number}"
            inertial = body.find("inertial")
            if from_its_geoms:
                inertia = _of_geoms(name, body, compiled[body.start])
                yield FoundLink(inertia, body, inertial)
            elif inertial is None:
                yield massless_link(name, body)
            else:
                read = partial(_read, document, name, body, inertial, setting, largest)
                found = read_link(document, name, body, read)
                inertia = _scaled(found.inertia, compiled.get(body.start))
                yield found._replace(inertia=inertia) if total else found

    def inertial(self, body: RoundedBody, newline: str = "", step: str = "") -> str:
        """A whole `<inertial>`, with principal moments; on one line, whatever the indents."""
        turned = body.quat_wxyz[1:] != ("0", "0", "0")
        quat = f'quat="{" ".join(body.quat_wxyz)}" ' if turned else ""
        return (
            f'<inertial pos="{" ".join(body.com)}" {quat}mass="{body.mass}" '
            f'diaginertia="{" ".join(body.diagonal)}"/>'
        )

    def edits(
        self, document: XmlDocument, inertial: XmlElement, body: RoundedBody, *, whole: bool
    ) -> tuple[Edit, ...]:
        """The edit of the `<inertial>`; its other attributes stay where the inertia is written."""
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
        self, inertial: XmlElement, frame: InertialFrame, digits: int = DIGITS
    ) -> RoundedBody:
        """An inertia in the axes of its element, which are principal for `diaginertia`."""
        if "fullinertia" in inertial.attributes:
            return ModelFormat.rounded_in_frame(self, inertial, frame, digits)
        diagonal = frame._replace(inertia=np.diag(np.diag(frame.inertia)))
        return round_in_frame(diagonal, Floor(MARGIN, SMALLEST_INERTIA), digits)

    def moving_frames(self, document: XmlDocument, found: Sequence[FoundLink]) -> Iterator[str]:
        """Massless bodies with a joint, and neither mass nor children of mass fixed to them."""
        heavy: dict[int, bool] = {}  # with what is fixed to it; what is within it comes after it
        for body, inertia in reversed([(entry.link, entry.inertia) for entry in found]):
            heavy[body.start] = not inertia.massless or any(
                heavy.get(child.start, False) for child in body.all("body") if not _moves(child)
            )
        for entry in found:
            if _moves(entry.link) and not heavy[entry.link.start]:
                yield entry.inertia.name

    def require_writable(self, document: XmlDocument) -> None:
        """Raises `ModelFileError` where inertiafromgeom or settotalmass of the compiler is on."""
        what = ""
        if _scales_masses(document):
            what = "<compiler settotalmass> makes MuJoCo scale every mass and inertia; remove it"
        elif _takes_geoms(document):
            what = (
                "<compiler inertiafromgeom='true'> makes MuJoCo ignore every <inertial>; set it to "
                "'auto'"
            )
        if what:
            raise document.error(f"{what} first", document.root.find("compiler"))


def _moves(body: XmlElement) -> bool:
    return any(child.tag in ("joint", "freejoint") for child in body.children)


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


def _of_geoms(name: str, body: XmlElement, answer: CompiledBody) -> LinkInertia:
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
    body: XmlElement,
    inertial: XmlElement,
    setting: AngleSettings,
    largest: float | None,
) -> FoundLink:
    if "mass" not in inertial.attributes:
        raise document.error("an <inertial> without mass", inertial)
    mass = document.attribute_numbers(inertial, "mass", 1)
    if "fullinertia" in inertial.attributes:
        numbers = document.attribute_numbers(inertial, "fullinertia", 6)
        matrices = [matrix_from_six(values, "mujoco") for values in numbers]
    elif "diaginertia" in inertial.attributes:
        matrices = [
            np.diag(values) for values in document.attribute_numbers(inertial, "diaginertia", 3)
        ]
    else:
        matrices = [np.zeros((3, 3)), np.zeros((3, 3))]
    six = PrintedNumbers(*(six_in_order(matrix, "urdf") for matrix in matrices))
    if not (mass.values.any() or six.values.any()):
        return massless_link(name, body, inertial)
    pos = document.attribute_numbers(inertial, "pos", 3).values
    X_BC = Pose(read_orientation(document, inertial, setting), pos)
    order = "diagonal" if "fullinertia" not in inertial.attributes else "mujoco"
    return written_link(name, body, inertial, mass, six, X_BC, largest, order=order)


def _largest_length(document: XmlDocument) -> float | None:
    return largest_of(
        word
        for element in document.root.walk()
        if element.tag in ("body", "geom", "joint", "site")
        for name in ("pos", "size", "fromto")
        for word in element.attributes.get(name, "").split()
    )
