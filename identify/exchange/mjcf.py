"""MJCF: bodies and their `<inertial>`, read, and written as text.

Plain XML says the inertia of bodies that have an `<inertial>`; of those whose inertia comes from
their geoms MuJoCo says it, where it is installed (`mjcf_compiling`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar, NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np

from identify.arrays import Array, Mat33, Vec3
from identify.exchange.link_inertia import LinkInertia, largest_of
from identify.exchange.mjcf_compiling import CompiledBody, compiled_bodies, has_geoms
from identify.exchange.model_format import (
    FoundLink,
    ModelFormat,
    massless_link,
    read_link,
    written_link,
)
from identify.exchange.rounding import DIGITS, MARGIN, Floor, RoundedBody, round_in_frame
from identify.exchange.xml_document import Edit, PrintedNumbers, XmlDocument, XmlElement
from identify.inertia.conventions.axes import rotation_from_wxyz
from identify.inertia.conventions.mass_properties import InertialFrame
from identify.inertia.conventions.orders import matrix_from_six, six_in_order
from identify.inertia.conventions.simulators import MIN_INERTIA
from identify.spatial import Pose, exp_rotation, rotation_from_quaternion

_WAYS = {"quat": 4, "axisangle": 4, "euler": 3, "xyaxes": 6, "zaxis": 3}
"""Attributes that turn a frame, and how many numbers each has."""


class AngleSettings(NamedTuple):
    """What angles depend on.

    Attributes:
        degrees: whether angles are in degrees, as by default.
        sequence: axes of Euler angles; lower case turn with the frame, upper case are fixed.
    """

    degrees: bool = True
    sequence: str = "xyz"


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
        return round_in_frame(diagonal, Floor(MARGIN, MIN_INERTIA), digits)

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


def angle_settings(document: XmlDocument) -> AngleSettings:
    """The settings of a file; of several `<compiler>` the last that says it counts."""
    angle, sequence = "degree", "xyz"
    for compiler in document.root.all("compiler"):
        angle = compiler.attributes.get("angle", angle)
        sequence = compiler.attributes.get("eulerseq", sequence)
        if len(sequence) != 3 or set(sequence) - set("xyzXYZ"):
            what = f"expected three of x, y, z, X, Y, Z, got {sequence!r}"
            raise document.error(f"<compiler eulerseq>: {what}", compiler)
    return AngleSettings(angle != "radian", sequence)


def read_orientation(document: XmlDocument, element: XmlElement, setting: AngleSettings) -> Mat33:
    """The rotation that an element's attributes say, none without any.

    Raises:
        ModelFileError: two of them, `fullinertia` beside one, or one without a direction.
    """
    given = [way for way in (*_WAYS, "fullinertia") if way in element.attributes]
    if len(given) > 1:
        both = " and ".join(given)
        raise document.error(f"<{element.tag}> has {both}; MJCF allows one", element)
    if not set(given) & set(_WAYS):
        return np.eye(3)
    way = given[0]
    numbers = document.attribute_numbers(element, way, _WAYS[way]).values
    rotation = _rotation(way, numbers, setting)
    if rotation is None:
        raise document.error(f"<{element.tag} {way}>: {numbers.tolist()} has no direction", element)
    return rotation


def _rotation(way: str, numbers: Array, setting: AngleSettings) -> Mat33 | None:
    """The rotation that numbers say, None where they have no direction."""
    if way == "euler":
        rotation = np.eye(3)
        angles = np.radians(numbers) if setting.degrees else numbers
        for letter, angle in zip(setting.sequence, angles, strict=True):
            turn = _turn(angle * np.eye(3)["xyz".index(letter.lower())])
            rotation = rotation @ turn if letter.islower() else turn @ rotation
        return rotation
    length = np.linalg.norm(numbers[:3] if way == "axisangle" else numbers)
    if not length > 1e-12:
        return None
    if way == "quat":
        return rotation_from_wxyz(numbers)
    if way == "axisangle":
        angle = np.radians(numbers[3]) if setting.degrees else numbers[3]
        return _turn(angle * numbers[:3] / length)
    if way == "zaxis":  # the smallest rotation that takes the z axis there
        z = numbers / length
        axis = np.cross([0.0, 0.0, 1.0], z)
        sine = float(np.linalg.norm(axis))
        if sine < 1e-12:
            return np.eye(3) if z[2] > 0.0 else np.diag([1.0, -1.0, -1.0])
        return _turn(np.arctan2(sine, z[2]) * axis / sine)
    x = numbers[:3] / max(np.linalg.norm(numbers[:3]), 1e-300)
    y = numbers[3:] - (x @ numbers[3:]) * x
    if not (np.linalg.norm(x) > 0.5 and np.linalg.norm(y) > 1e-12):
        return None
    y = y / np.linalg.norm(y)
    return np.stack((x, y, np.cross(x, y)), axis=1)


def _turn(vector: Vec3) -> Mat33:
    """The rotation of an axis times an angle [rad]."""
    return rotation_from_quaternion(exp_rotation(vector))
