"""XML as a tree whose elements know where they stand in the text, to the byte.

So a number is reported with its line, and an element is replaced with all else kept as it was.
Edits replace bytes of a file and leave every other byte as it was. Entities, DTDs and huge files
are refused (defusedxml).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from xml.sax import SAXParseException

import numpy as np
from defusedxml.common import DefusedXmlException
from defusedxml.expatreader import DefusedExpatParser

from identify.arrays import Array
from identify.errors import ModelError
from identify.files import require_file
from identify.inertia.verdict import half_last_digit

if TYPE_CHECKING:
    from pyexpat import XMLParserType

LARGEST_FILE = 50_000_000
"""Bytes of the largest model that is read; meshes and textures are files of their own."""

MOST_ELEMENTS = 200_000

DEEPEST = 10_000
"""Elements within each other; a chain of bodies in MJCF nests by one a body."""

_START_TAG = re.compile(rb"""<[^\s/>"']+(?:[^"'>]|"[^"]*"|'[^']*')*>""")


class ModelFileError(ModelError):
    """A robot model's file cannot be read or written as it should.

    Attributes:
        what: the message without the place.
        path: the file.
        line: one-based, where one is known.
    """

    def __init__(self, what: str, *, path: Path, line: int | None = None) -> None:
        self.what, self.path, self.line = what, path, line
        where = f"{path}" if line is None else f"{path}:{line}"
        super().__init__(f"{where}: {what}")


class PrintedNumbers(NamedTuple):
    """Numbers, and half a unit of the last digit that is printed of each."""

    values: Array
    half_units: Array


@dataclass(slots=True, eq=False)
class XmlElement:
    """An element of a document that has been read.

    Attributes:
        tag: its name, a prefix included.
        attributes: by name, in the file's order.
        line: of its start tag, one-based.
        start: byte of its start tag.
        close: byte of its end tag; without one, any byte behind the start tag.
        children: elements inside, in order.
        parts: its own character data, without that of its children, in pieces.
    """

    tag: str
    attributes: Mapping[str, str]
    line: int
    start: int
    close: int = -1
    children: list[XmlElement] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its own character data, in one piece."""
        return "".join(self.parts)

    def find(self, tag: str) -> XmlElement | None:
        """The first child of a name."""
        return next(self.all(tag), None)

    def all(self, tag: str) -> Iterator[XmlElement]:
        """The children of a name."""
        return (child for child in self.children if child.tag == tag)

    def walk(self) -> Iterator[XmlElement]:
        """This element and all within, in the order of the file."""
        stack: list[XmlElement] = [self]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(reversed(element.children))


@dataclass(frozen=True, slots=True)
class XmlDocument:
    """A file's bytes and the tree in them."""

    path: Path
    content: bytes
    root: XmlElement

    def start_tag(self, element: XmlElement) -> tuple[int, int]:
        """The bytes of an element's start tag, from the first up to but without the second."""
        match = _START_TAG.match(self.content, element.start)
        if match is None:
            raise self.error("this tag is not to be found in the bytes of the file", element)
        return match.span()

    def is_empty_tag(self, element: XmlElement) -> bool:
        """Whether the element is written `<tag ... />`."""
        _, end = self.start_tag(element)
        return self.content.endswith(b"/>", 0, end)

    def span(self, element: XmlElement) -> tuple[int, int]:
        """The bytes of an element, tags included."""
        if self.is_empty_tag(element):
            return self.start_tag(element)
        return element.start, self.content.index(b">", element.close) + 1

    def indent(self, element: XmlElement) -> str:
        """The white space that the element's line begins with, if nothing else is before it."""
        ends = (self.content.rfind(end, 0, element.start) for end in (b"\n", b"\r"))
        line = self.content[max(ends) + 1 : element.start]
        return line.decode("ascii") if not line.strip() and line.isascii() else ""

    @property
    def newline(self) -> str:
        """How the file ends its lines."""
        return "\r\n" if b"\r\n" in self.content else "\n"

    def error(self, what: str, element: XmlElement | None = None) -> ModelFileError:
        """An error at the line of an element."""
        return ModelFileError(what, path=self.path, line=element.line if element else None)

    def numbers(self, element: XmlElement, text: str, what: str, count: int) -> PrintedNumbers:
        """So many numbers between white space.

        Raises:
            ModelFileError: `what`, in the line of the element, has not so many, or one that is not
                a finite decimal number.
        """
        words = text.split()
        if len(words) != count:
            many = "1 number" if count == 1 else f"{count} numbers"
            raise self.error(f"{what}: expected {many}, got {text.strip()[:60]!r}", element)
        values, units = np.empty(count), np.empty(count)
        for i, word in enumerate(words):
            try:
                units[i] = half_last_digit(word)
            except ModelError as error:
                hint = "; xacro has to be expanded first" if word.startswith("$") else ""
                what = f"{what}: expected a finite decimal number, got {word[:60]!r}{hint}"
                raise self.error(what, element) from error
            values[i] = float(word)
            if not math.isfinite(values[i]):
                raise self.error(f"{what}: {word[:60]!r} is too large a number", element)
        return PrintedNumbers(values, units)

    def text_numbers(self, element: XmlElement, count: int) -> PrintedNumbers:
        """Numbers of an element's text; raises as `numbers`."""
        return self.numbers(element, element.text, f"<{element.tag}>", count)

    def attribute_numbers(
        self, element: XmlElement, name: str, count: int, default: str | None = None
    ) -> PrintedNumbers:
        """Numbers of an attribute; raises as `numbers`, and where it is missing."""
        text = element.attributes.get(name, default)
        if text is None:
            raise self.error(f"<{element.tag}> has no attribute {name!r}", element)
        return self.numbers(element, text, f"<{element.tag} {name}>", count)


class _TreeParser(DefusedExpatParser):
    """Expat without entities and DTDs, noting bytes and lines."""

    _parser: XMLParserType

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
        if self._count > MOST_ELEMENTS or len(self._open) >= DEEPEST:
            within = self._count <= MOST_ELEMENTS
            many = (
                f"{DEEPEST} elements within each other" if within else f"{MOST_ELEMENTS} elements"
            )
            what = f"over {many}, which no robot model has"
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
    require_file(path)
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


class Edit(NamedTuple):
    """Bytes `start` to `end` of a file are to become `text`."""

    start: int
    end: int
    text: str


def apply_edits(content: bytes, edits: Iterable[Edit]) -> bytes:
    """The bytes with pieces of them replaced; the pieces must not overlap."""
    pieces, at = [], 0
    for start, end, text in sorted(edits):
        pieces += [content[at:start], text.encode("ascii", "xmlcharrefreplace")]
        at = end
    return b"".join([*pieces, content[at:]])


def child_edits(
    document: XmlDocument, element: XmlElement, children: Mapping[str, str]
) -> tuple[Edit, ...]:
    """Edits that put new texts in the place of children, those that are missing at the end."""
    there = {child.tag: child for child in reversed(element.children)}
    edits = [Edit(*document.span(there[tag]), children[tag]) for tag in children if tag in there]
    missing = [text for tag, text in children.items() if tag not in there]
    return (*edits, insertion(document, element, missing)) if missing else tuple(edits)


def insertion(
    document: XmlDocument, element: XmlElement, texts: Iterable[str], *, first: bool = False
) -> Edit:
    """The edit that makes texts the first or last children of an element, on lines of their own."""
    newline = document.newline + document.indent(element)
    step = indent_step(document, element)
    inner = "".join(f"{newline}{step}{text}" for text in texts)
    _, end = document.start_tag(element)
    if document.is_empty_tag(element):
        return Edit(end - 2, end, f">{inner}{newline}</{element.tag}>")
    if not first and element.children:
        last = element.children[-1]
        newline = document.newline + document.indent(last)
        _, end = document.span(last)
        inner = "".join(newline + text for text in texts)
    return Edit(end, end, inner)


def indent_step(document: XmlDocument, element: XmlElement) -> str:
    """How far the children of an element are indented beyond it: two spaces if nothing tells."""
    outer = document.indent(element)
    for candidate in (element, *document.root.children[:50], document.root):
        base = document.indent(candidate)
        for child in candidate.children[:1]:
            inner = document.indent(child)
            if len(inner) > len(base) and inner.startswith(base):
                return inner[len(base) :]
    return "\t" if "\t" in outer else "  "
