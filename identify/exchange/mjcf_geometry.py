"""Shapes of MJCF bodies: their geoms with default classes, and the files of their meshes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePosixPath
from typing import NamedTuple

import numpy as np

from identify.exchange.link_geometry import LinkGeometry
from identify.exchange.mjcf_compiling import TRANSPARENT_ELEMENTS
from identify.exchange.mjcf_poses import ORIENTATION_ATTRIBUTES, composed_pose
from identify.exchange.xml_document import XmlDocument, XmlElement

_SIZES = {
    "sphere": ("radius",),
    "capsule": ("radius", "length"),
    "cylinder": ("radius", "length"),
    "ellipsoid": ("radii",) * 3,
    "box": ("size",) * 3,
}
"""Names of a geom's sizes by its type, as of shapes in URDF and SDF."""

_HALF_LENGTHS = ("length", "size")
"""Sizes of which MJCF has the half."""


class _Geom(NamedTuple):
    """Geom with the attributes of its default classes, in frames of its body, with its mesh's."""

    element: XmlElement
    frames: tuple[XmlElement, ...]
    mesh: Mapping[str, str]


def body_shapes(document: XmlDocument, body: XmlElement) -> Iterator[LinkGeometry]:
    """Yield the geoms of a body; those that touch nothing are visual.

    Raises `ModelFileError`: numbers of a geom that are missing or wrong.
    """
    for geom, frames, mesh in _geoms_by_body(document).get(body.start_byte, ()):
        placed = _placed(document, geom)
        touches = [geom.attributes.get(name, "1") for name in ("contype", "conaffinity")]
        role = "visual" if touches == ["0", "0"] else "collision"
        kind, sizes = _kind_and_sizes(document, placed, mesh)
        pose = composed_pose(document, (*frames, placed))
        yield LinkGeometry(role, kind, pose, lambda name, sizes=sizes: sizes.get(name, ""))


def _placed(document: XmlDocument, geom: XmlElement) -> XmlElement:
    """Return a geom along `fromto` with its centre, the direction of z and all its sizes."""
    if "fromto" not in geom.attributes:
        return geom
    start, end = document.attribute_numbers(geom, "fromto", 6).values.reshape(2, 3)
    kept = {k: v for k, v in geom.attributes.items() if k not in ORIENTATION_ATTRIBUTES}
    centre, z = (" ".join(map(repr, v.tolist())) for v in (0.5 * (start + end), start - end))
    first = geom.attributes.get("size", "").split()[:1]
    count = len(_SIZES.get(geom.attributes.get("type", ""), ())) - 1
    size = " ".join([*first * count, repr(0.5 * float(np.linalg.norm(end - start)))])
    return replace(geom, attributes={**kept, "pos": centre, "zaxis": z, "size": size})


def _kind_and_sizes(
    document: XmlDocument, geom: XmlElement, mesh: Mapping[str, str]
) -> tuple[str, Mapping[str, str]]:
    """Return the type of a geom and its sizes, as a shape of a URDF has them."""
    kind = geom.attributes.get("type", "sphere") if geom.tag == "geom" else geom.tag
    if kind == "mesh" and "file" in mesh and not {"refpos", "refquat"} & mesh.keys():
        return kind, {"filename": mesh["file"], "scale": mesh.get("scale", "1 1 1")}
    if kind not in _SIZES or "mesh" in geom.attributes:
        return f"{kind} of an asset", {}
    names = _SIZES[kind]
    words = geom.attributes.get("size", "").split()[: len(names)]
    geom = replace(geom, attributes={"size": " ".join(words)})
    sizes: defaultdict[str, str] = defaultdict(str)
    values = document.attribute_numbers(geom, "size", len(names)).values.tolist()
    for name, value in zip(names, values, strict=True):
        sizes[name] += f" {2.0 * value if name in _HALF_LENGTHS else value!r}"
    return kind, sizes


@lru_cache(maxsize=1)
def _geoms_by_body(document: XmlDocument) -> Mapping[int, Sequence[_Geom]]:
    """Return the geoms of every body by its byte position in the file."""
    root = document.root
    classes = _default_classes(root)
    meshes = _meshes(root, classes)
    geoms: defaultdict[int, list[_Geom]] = defaultdict(list)
    stack: list[tuple[XmlElement, int, str, tuple[XmlElement, ...]]] = [
        (world, world.start_byte, "", ()) for world in root.find_all("worldbody")
    ]
    while stack:
        element, body, outer_class, frames = stack.pop()
        name = element.attributes.get("childclass", outer_class)
        for child in element.children:
            if child.tag == "geom":
                attributes = _with_defaults(child, classes, name)
                mesh = meshes.get(attributes.get("mesh", ""), {})
                geoms[body].append(_Geom(replace(child, attributes=attributes), frames, mesh))
            elif child.tag == "body":
                stack.append((child, child.start_byte, name, ()))
            elif child.tag == "frame":
                stack.append((child, body, name, (*frames, child)))
            elif child.tag in TRANSPARENT_ELEMENTS:
                geoms[body].append(_Geom(child, (), {}))
                stack.append((child, body, name, frames))
    return geoms


_Defaults = Mapping[str, Mapping[str, str]]
"""Attributes by tag of an element, of a default class with those around it."""


def _default_classes(root: XmlElement) -> dict[str, _Defaults]:
    """Return the attributes of geoms and meshes by class; the outermost also by an empty name."""
    classes: dict[str, _Defaults] = {"": {}}
    stack = [(default, "") for default in reversed(list(root.find_all("default")))]
    while stack:
        element, outer = stack.pop()
        name = element.attributes.get("class", "main")
        inherited = classes[outer]
        overridden = {
            child.tag: {**inherited.get(child.tag, {}), **child.attributes}
            for child in element.children
            if child.tag in ("geom", "mesh")
        }
        classes[name] = {**inherited, **overridden}
        if element in root.children:
            classes[""] = classes[name]
        stack += [(inner, name) for inner in element.find_all("default")]
    return classes


def _with_defaults(
    element: XmlElement, classes: Mapping[str, _Defaults], outer_class: str = ""
) -> dict[str, str]:
    name = element.attributes.get("class", outer_class)
    defaults = classes.get(name, classes[""]).get(element.tag, {})
    return {**defaults, **element.attributes}


def _meshes(root: XmlElement, classes: Mapping[str, _Defaults]) -> dict[str, Mapping[str, str]]:
    """Return the attributes of meshes by name, with the path of their files from the model's."""
    settings: dict[str, str] = {}
    for compiler in root.find_all("compiler"):
        settings.update(compiler.attributes)
    folder = PurePosixPath(settings.get("meshdir", settings.get("assetdir", "")))
    meshes: dict[str, Mapping[str, str]] = {}
    for asset in root.find_all("asset"):
        for mesh in asset.find_all("mesh"):
            attributes = _with_defaults(mesh, classes)
            file = attributes.get("file", "")
            path = {"file": str(folder / file)} if file else {}
            meshes[attributes.get("name", PurePosixPath(file).stem)] = {**attributes, **path}
    return meshes
