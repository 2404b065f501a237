"""What MuJoCo would make of an MJCF file, in bodies and in memory, known before it does.

Its compiler takes the memory that a few words ask for: the grid of a height field, the pixels of a
texture, copies of a body, files that are read whole.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from identify.errors import IdentifyError
from identify.exchange.xml_document import XmlDocument, XmlElement, read_xml
from identify.files import LARGEST_PART

MOST_COPIES = 10_000
"""Bodies and geoms that a file may have, those of `<replicate>` and the like counted: seconds."""

_COPYING = ("replicate", "composite", "flexcomp")
_OF_BODIES = ("body", "geom", "composite", "flexcomp")

_MOST = 2**29
"""Bytes that the compiler may take for an element."""

_CELL, _PIXEL, _SIDES, _CORNER, _NUMBER = 16, 6, 6, 300, 16
"""Bytes that it takes about, of a height field, a texture (of a cube for each side), a mesh that it
makes itself and of what `<size>` reserves for each element."""

_FOLDERS = ("assetdir", "meshdir", "texturedir")
_PNG = b"\x89PNG\r\n\x1a\n"


class _Part(NamedTuple):
    """An element of a file or of one that it includes.

    Attributes:
        element: with its attributes.
        copies: how many the macros around it make.
        document: that it stands in.
    """

    element: XmlElement
    copies: int
    document: XmlDocument


def why_too_large(document: XmlDocument) -> str:
    """Why a file is not compiled here; nothing where it is no larger than it should be."""
    parts = list(_parts(document))
    if sum(part.copies for part in parts if part.element.tag in _OF_BODIES) > MOST_COPIES:
        return (
            f"the file makes over {MOST_COPIES} bodies and geoms by <replicate> and the like, "
            f"which are not compiled here"
        )
    elements = sum(part.copies for part in parts)
    folders = _folders(parts)
    for part in parts:
        size = _reserved(part.element, elements)
        what = f"its <{part.element.tag}> in line {part.element.line} of {part.document.path.name}"
        for path in _files(part, folders):
            if path.stat().st_size > LARGEST_PART:
                return (
                    f"the file {path} has {_megabytes(path.stat().st_size)}, of which at the most "
                    f"{_megabytes(LARGEST_PART)} are read"
                )
            size = max(size, _PIXEL * _pixels(path))
        if size > _MOST:
            return (
                f"{what} takes {_megabytes(size)} of memory, which is over {_megabytes(_MOST)} and "
                f"not compiled here"
            )
    return ""


def _parts(document: XmlDocument) -> Iterator[_Part]:
    """The elements of a file, of those it includes and of the models it attaches."""
    stack = [_Part(document.root, 1, document)]
    read: set[str] = set()
    while stack:
        element, copies, of = stack.pop()
        if element.tag in _COPYING:
            copies *= _product(element, "count")
        yield _Part(element, copies, of)
        stack.extend(_Part(child, copies, of) for child in element.children)
        name = element.attributes.get("file", "")
        if element.tag in ("include", "model") and name and name not in read:
            read.add(name)  # MuJoCo refuses a file that is included twice
            with suppress(IdentifyError, OSError, ValueError):  # MuJoCo says what is wrong with it
                other = read_xml(document.path.parent / name)
                stack.append(_Part(other.root, copies, other))


def _reserved(element: XmlElement, elements: int) -> int:
    """Bytes that the compiler takes for what an element asks for in numbers."""
    match element.tag:
        case "hfield":
            return _CELL * _product(element, "nrow", "ncol")
        case "texture":
            flat = element.attributes.get("type") == "2d"
            sides = 1 if flat else _SIDES
            return _PIXEL * sides * _product(element, "width", "height")
        case "mesh" if "builtin" in element.attributes:
            return _CORNER * _product(element, "params")
        case "size":
            asked = [name for name in element.attributes if name.startswith(("nuser_", "nkey"))]
            return _NUMBER * elements * max((_product(element, name) for name in asked), default=0)
        case _:
            return 0


def _product(element: XmlElement, *names: str) -> int:
    """The product of numbers in attributes; one where they are not there, or no numbers."""
    words = " ".join(element.attributes.get(name, "") for name in names).split()
    try:
        return math.prod(max(int(float(word)), 1) for word in words)
    except (ValueError, OverflowError):
        return 1


def _folders(parts: list[_Part]) -> set[Path]:
    """Where the files of a model may be."""
    given = [
        part.element.attributes[name]
        for part in parts
        if part.element.tag == "compiler"
        for name in _FOLDERS
        if name in part.element.attributes
    ]
    around = {part.document.path.parent for part in parts}
    return around | {folder / name for folder in around for name in given}


def _files(part: _Part, folders: set[Path]) -> Iterator[Path]:
    """The files that an element names; a name may be that of several."""
    named = [text for name, text in part.element.attributes.items() if name.startswith("file")]
    for text in filter(None, named):
        for folder in folders:
            for path in {folder / text, folder / Path(text).name}:
                with suppress(OSError, ValueError):
                    if path.is_file():
                        yield path


def _pixels(path: Path) -> int:
    """How many a PNG file says that it has; none of another file."""
    with suppress(OSError), path.open("rb") as file:
        head = file.read(24)
        if head.startswith(_PNG) and len(head) == 24:
            return math.prod(struct.unpack(">II", head[16:]))
    return 0


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.0f} MB"
