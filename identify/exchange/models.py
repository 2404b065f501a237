"""Robot models read: the inertia of every link, in any of the XML formats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from identify.documents import lookup
from identify.errors import ModelError
from identify.exchange.estimate_reading import read_estimate
from identify.exchange.link_inertia import LinkInertia
from identify.exchange.mjcf import Mjcf
from identify.exchange.model_format import ModelFormat
from identify.exchange.sdf import Sdf
from identify.exchange.urdf import Urdf
from identify.exchange.xml_document import XmlDocument, read_xml

MODEL_FORMATS: Mapping[str, ModelFormat] = MappingProxyType(
    {form.name: form for form in (Urdf(), Sdf(), Mjcf())}
)
"""Every XML format by its name. A new one is a file and an entry here."""


@dataclass(frozen=True, slots=True)
class Model:
    """The links of a model file.

    Attributes:
        path: the file.
        format: `urdf`, `sdf`, `mjcf` or `estimate`.
        links: in the order of the file.
        notes: what of the file was not read.
    """

    path: Path
    format: str
    links: tuple[LinkInertia, ...]
    notes: tuple[str, ...] = ()

    def link(self, name: str) -> LinkInertia:
        """The link of a name.

        Raises:
            ModelError: no link is called so; names the nearest.
        """
        return lookup({link.name: link for link in self.links}, name, "link", ModelError)


def read_model(path: Path | str) -> Model:
    """Every link of a URDF, SDF or MJCF file, or the body of an estimate.json.

    Raises:
        MissingFile: no such file.
        ModelError: not a model, or one that is wrong; of XML a `ModelFileError` with the line.
    """
    path = Path(path)
    if path.suffix.lower() == ".json":
        estimate = read_estimate(path)
        phi = estimate.parameters.phi
        body = phi if phi.any() else None
        link = LinkInertia(estimate.frame, None, body, massless=body is None, printed=body)
        notes = tuple(str(one).rstrip(".") for one in estimate.findings if one.code == "edited")
        return Model(path, "estimate", (link,), notes)
    document = read_xml(path)
    form = format_of(document)
    notes = tuple(
        f"line {element.line}: <{element.tag}> is another file, not read here"
        for element in document.root.walk()
        if element.tag in ("include", "attach")
    )
    return Model(path, form.name, tuple(entry.inertia for entry in form.read(document)), notes)


def format_of(document: XmlDocument) -> ModelFormat:
    """The format of a document, by its outermost element.

    Raises:
        ModelFileError: none has such a one.
    """
    root, forms = document.root, MODEL_FORMATS.values()
    for form in forms:
        if root.tag in form.roots:
            return form
    known = ", ".join(f"<{tag}> ({form.name})" for form in forms for tag in form.roots)
    raise document.error(f"<{root.tag}> is no robot model; expected one of {known}", root)
