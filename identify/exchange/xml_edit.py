"""Edits of a file's bytes that leave every other byte as it was."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from identify.exchange.xml_document import XmlDocument, XmlElement


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
