"""Robot models written with other inertias in them, and inertial elements to paste."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Mat33
from identify.documents import lookup
from identify.errors import ModelError, did_you_mean
from identify.exchange.link_geometry import Filled, fill
from identify.exchange.model_format import FoundLink, ModelFormat
from identify.exchange.models import MODEL_FORMATS, format_of
from identify.exchange.rounding import DIGITS, RoundedBody
from identify.exchange.xml_document import (
    Edit,
    ModelFileError,
    XmlDocument,
    apply_edits,
    indent_step,
    insertion,
    parse_xml,
    read_xml,
)


@dataclass(frozen=True, slots=True)
class RewrittenModel:
    """The content of a model file with other inertias in it, and the bodies written, by link."""

    content: bytes
    bodies: Mapping[str, RoundedBody]


@dataclass(frozen=True, slots=True)
class InertialSnippet:
    """An inertial element to paste, and the body that it says."""

    text: str
    body: RoundedBody


def rewrite_model(
    path: Path | str,
    bodies: Mapping[str, ArrayLike],
    *,
    inertias: Mapping[str, Mat33] | None = None,
    digits: int = DIGITS,
) -> RewrittenModel:
    """A model file with other inertias, whose elements are written anew; all else keeps its bytes.

    Args:
        path: a URDF, SDF or MJCF file, which is not touched.
        bodies: ten parameters about the link's origin by name of the link, as `read_model` calls
            it. A link without an inertial element gets one.
        inertias: as those of `rewrite_inertias`, of other links.
        digits: significant digits to begin with; see `round_body`.

    Raises:
        MissingFile: no such file.
        ModelError: not a model, no such link, or a body that is impossible.
    """
    document, form = open_model(path)
    if bodies:
        form.require_writable(document)

    def write(entry: FoundLink, phi: Array) -> tuple[RoundedBody, Iterable[Edit]]:
        link, inertial = entry.link, entry.inertial
        body = form.rounded(phi, digits)
        if inertial is not None:
            return body, form.edits(document, inertial, body, whole=True)
        step = indent_step(document, link)
        newline = document.newline + document.indent(link) + step
        text = form.inertial(body, newline, step)
        return body, [insertion(document, link, [text], first=True)]

    def write_inertia(entry: FoundLink, inertia: Array) -> tuple[RoundedBody, Iterable[Edit]]:
        if entry.inertial is None or entry.frame is None:
            name = entry.inertia.name
            raise document.error(f"link {name!r}: its inertia is not written here", entry.link)
        frame = entry.frame._replace(inertia=inertia)
        body = form.rounded_in_frame(entry.inertial, frame, digits)
        return body, form.edits(document, entry.inertial, body, whole=False)

    found = {entry.inertia.name: entry for entry in form.read(document)}
    edits: list[Edit] = []
    written: dict[str, RoundedBody] = {}
    for wanted, writer in ((bodies, write), (inertias or {}, write_inertia)):
        for name, numbers in wanted.items():
            if name not in found:
                hint = did_you_mean(name, found)
                raise document.error(f"no link {name!r} among {list(found)}{hint}")
            try:
                written[name], new = writer(found[name], np.asarray(numbers, dtype=np.float64))
            except ModelFileError:
                raise
            except ModelError as error:
                raise ModelError(f"{name}: {error}") from error
            edits += new
    content = apply_edits(document.content, edits)
    for entry in form.read(parse_xml(content, document.path)):  # it can be read again
        if entry.inertia.unreadable and entry.inertia.name in written:
            raise document.error(f"link {entry.inertia.name!r}: {entry.inertia.note}")
    return RewrittenModel(content, MappingProxyType(written))


def rewrite_inertias(
    path: Path | str, inertias: Mapping[str, Mat33], *, digits: int = DIGITS
) -> RewrittenModel:
    """A model file with other inertias about the same centres of mass.

    Mass, centre of mass and axes stay as they are written.

    Args:
        path: a URDF, SDF or MJCF file, which is not touched.
        inertias: I_BBcm_C [kg m²] by name of the link, in the axes C that the file writes it in
            (those of `LinkInertia.printed`), shape (3, 3).
        digits: significant digits to begin with; see `round_body`.

    Raises:
        MissingFile: no such file.
        ModelError: not a model, no such link or one whose inertia is not written in it, or an
            inertia that is impossible.
    """
    return rewrite_model(path, {}, inertias=inertias, digits=digits)


def open_model(path: Path | str) -> tuple[XmlDocument, ModelFormat]:
    """A model file that can be edited, and its format.

    Raises:
        MissingFile: no such file.
        ModelFileError: not a model, or not in UTF-8.
    """
    document = read_xml(path)
    form = format_of(document)
    if b"\0" in document.content:
        raise document.error("only text in UTF-8 or ASCII can be edited; save the file as UTF-8")
    return document, form


def link_shapes(path: Path | str) -> Mapping[str, Filled]:
    """Shapes of the links of a model file, by name; without those that cannot be filled.

    Raises:
        MissingFile, ModelFileError: as `read_model` does.
    """
    document = read_xml(path)
    form = format_of(document)
    shapes: dict[str, Filled] = {}
    if not form.has_geometry:
        return shapes
    for entry in form.read(document):
        with suppress(ModelError):
            shapes[entry.inertia.name] = fill(form.geometry(document, entry.link), document.path)
    return shapes


def inertial_snippet(phi: ArrayLike, format_name: str, *, digits: int = DIGITS) -> InertialSnippet:
    """A stand-alone inertial element in a format.

    Args:
        phi: ten parameters about the link's origin, shape (10,).
        format_name: `urdf`, `sdf` or `mjcf`.
        digits: significant digits to begin with; see `round_body`.

    Raises:
        ModelError: no such format, or a body that is impossible.
    """
    form = lookup(MODEL_FORMATS, format_name, "model format", ModelError)
    body = form.rounded(np.asarray(phi, dtype=np.float64), digits)
    return InertialSnippet(form.inertial(body, "\n", "  ") + "\n", body)
