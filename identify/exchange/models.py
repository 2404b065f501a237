"""Reader of robot models: the inertia of every link, in XML or OpenUSD."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from identify.documents import lookup
from identify.errors import ModelError
from identify.exchange.link_geometry import ShapeInertia, inertia_from_shapes
from identify.exchange.link_inertia import LinkInertia
from identify.exchange.mjcf import Mjcf
from identify.exchange.model_format import LinkJoint, ModelFormat
from identify.exchange.sdf import Sdf
from identify.exchange.urdf import Urdf
from identify.exchange.usd import USD_SUFFIXES, read_stage
from identify.exchange.xml_document import XmlDocument, XmlElement, read_xml
from identify.files import require_file

MODEL_FORMATS: Mapping[str, ModelFormat] = MappingProxyType(
    {form.name: form for form in (Urdf(), Sdf(), Mjcf())}
)
"""XML formats of robot models by name. A new format is a file and an entry here."""


MODEL_SUFFIXES = (".urdf", ".sdf", ".xml", ".mjcf", *USD_SUFFIXES)
"""Suffixes of files of robot models."""

_MAX_SPACE_BEFORE_XML = 1024
"""Largest size of a byte order mark and empty lines before an XML document [bytes]."""


@dataclass(frozen=True, slots=True)
class Model:
    """The links of a model file.

    Attributes:
        path: the file.
        format: `urdf`, `sdf`, `mjcf`, `usd`, or `estimate` for a single body.
        links: in the order of the file.
        notes: parts of the file that were not read.
        parents: names of the links to which links are attached by joints, by name of the link.
        document: the file, if it is XML.
        elements: of the links in it, by name.
    """

    path: Path
    format: str
    links: tuple[LinkInertia, ...]
    notes: tuple[str, ...] = ()
    parents: Mapping[str, str] = field(default_factory=dict)
    document: XmlDocument | None = field(default=None, repr=False)
    elements: Mapping[str, XmlElement] = field(default_factory=dict, repr=False)

    def shapes(self) -> dict[str, ShapeInertia]:
        """Return the inertia of each link's shapes at 1 kg/m³ by name, if they can be filled."""
        shapes: dict[str, ShapeInertia] = {}
        if self.document is None:
            return shapes
        form = MODEL_FORMATS[self.format]
        for name, element in self.elements.items():
            with suppress(ModelError):
                geometry = form.geometry(self.document, element)
                shapes[name] = inertia_from_shapes(geometry, self.path)
        return shapes

    def subtree_masses(self) -> dict[str, float]:
        """Return the mass of each link with all that is attached to it, by name [kg].

        Links without a known mass count as zero.
        """
        masses = {link.name: 0.0 for link in self.links}
        for link in self.links:
            name, visited = link.name, set[str]()
            while name in masses and name not in visited:
                masses[name] += 0.0 if link.phi is None else float(link.phi[0])
                visited.add(name)
                name = self.parents.get(name, "")
        return masses

    def link(self, name: str) -> LinkInertia:
        """Return the link of a name.

        Raises:
            ModelError: no link has that name; suggests the nearest.
        """
        return lookup({link.name: link for link in self.links}, name, "link", ModelError)


def read_model(path: Path | str) -> Model:
    """Read every link of a URDF, SDF, MJCF or USD file, or the body of a text of another program.

    Raises:
        MissingFile: no such file.
        MissingExtra: a stage of OpenUSD, which is not installed.
        ModelError: not a model, or a file with errors; for XML a `ModelFileError` with the line.
    """
    path = Path(path)
    if path.suffix.lower() in USD_SUFFIXES:
        links, joints, notes = read_stage(path)
        return Model(path, "usd", links, notes, _parents(joints))
    if not _is_xml(path):
        from identify.exchange.body_formats.registry import read_body_text  # few models need it

        estimate = read_body_text(path)
        phi = estimate.parameters.phi
        body = phi if phi.any() else None
        link = LinkInertia(estimate.frame, None, body, massless=body is None, printed=body)
        edited = [finding for finding in estimate.findings if finding.code == "edited"]
        notes = tuple(str(finding) for finding in edited)
        return Model(path, "estimate", (link,), notes)
    document = read_xml(path)
    form = detect_format(document)
    notes = tuple(
        f"line {element.line}: <{element.tag}> refers to another file, which is not read"
        for element in document.root.walk()
        if element.tag in ("include", "attach")
    )
    entries = form.read(document)
    parents = _parents(form.joints(document, entries))
    links = tuple(entry.inertia for entry in entries)
    elements = {entry.inertia.name: entry.link_element for entry in entries}
    return Model(path, form.name, links, notes, parents, document, elements)


def _parents(joints: Mapping[str, LinkJoint]) -> dict[str, str]:
    return {name: joint.parent for name, joint in joints.items()}


def _is_xml(path: Path) -> bool:
    """Return whether a file is a model, by its suffix or its first character."""
    if path.suffix.lower() in MODEL_SUFFIXES:
        return True
    require_file(path)
    with path.open("rb") as file:
        beginning = file.read(_MAX_SPACE_BEFORE_XML)
    return beginning.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")


def detect_format(document: XmlDocument) -> ModelFormat:
    """Return the format of a document, by its root element.

    Raises `ModelFileError`: no format has such a root element.
    """
    root, forms = document.root, MODEL_FORMATS.values()
    for form in forms:
        if root.tag in form.root_tags:
            return form
    known = ", ".join(f"<{tag}> ({form.name})" for form in forms for tag in form.root_tags)
    raise document.error(f"<{root.tag}> is not a robot model; expected one of {known}", root)
