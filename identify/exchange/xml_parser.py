"""XML parsed into `XmlDocument`; entities, DTDs and huge files are refused (defusedxml)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.sax import SAXParseException

from defusedxml.common import DefusedXmlException
from defusedxml.expatreader import DefusedExpatParser

from identify.errors import MissingFile
from identify.exchange.model_file_error import ModelFileError
from identify.exchange.xml_text import XmlDocument, XmlElement

LARGEST_FILE = 50_000_000
"""Bytes of the largest model that is read; meshes and textures are files of their own."""

MOST_ELEMENTS = 200_000

DEEPEST = 10_000
"""Elements within each other; a chain of bodies in MJCF nests by one a body."""


class _TreeParser(DefusedExpatParser):
    """Expat without entities and DTDs, noting bytes and lines."""

    _parser: Any

    def __init__(self, path: Path) -> None:
        super().__init__(forbid_dtd=True)
        self.path = path
        self.root: XmlElement | None = None
        self._open: list[XmlElement] = []
        self._count = 0

    def start_element(self, name: str, attrs: Mapping[str, str]) -> None:
        expat = self._parser
        line, start = expat.CurrentLineNumber, expat.CurrentByteIndex
        element = XmlElement(name, dict(attrs), line, start)
        self._count += 1
        if self._count > MOST_ELEMENTS:
            what = f"over {MOST_ELEMENTS} elements, which no robot model has"
            raise ModelFileError(what, path=self.path, line=line)
        if len(self._open) >= DEEPEST:
            what = f"over {DEEPEST} elements within each other, which no robot model has"
            raise ModelFileError(what, path=self.path, line=line)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def end_element(self, name: str) -> None:
        self._open.pop().close = self._parser.CurrentByteIndex

    def reset(self) -> None:
        super().reset()
        self._parser.buffer_text = True
        self._parser.CharacterDataHandler = self._text

    def _text(self, data: str) -> None:
        if self._open:
            self._open[-1].parts.append(data)


def read_xml(path: Path | str) -> XmlDocument:
    """Read an XML file.

    Raises:
        MissingFile: no such file.
        ModelFileError: too large, malformed, or with a DTD or entities; with its line.
    """
    path = Path(path)
    if not path.is_file():
        raise MissingFile(f"{path}: no such file", path=path)
    size = path.stat().st_size
    if size > LARGEST_FILE:
        raise ModelFileError(
            f"{size / 1e6:.0f} MB, expected {LARGEST_FILE / 1e6:.0f} MB at the most: "
            f"is this a robot model?",
            path=path,
        )
    return parse_xml(path.read_bytes(), path)


def parse_xml(content: bytes, path: Path | str) -> XmlDocument:
    """The tree in the bytes of a file; `path` names it in messages. Raises as `read_xml`."""
    path = Path(path)
    parser = _TreeParser(path)
    try:
        parser.feed(content, True)
    except SAXParseException as error:
        line = error.getLineNumber()
        what = f"not well-formed XML: {error.getMessage()} (column {error.getColumnNumber()})"
        raise ModelFileError(what, path=path, line=line) from error
    except DefusedXmlException as error:
        line = content.count(b"\n", 0, max(content.find(b"<!DOCTYPE"), 0)) + 1
        what = (
            f"a DTD or an entity declaration ({type(error).__name__}), which is refused because "
            f"entities can grow without end; remove the <!DOCTYPE ...>"
        )
        raise ModelFileError(what, path=path, line=line) from error
    except (LookupError, UnicodeError, ValueError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"unknown encoding: {error}", path=path, line=1) from error
    if parser.root is None:
        raise ModelFileError("not XML: no element in it", path=path)
    return XmlDocument(path, content, parser.root)
