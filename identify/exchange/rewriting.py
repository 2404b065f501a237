"""Writing of inertias into robot model files, and inertial elements to paste."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Mat33, Phi
from identify.documents import lookup
from identify.errors import ModelError, did_you_mean
from identify.exchange.installed_programs import installed_bodies
from identify.exchange.model_format import LinkEntry, ModelFormat
from identify.exchange.models import MODEL_FORMATS, detect_format
from identify.exchange.rounding import DEFAULT_DIGITS, RoundedBody
from identify.exchange.usd import USD_SUFFIXES
from identify.exchange.xml_document import (
    Edit,
    ModelFileError,
    XmlDocument,
    apply_edits,
    indent_step,
    insertion_edit,
    parse_xml,
    read_xml,
)

if TYPE_CHECKING:
    from identify.exchange.simulated_bodies import SimulatedBody
    from identify.exchange.simulators import Simulator

_SAME_BODY = 1e-9
"""Largest difference of a body that is read back, relative to its largest parameter."""


_SAME_IN_PROGRAM = 1e-6
"""Largest difference of a body by the rules and by the program, relative to its parameters."""


@dataclass(frozen=True, slots=True)
class RewrittenModel:
    """Content of a model file with new inertias, and the written bodies by link."""

    content: bytes
    bodies: Mapping[str, RoundedBody]


@dataclass(frozen=True, slots=True)
class InertialSnippet:
    """Inertial element to paste, and its body."""

    text: str
    body: RoundedBody


def rewrite_model(
    path: Path | str,
    bodies: Mapping[str, ArrayLike],
    *,
    inertias: Mapping[str, Mat33] | None = None,
    digits: int = DEFAULT_DIGITS,
) -> RewrittenModel:
    """Return a model file with new inertial elements of some links; other bytes stay the same.

    Args:
        path: a URDF, SDF or MJCF file, which is not changed.
        bodies: ten parameters about the link's origin by name of the link as in `read_model`. A
            link without an inertial element gets one.
        inertias: I_BBcm_C [kg m²] of other links, in the axes C of the file's numbers (those of
            `LinkInertia.printed`), shape (3, 3); mass, centre of mass and axes are unchanged.
        digits: initial number of significant digits; see `round_body`.

    Raises:
        MissingFile: no such file.
        ModelError: not a model, no such link or one whose inertia is not stored in it, or a body
            that is not physically consistent.
    """
    document, form = open_model(path)
    if bodies:
        form.require_writable(document)

    def write(entry: LinkEntry, phi: Array) -> tuple[RoundedBody, Iterable[Edit]]:
        link, inertial = entry.link_element, entry.inertial_element
        body = form.rounded(phi, digits)
        if inertial is not None:
            return body, form.edits(document, inertial, body, whole=True)
        step = indent_step(document, link)
        newline = document.newline + document.indent(link) + step
        text = form.inertial(body, newline, step)
        return body, [insertion_edit(document, link, [text], first=True)]

    def write_inertia(entry: LinkEntry, inertia: Array) -> tuple[RoundedBody, Iterable[Edit]]:
        if entry.inertial_element is None or entry.frame is None:
            name = entry.inertia.name
            raise document.error(
                f"link {name!r}: its inertia is not stored here", entry.link_element
            )
        frame = entry.frame._replace(inertia=inertia)
        body = form.rounded_in_frame(entry.inertial_element, frame, digits)
        return body, form.edits(document, entry.inertial_element, body, whole=False)

    entries = {entry.inertia.name: entry for entry in form.read(document)}
    edits: list[Edit] = []
    written: dict[str, RoundedBody] = {}
    for values_by_link, writer in ((bodies, write), (inertias or {}, write_inertia)):
        for name, values in values_by_link.items():
            if name not in entries:
                hint = did_you_mean(name, entries)
                raise document.error(f"no link {name!r} among {list(entries)}{hint}")
            try:
                written[name], new = writer(entries[name], np.asarray(values, dtype=np.float64))
            except ModelFileError:
                raise
            except ModelError as error:
                raise ModelError(f"{name}: {error}") from error
            edits += new
    content = apply_edits(document.content, edits)
    again = parse_xml(content, document.path)
    for entry in form.read(again):  # check that it can be read, and is the body that was written
        name = entry.inertia.name
        if entry.inertia.unreadable and name in written:
            raise document.error(f"link {name!r}: {entry.inertia.note}")
        if name in bodies:
            _require_body(again, form, entry, written[name].phi)
    return RewrittenModel(content, MappingProxyType(written))


def _require_body(document: XmlDocument, form: ModelFormat, entry: LinkEntry, phi: Phi) -> None:
    """Raise `ModelFileError` if the program that a file is for changes a link that was written."""
    from identify.exchange.simulated_bodies import body_in_own_program  # no page needs it

    body = body_in_own_program(document, form, entry)
    if body.phi is None or _is_same(body.phi, phi, _SAME_BODY):
        return
    changes = "; ".join(body.changes) or entry.inertia.note
    raise document.error(
        f"link {entry.inertia.name!r}: MuJoCo would not simulate the body that is written: "
        f"{changes}; remove the setting from <compiler> first",
        entry.inertial_element,
    )


def open_model(path: Path | str) -> tuple[XmlDocument, ModelFormat]:
    """Read a model file for editing, and detect its format.

    Raises `MissingFile`: no such file; `ModelFileError`: not a model, or not in UTF-8.
    """
    if Path(path).suffix.lower() in USD_SUFFIXES:
        problem = "a file of USD is read, not edited: open its stage, and use apply_to of the body"
        raise ModelFileError(problem, path=Path(path))
    document = read_xml(path)
    form = detect_format(document)
    if b"\0" in document.content:
        raise document.error("only text in UTF-8 or ASCII can be edited; save the file as UTF-8")
    return document, form


class BodiesInProgram(NamedTuple):
    """Bodies that a program simulates for links, by name of the link.

    Attributes:
        bodies: by the rules of the program.
        problem: what the installed program says if it does not load the model.
    """

    bodies: Mapping[str, SimulatedBody] = MappingProxyType({})
    problem: str = ""


def bodies_in_program(document: XmlDocument, simulator: Simulator) -> BodiesInProgram:
    """Return the body that a program simulates for each link of a model.

    Where the program is installed its own bodies are compared, and a difference is one of the
    changes. Raises `ModelError`: as `read_model` does.
    """
    from identify.exchange.simulated_bodies import SimulatedBody, simulated_bodies

    form = detect_format(document)
    bodies = simulated_bodies(document, form, simulator.name)
    installed = installed_bodies(document, simulator.name)
    title = f"the installed {simulator.title} {installed.version}"
    if installed.problem:
        return BodiesInProgram(bodies, f"{title} does not load it: {installed.problem}")
    for entry in form.read(document):
        name = entry.inertia.name
        phi = installed.bodies.get(name)
        body = bodies.get(name, SimulatedBody(entry.inertia.phi))
        if phi is not None and (body.phi is None or not _is_same(body.phi, phi, _SAME_IN_PROGRAM)):
            change = f"{title} has {phi[0]:.6g} kg in its place"
            bodies[name] = body._replace(changes=(*body.changes, change))
    return BodiesInProgram(bodies)


def _is_same(a: Phi, b: Phi, tolerance: float) -> bool:
    return bool(np.abs(a - b).max() <= tolerance * np.abs(b).max())


def inertial_snippet(
    phi: ArrayLike, format_name: str, *, digits: int = DEFAULT_DIGITS
) -> InertialSnippet:
    """Return a stand-alone inertial element in a format.

    Args:
        phi: ten parameters about the link's origin, shape (10,).
        format_name: `urdf`, `sdf` or `mjcf`.
        digits: initial number of significant digits; see `round_body`.

    Raises:
        ModelError: no such format, or a body that is not physically consistent.
    """
    form = lookup(MODEL_FORMATS, format_name, "model format", ModelError)
    body = form.rounded(np.asarray(phi, dtype=np.float64), digits)
    return InertialSnippet(form.inertial(body, "\n", "  ") + "\n", body)
