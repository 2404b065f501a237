"""XML as a tree of elements that know their line and their byte range in the file.

So an error names its line, and edits replace the bytes of an element and leave every other byte
unchanged. DTDs, entities, references to other files and huge files are refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

import numpy as np

from identify.arrays import Array
from identify.errors import ModelError
from identify.files import require_file
from identify.inertia.verdict import half_last_digit

MAX_FILE_BYTES = 50_000_000
"""Largest size of a model file [bytes]; meshes and textures are separate files."""

MAX_ELEMENTS = 200_000
"""Largest number of elements in a model file."""

MAX_NESTING = 10_000
"""Largest depth of nested elements; in MJCF, each body of a kinematic chain is a level."""

_START_TAG = re.compile(rb"""<[^\s/>"']+(?:[^"'>]|"[^"]*"|'[^']*')*>""")


class ModelFileError(ModelError):
    """A robot model's file cannot be read or written.

    Attributes:
        problem: the message without the place.
        path: the file.
        line: one-based; None if it is not known.
    """

    def __init__(self, problem: str, *, path: Path, line: int | None = None) -> None:
        self.problem, self.path, self.line = problem, path, line
        where = f"{path}" if line is None else f"{path}:{line}"
        super().__init__(f"{where}: {problem}")


class PrintedNumbers(NamedTuple):
    """Numbers from a file, with half a unit of the last digit of each."""

    values: Array
    rounding_errors: Array


@dataclass(slots=True, eq=False)
class XmlElement:
    """XML element with its position in the file.

    Attributes:
        tag: its name, a prefix included.
        attributes: by name, in the file's order.
        line: of its start tag, one-based.
        start_byte: byte of its start tag.
        end_tag_byte: byte of its end tag; without one, any byte behind the start tag.
        children: elements inside, in order.
        text_pieces: pieces of its character data, without that of its children.
    """

    tag: str
    attributes: Mapping[str, str]
    line: int
    start_byte: int
    end_tag_byte: int = -1
    children: list[XmlElement] = field(default_factory=list)
    text_pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Text of the element, without the text of its children."""
        return "".join(self.text_pieces)

    def find(self, tag: str) -> XmlElement | None:
        """Return the first child with a tag, or None."""
        return next(self.find_all(tag), None)

    def find_all(self, tag: str) -> Iterator[XmlElement]:
        """Yield the children with a tag."""
        return (child for child in self.children if child.tag == tag)

    def walk(self) -> Iterator[XmlElement]:
        """Yield this element and all its descendants, in the order of the file."""
        stack: list[XmlElement] = [self]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(reversed(element.children))


@dataclass(frozen=True, slots=True)
class XmlDocument:
    """XML file: its bytes and its tree of elements."""

    path: Path
    content: bytes
    root: XmlElement

    def start_tag(self, element: XmlElement) -> tuple[int, int]:
        """Return the byte range of an element's start tag; the end is exclusive."""
        match = _START_TAG.match(self.content, element.start_byte)
        if match is None:
            raise self.error(f"cannot locate the start tag <{element.tag}> in the file", element)
        return match.span()

    def is_empty_tag(self, element: XmlElement) -> bool:
        """Return whether an element has no end tag, as in `<tag />`."""
        _, end = self.start_tag(element)
        return self.content.endswith(b"/>", 0, end)

    def span(self, element: XmlElement) -> tuple[int, int]:
        """Return the byte range of an element, tags included."""
        if self.is_empty_tag(element):
            return self.start_tag(element)
        return element.start_byte, self.content.index(b">", element.end_tag_byte) + 1

    def indent(self, element: XmlElement) -> str:
        """Return the indentation of an element; empty if other text precedes it on its line."""
        ends = (self.content.rfind(end, 0, element.start_byte) for end in (b"\n", b"\r"))
        line = self.content[max(ends) + 1 : element.start_byte]
        return line.decode("ascii") if not line.strip() and line.isascii() else ""

    @property
    def newline(self) -> str:
        """Line ending of the file."""
        return "\r\n" if b"\r\n" in self.content else "\n"

    def error(self, problem: str, element: XmlElement | None = None) -> ModelFileError:
        """Return an error with the line of an element, for the caller to raise."""
        return ModelFileError(problem, path=self.path, line=element.line if element else None)

    def numbers(self, element: XmlElement, text: str, label: str, count: int) -> PrintedNumbers:
        """Parse `count` numbers separated by white space.

        Raises `ModelFileError`: the text, called `label` in the message, has another count, or a
        word that is not a finite decimal number; with the line of the element.
        """
        words = text.split()
        if len(words) != count:
            many = "1 number" if count == 1 else f"{count} numbers"
            raise self.error(f"{label}: expected {many}, got {text.strip()[:60]!r}", element)
        values, units = np.empty(count), np.empty(count)
        for i, word in enumerate(words):
            try:
                units[i] = half_last_digit(word)
            except ModelError as error:
                hint = "; expand xacro first" if word.startswith("$") else ""
                problem = f"{label}: expected a finite decimal number, got {word[:60]!r}{hint}"
                raise self.error(problem, element) from error
            values[i] = float(word)
            if not math.isfinite(values[i]):
                raise self.error(f"{label}: the number {word[:60]!r} is too large", element)
        return PrintedNumbers(values, units)

    def text_numbers(self, element: XmlElement, count: int) -> PrintedNumbers:
        """Parse the numbers in an element's text; the errors are those of `numbers`."""
        return self.numbers(element, element.text, f"<{element.tag}>", count)

    def attribute_numbers(
        self, element: XmlElement, name: str, count: int, default: str | None = None
    ) -> PrintedNumbers:
        """Parse the numbers of an attribute; a missing attribute without default is an error."""
        text = element.attributes.get(name, default)
        if text is None:
            raise self.error(f"<{element.tag}> has no attribute {name!r}", element)
        return self.numbers(element, text, f"<{element.tag} {name}>", count)


class _TreeParser:
    """Expat parser that builds `XmlElement`s and refuses DTDs, entities and external references."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.root: XmlElement | None = None
        self._open: list[XmlElement] = []
        self._count = 0
        self.expat = expat.ParserCreate()
        self.expat.buffer_text = True
        self.expat.StartElementHandler = self._start_element
        self.expat.EndElementHandler = self._end_element
        self.expat.CharacterDataHandler = self._text
        self.expat.StartDoctypeDeclHandler = self._refuse
        self.expat.EntityDeclHandler = self._refuse
        self.expat.UnparsedEntityDeclHandler = self._refuse
        self.expat.ExternalEntityRefHandler = self._refuse
        self.expat.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)

    def _refuse(self, *_: object) -> int:
        raise ModelFileError(
            "a DTD, an entity or a reference to another file, which is refused because entities "
            "can expand without limit; remove the <!DOCTYPE ...>",
            path=self.path,
            line=self.expat.CurrentLineNumber,
        )

    def _start_element(self, name: str, attrs: Mapping[str, str]) -> None:
        line, start = self.expat.CurrentLineNumber, self.expat.CurrentByteIndex
        element = XmlElement(name, dict(attrs), line, start)
        self._count += 1
        if self._count > MAX_ELEMENTS or len(self._open) >= MAX_NESTING:
            limit = f"{MAX_ELEMENTS} elements"
            if self._count <= MAX_ELEMENTS:
                limit = f"{MAX_NESTING} levels of nested elements"
            problem = f"more than {limit}; is this a robot model?"
            raise ModelFileError(problem, path=self.path, line=line)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def _end_element(self, name: str) -> None:
        self._open.pop().end_tag_byte = self.expat.CurrentByteIndex

    def _text(self, data: str) -> None:
        if self._open:
            self._open[-1].text_pieces.append(data)


def read_xml(path: Path | str) -> XmlDocument:
    """Read an XML file.

    Raises `MissingFile`: no such file; `ModelFileError`: too large, malformed, or with a DTD or
    entities; with its line.
    """
    path = Path(path)
    require_file(path)
    size = path.stat().st_size
    if size > MAX_FILE_BYTES:
        raise ModelFileError(
            f"{size / 1e6:.0f} MB, expected at most {MAX_FILE_BYTES / 1e6:.0f} MB: "
            f"is this a robot model?",
            path=path,
        )
    return parse_xml(path.read_bytes(), path)


def parse_xml(content: bytes, path: Path | str) -> XmlDocument:
    """Parse the bytes of an XML file; `path` names the file in error messages."""
    path = Path(path)
    parser = _TreeParser(path)
    try:
        parser.expat.Parse(content, True)
    except expat.ExpatError as error:
        if error.code == expat.errors.codes[expat.errors.XML_ERROR_UNKNOWN_ENCODING]:
            raise ModelFileError("unknown encoding", path=path, line=1) from error
        problem = f"not well-formed XML: {expat.ErrorString(error.code)} (column {error.offset})"
        raise ModelFileError(problem, path=path, line=error.lineno) from error
    except (LookupError, UnicodeError, ValueError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"unknown encoding: {error}", path=path, line=1) from error
    if parser.root is None:
        raise ModelFileError("not XML: it has no element", path=path)
    return XmlDocument(path, content, parser.root)


class Edit(NamedTuple):
    """Replacement of the bytes `start` to `end` of a file by `text`."""

    start: int
    end: int
    text: str


def apply_edits(content: bytes, edits: Iterable[Edit]) -> bytes:
    """Return the bytes of a file after edits, which must not overlap."""
    pieces, position = [], 0
    for start, end, text in sorted(edits):
        pieces += [content[position:start], text.encode("ascii", "xmlcharrefreplace")]
        position = end
    return b"".join([*pieces, content[position:]])


def child_edits(
    document: XmlDocument, element: XmlElement, children: Mapping[str, str]
) -> tuple[Edit, ...]:
    """Return edits that replace children by new texts, and append those that are missing."""
    present = {child.tag: child for child in reversed(element.children)}
    edits = [
        Edit(*document.span(present[tag]), children[tag]) for tag in children if tag in present
    ]
    missing = [text for tag, text in children.items() if tag not in present]
    return (*edits, insertion_edit(document, element, missing)) if missing else tuple(edits)


def insertion_edit(
    document: XmlDocument, element: XmlElement, texts: Iterable[str], *, first: bool = False
) -> Edit:
    """Return the edit that inserts texts as first or last children, one per line."""
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
    """Return the indentation of children relative to their parent; two spaces by default."""
    outer = document.indent(element)
    for candidate in (element, *document.root.children[:50], document.root):
        base = document.indent(candidate)
        for child in candidate.children[:1]:
            inner = document.indent(child)
            if len(inner) > len(base) and inner.startswith(base):
                return inner[len(base) :]
    return "\t" if "\t" in outer else "  "
