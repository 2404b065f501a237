"""Edits of a file's bytes that leave every other byte as it was."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from identify.exchange.xml_document import XmlDocument, XmlElement

_ATTRIBUTE = re.compile(rb"""\s([^\s=/>"']+)\s*=\s*("[^"]*"|'[^']*')""")


class Edit(NamedTuple):
    """Bytes `start` to `end` of a file are to become `text`."""

    start: int
    end: int
    text: str


def apply_edits(content: bytes, edits: Iterable[Edit]) -> bytes:
    """The bytes with pieces of them replaced; the pieces must not overlap."""
    pieces, at = [], 0
    for start, end, text in sorted(edits):
        pieces += [content[at:start], text.encode("ascii")]
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


def value_edits(
    document: XmlDocument, element: XmlElement, values: Mapping[str, str]
) -> tuple[Edit, ...]:
    """Edits that give attributes new values; those that say the same numbers already stay."""
    edits = []
    for match in _ATTRIBUTE.finditer(document.content, *document.start_tag(element)):
        name = match[1].decode(errors="replace")
        if name in values and not _same_numbers(element.attributes[name], values[name]):
            edits.append(Edit(match.start(2) + 1, match.end(2) - 1, values[name]))
    return tuple(edits)


def attribute_edits(
    document: XmlDocument, element: XmlElement, values: Mapping[str, str]
) -> tuple[Edit, ...]:
    """As `value_edits`; attributes that are not there are added."""
    missing = "".join(
        f' {name}="{text}"' for name, text in values.items() if name not in element.attributes
    )
    _, end = document.start_tag(element)
    place = end - (2 if document.is_empty_tag(element) else 1)
    edits = value_edits(document, element, values)
    return (*edits, Edit(place, place, missing)) if missing else edits


def text_edits(
    document: XmlDocument, element: XmlElement, texts: Mapping[str, str]
) -> tuple[Edit, ...]:
    """Edits that give children new texts; those that say the same numbers already stay."""
    edits = []
    for tag, text in texts.items():
        child = element.find(tag)
        if child is not None and not _same_numbers(child.text, text):
            edits.append(Edit(document.start_tag(child)[1], child.close, text))
    return tuple(edits)


def _same_numbers(before: str, after: str) -> bool:
    return [float(word) for word in before.split()] == [float(word) for word in after.split()]


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
