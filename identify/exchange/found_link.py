"""What the reader of one XML format finds of a link."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from identify.exchange.link_inertia import LinkInertia
from identify.exchange.xml_text import XmlDocument, XmlElement
from identify.inertia.conventions.central import InertialFrame

_ONCE = ("mass", "inertia", "origin", "pose")
"""What an `<inertial>` says once."""


class FoundLink(NamedTuple):
    """A link's inertia and where it stands.

    Attributes:
        inertia: what the file says.
        link: the element of the link.
        inertial: that of its inertia, or None.
        frame: mass, pose and inertia as they are written, in the axes that they are written in;
            None where they are not written in full.
    """

    inertia: LinkInertia
    link: XmlElement
    inertial: XmlElement | None
    frame: InertialFrame | None = None


class Edit(NamedTuple):
    """Bytes `start` to `end` of a file are to become `text`."""

    start: int
    end: int
    text: str


def require_unlike_names(document: XmlDocument, found: Iterable[FoundLink]) -> None:
    """Refuse two links of one name, and what is there twice in a link's inertia.

    Raises:
        ModelFileError: at the second of them.
    """
    seen: dict[str, XmlElement] = {}
    for entry in found:
        name = entry.inertia.name
        if name in seen:
            raise document.error(
                f"a second <{entry.link.tag}> {name!r} (the first is on line {seen[name].line}); "
                f"names must differ",
                entry.link,
            )
        seen[name] = entry.link
        for second in list(entry.link.all("inertial"))[1:]:
            raise document.error(f"a second <inertial> in {name!r}; expected one", second)
        if entry.inertial is not None:
            _require_one_each(document, name, entry.inertial)


def _require_one_each(document: XmlDocument, name: str, inertial: XmlElement) -> None:
    seen: set[str] = set()
    for child in inertial.children:
        if child.tag in seen and child.tag in _ONCE:
            what = f"a second <{child.tag}> in the <inertial> of {name!r}; expected one"
            raise document.error(what, child)
        seen.add(child.tag)
