"""XML as a tree whose elements know where they stand in the text, to the byte.

So a number is reported with its line, and an element is replaced with all else kept as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from identify.exchange.model_file_error import ModelFileError

_START_TAG = re.compile(rb"""<[^\s/>"']+(?:[^"'>]|"[^"]*"|'[^']*')*>""")


class Span(NamedTuple):
    """Bytes from `start` up to but without `end`."""

    start: int
    end: int


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

    def start_tag(self, element: XmlElement) -> Span:
        """The bytes of an element's start tag."""
        match = _START_TAG.match(self.content, element.start)
        if match is None:
            raise self.error("this tag is not to be found in the bytes of the file", element)
        return Span(*match.span())

    def is_empty_tag(self, element: XmlElement) -> bool:
        """Whether the element is written `<tag ... />`."""
        tag = self.start_tag(element)
        return self.content[tag.end - 2 : tag.end] == b"/>"

    def span(self, element: XmlElement) -> Span:
        """The bytes of an element, tags included."""
        tag = self.start_tag(element)
        if self.is_empty_tag(element):
            return tag
        return Span(tag.start, self.content.index(b">", element.close) + 1)

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
