"""What the reader of one XML format finds of a link."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from identify.exchange.link_inertia import LinkInertia
from identify.exchange.xml_text import XmlDocument, XmlElement


class FoundLink(NamedTuple):
    """A link's inertia and the elements it stands in; `inertial` is None where there is none."""

    inertia: LinkInertia
    link: XmlElement
    inertial: XmlElement | None


class Edit(NamedTuple):
    """Bytes `start` to `end` of a file are to become `text`."""

    start: int
    end: int
    text: str


def require_unlike_names(document: XmlDocument, found: Iterable[FoundLink]) -> None:
    """Refuse two links of one name, and two inertial elements in one link.

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
