"""MJCF: bodies and their `<inertial>`, read, and written as text.

Plain XML says the inertia of bodies that have an `<inertial>`; of those whose inertia comes from
their geoms MuJoCo says it, where it is installed (`mjcf_geoms`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from identify.exchange.found_link import Edit, FoundLink, require_unlike_names
from identify.exchange.lifting import LIFT, Floor
from identify.exchange.link_inertia import LinkInertia, largest_of, unit_note
from identify.exchange.mjcf_geoms import CompiledBody, compiled_bodies, has_geoms
from identify.exchange.mjcf_orientation import Orientation, read_orientation
from identify.exchange.rounding import RoundedBody, round_body, round_in_frame
from identify.exchange.xml_edit import value_edits
from identify.exchange.xml_numbers import attribute_numbers, require_mass
from identify.exchange.xml_text import XmlDocument, XmlElement
from identify.inertia.conventions.central import InertialFrame
from identify.inertia.conventions.orders import matrix_from_six, six_in_order
from identify.inertia.conventions.simulators import SMALLEST_FULL_INERTIA, SMALLEST_INERTIA
from identify.spatial import Pose


def read_mjcf_links(document: XmlDocument) -> tuple[FoundLink, ...]:
    """Every body of an MJCF file, in the order of the file.

    Raises:
        ModelFileError: two bodies of one name, or an `<inertial>` without mass or inertia or with
            what is no number.
    """
    bodies = list(_bodies(document.root))
    setting = Orientation.of(document)
    from_geoms = takes_geoms(document)
    asked = [has_geoms(body) and (from_geoms or body.find("inertial") is None) for body in bodies]
    total = scales_masses(document)
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


def mjcf_edits(document: XmlDocument, inertial: XmlElement, body: RoundedBody) -> tuple[Edit, ...]:
    """The edit that makes an `<inertial>` say a body."""
    return (Edit(*document.span(inertial), mjcf_inertial(body)),)


def mjcf_tensor_edits(
    document: XmlDocument, inertial: XmlElement, body: RoundedBody
) -> tuple[Edit, ...]:
    """The edit of `fullinertia` or `diaginertia`; nothing else is touched."""
    if "fullinertia" in inertial.attributes:
        xx, xy, xz, yy, yz, zz = body.inertia
        values = {"fullinertia": " ".join((xx, yy, zz, xy, xz, yz))}
    else:
        values = {"diaginertia": " ".join(body.diagonal)}
    return value_edits(document, inertial, values)


def round_mjcf_in_frame(inertial: XmlElement, frame: InertialFrame) -> RoundedBody:
    """An inertia as text in the axes of its element, which are principal for `diaginertia`."""
    if "fullinertia" in inertial.attributes:
        return round_in_frame(frame, Floor(LIFT, SMALLEST_FULL_INERTIA))
    diagonal = frame._replace(inertia=np.diag(np.diag(frame.inertia)))
    return round_in_frame(diagonal, Floor(LIFT, SMALLEST_INERTIA))


def require_writable(document: XmlDocument) -> None:
    """Refuse files in which MuJoCo would not take an `<inertial>` as it is written.

    Raises:
        ModelFileError: the compiler's inertiafromgeom or settotalmass is on.
    """
    if scales_masses(document):
        raise document.error(
            "<compiler settotalmass> makes MuJoCo scale every mass and inertia; remove it first",
            document.root.find("compiler"),
        )
    if takes_geoms(document):
        raise document.error(
            "<compiler inertiafromgeom='true'> makes MuJoCo ignore every <inertial>; set it to "
            "'auto' first",
            document.root.find("compiler"),
        )


def mjcf_inertial(body: RoundedBody, newline: str = "", step: str = "") -> str:
    """A whole `<inertial>`, with principal moments; on one line, whatever the indents."""
    quat = "" if body.quat_wxyz[1:] == ("0", "0", "0") else f'quat="{" ".join(body.quat_wxyz)}" '
    return (
        f'<inertial pos="{" ".join(body.com)}" {quat}mass="{body.mass}" '
        f'diaginertia="{" ".join(body.diagonal)}"/>'
    )


def round_for_mjcf(phi: np.ndarray, digits: int) -> RoundedBody:
    """A body as MJCF prints it: principal moments about the centre of mass."""
    return round_body(phi, principal=True, digits=digits)


def takes_geoms(document: XmlDocument) -> bool:
    """Whether the compiler takes inertia from geoms even where there is an `<inertial>`."""
    return _compiler_setting(document, "inertiafromgeom") == "true"


def scales_masses(document: XmlDocument) -> bool:
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
    frame = InertialFrame(np.array(mass), Pose(rotation, pos), matrix_from_six(six, "urdf"))
    printed = np.concatenate(([mass], np.zeros(3), six))
    inertia = LinkInertia(
        name,
        inertial.line,
        frame.phi,
        printed=printed,
        half_units=np.concatenate((printed_mass.half_units, np.zeros(3), units)),
        note=unit_note(printed, largest),
    )
    return inertia, frame


def _largest_length(document: XmlDocument) -> float | None:
    return largest_of(
        word
        for element in document.root.walk()
        if element.tag in ("body", "geom", "joint", "site")
        for name in ("pos", "size", "fromto")
        for word in element.attributes.get(name, "").split()
    )
