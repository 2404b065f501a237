"""The XML formats of robot models, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from identify.errors import ModelError, did_you_mean
from identify.exchange import mjcf, sdf, urdf
from identify.exchange.found_link import Edit, FoundLink
from identify.exchange.rounding import RoundedBody
from identify.exchange.xml_text import XmlDocument, XmlElement
from identify.inertia.conventions.central import InertialFrame


@dataclass(frozen=True, slots=True)
class ModelFormat:
    """An XML format of robot models.

    Attributes:
        name: what it is called here.
        roots: names of the outermost element that tell it.
        read: every link of a document.
        rounded: a body in so many digits, as the format prints it.
        inertial: the text of a whole inertial element, its line break and its indent given.
        edits: what makes an inertial element that is there say a body.
        rounded_in_frame: a body as an inertial element that is there prints its inertia.
        tensor_edits: what makes such an element say that inertia, and touches nothing else.
        require_writable: raises where what is written would not be read.
    """

    name: str
    roots: tuple[str, ...]
    read: Callable[[XmlDocument], tuple[FoundLink, ...]]
    rounded: Callable[[np.ndarray, int], RoundedBody]
    inertial: Callable[[RoundedBody, str, str], str]
    edits: Callable[[XmlDocument, XmlElement, RoundedBody], tuple[Edit, ...]]
    rounded_in_frame: Callable[[XmlElement, InertialFrame], RoundedBody]
    tensor_edits: Callable[[XmlDocument, XmlElement, RoundedBody], tuple[Edit, ...]]
    require_writable: Callable[[XmlDocument], None] = lambda _document: None


_ALL = (
    ModelFormat(
        "urdf",
        ("robot",),
        urdf.read_urdf_links,
        urdf.round_for_urdf,
        urdf.urdf_inertial,
        urdf.urdf_edits,
        urdf.round_urdf_in_frame,
        urdf.urdf_tensor_edits,
    ),
    ModelFormat(
        "sdf",
        ("sdf", "gazebo"),
        sdf.read_sdf_links,
        sdf.round_for_sdf,
        sdf.sdf_inertial,
        sdf.sdf_edits,
        sdf.round_sdf_in_frame,
        sdf.sdf_tensor_edits,
    ),
    ModelFormat(
        "mjcf",
        ("mujoco", "mujocoinclude"),
        mjcf.read_mjcf_links,
        mjcf.round_for_mjcf,
        mjcf.mjcf_inertial,
        mjcf.mjcf_edits,
        mjcf.round_mjcf_in_frame,
        mjcf.mjcf_tensor_edits,
        mjcf.require_writable,
    ),
)

MODEL_FORMATS: Mapping[str, ModelFormat] = MappingProxyType({entry.name: entry for entry in _ALL})
"""Every XML format by its name. A new one is a file and an entry here."""


def find_format(name: str) -> ModelFormat:
    """The format of a name.

    Raises:
        ModelError: no format is called so.
    """
    if name not in MODEL_FORMATS:
        hint = did_you_mean(name, MODEL_FORMATS)
        raise ModelError(f"no model format {name!r} among {sorted(MODEL_FORMATS)}{hint}")
    return MODEL_FORMATS[name]


def format_of(document: XmlDocument) -> ModelFormat:
    """The format of a document, by its outermost element.

    Raises:
        ModelFileError: none has such a one.
    """
    root = document.root
    for form in _ALL:
        if root.tag in form.roots:
            return form
    known = ", ".join(f"<{tag}> ({form.name})" for form in _ALL for tag in form.roots)
    raise document.error(f"<{root.tag}> is no robot model; expected one of {known}", root)
