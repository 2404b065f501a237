"""What an XML format of robot models has to know of itself, and what its reader finds of a link."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, NamedTuple

import numpy as np

from identify.arrays import Mat66, Phi
from identify.exchange.link_geometry import LinkGeometry
from identify.exchange.link_inertia import LinkInertia, unit_note
from identify.exchange.rounding import (
    DIGITS,
    MARGIN,
    Floor,
    RoundedBody,
    round_body,
    round_in_frame,
)
from identify.exchange.xml_document import (
    Edit,
    ModelFileError,
    PrintedNumbers,
    XmlDocument,
    XmlElement,
    child_edits,
)
from identify.inertia.conventions.mass_properties import InertialFrame
from identify.inertia.conventions.orders import matrix_from_six
from identify.inertia.conventions.simulators import MIN_FULL_INERTIA
from identify.spatial import Pose

SIX = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
"""Names of the six numbers in URDF and SDF, in the order of `RoundedBody.inertia`."""

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
    inertial: XmlElement | None = None
    frame: InertialFrame | None = None


class ModelFormat(ABC):
    """An XML format of robot models.

    Attributes:
        name: what it is called here.
        roots: names of the outermost element that tell it.
        principal: whether it has principal moments and their axes, not the inertia in the link's.
        rod_margin: smallest second moment of a rod that is written, of the sum of the three.
        has_geometry: whether the shapes of its links are read.
    """

    name: ClassVar[str]
    roots: ClassVar[tuple[str, ...]]
    principal: ClassVar[bool] = False
    rod_margin: ClassVar[float] = MARGIN
    has_geometry: ClassVar[bool] = True

    def read(self, document: XmlDocument) -> tuple[FoundLink, ...]:
        """Every link of a document, in the order of the file.

        Raises:
            ModelFileError: two links of one name, or one without.
        """
        found = tuple(self.links(document))
        seen: dict[str, XmlElement] = {}
        for inertia, link, _, _ in found:
            name = inertia.name
            first = seen.setdefault(name, link)
            if first is not link:
                raise document.error(
                    f"a second <{link.tag}> {name!r} (the first is on line {first.line}); "
                    f"names must differ",
                    link,
                )
        alone = set(self.moving_frames(document, found))
        return tuple(
            entry._replace(inertia=replace(entry.inertia, moves_alone=True))
            if entry.inertia.name in alone
            else entry
            for entry in found
        )

    def moving_frames(self, document: XmlDocument, found: Sequence[FoundLink]) -> Iterable[str]:
        """Names of massless frames that a joint moves with nothing of mass fixed to them."""
        return ()

    def geometry(self, document: XmlDocument, link: XmlElement) -> Iterator[LinkGeometry]:
        """The shapes of a link in its axes, those of collisions before those that are seen."""
        return iter(())

    @abstractmethod
    def links(self, document: XmlDocument) -> Iterable[FoundLink]:
        """What `read` gives, whatever is there twice."""

    def children(self, body: RoundedBody, newline: str, step: str) -> Mapping[str, str]:
        """The elements within `<inertial>`, by tag; their own lines begin with `newline`."""
        return {}

    def edits(
        self, document: XmlDocument, inertial: XmlElement, body: RoundedBody, *, whole: bool
    ) -> tuple[Edit, ...]:
        """What makes an `<inertial>` that is there say a body: its elements anew, all else stays.

        Mass and pose are written only where the body is to be written `whole`.
        """
        newline = document.newline + document.indent(inertial) + "  "
        children = self.children(body, newline, "  ")
        if not whole:
            children = {"inertia": children["inertia"]}
        return child_edits(document, inertial, children)

    def inertial(self, body: RoundedBody, newline: str, step: str) -> str:
        """A whole `<inertial>`; lines after the first begin with `newline`, inner ones `step`."""
        children = self.children(body, newline + step, step).values()
        inner = "".join(f"{newline}{step}{text}" for text in children)
        return f"<inertial>{inner}{newline}</inertial>"

    def rounded(self, phi: Phi, digits: int) -> RoundedBody:
        """A body as the format prints it, about the centre of mass."""
        return round_body(phi, principal=self.principal, digits=digits, rod_margin=self.rod_margin)

    def rounded_in_frame(
        self, inertial: XmlElement, frame: InertialFrame, digits: int = DIGITS
    ) -> RoundedBody:
        """An inertia as text in the axes that its element has."""
        floor = Floor(MARGIN, MIN_FULL_INERTIA, self.rod_margin)
        return round_in_frame(frame, floor, digits)

    def require_writable(self, document: XmlDocument) -> None:  # noqa: B027
        """Raises `ModelFileError` where what is written would not be read."""


def read_link(
    document: XmlDocument, name: str, link: XmlElement, read: Callable[[], FoundLink]
) -> FoundLink:
    """A link as `read` makes it, or unreadable where its `<inertial>` is wrong: others are read."""
    inertial = link.find("inertial")
    try:
        alike = [link.all("inertial"), *(inertial.all(tag) for tag in _ONCE if inertial)]
        for second in [element for elements in alike for element in list(elements)[1:]]:
            raise document.error(f"a second <{second.tag}>; expected one", second)
        return read()
    except ModelFileError as error:
        inertia = LinkInertia(name, error.line, note=error.what, unreadable=True)
        return FoundLink(inertia, link, inertial)


def massless_link(
    name: str,
    link: XmlElement,
    inertial: XmlElement | None = None,
    *,
    note: str = "",
    added_mass: Mat66 | None = None,
) -> FoundLink:
    """A link that is a frame without mass, with or without an `<inertial>`."""
    line = (link if inertial is None else inertial).line
    inertia = LinkInertia(name, line, massless=True, added_mass=added_mass, note=note)
    return FoundLink(inertia, link, inertial)


def written_link(
    name: str,
    link: XmlElement,
    inertial: XmlElement,
    mass: PrintedNumbers,
    six: PrintedNumbers,
    X_LC: Pose,
    largest_length: float | None,
    *,
    note: str = "",
    order: str = "urdf",
    added_mass: Mat66 | None = None,
) -> FoundLink:
    """A link of the numbers in its `<inertial>`.

    Those are a mass [kg] and ixx, ixy, ixz, iyy, iyz, izz [kg m²] about the centre of mass in C,
    whose pose in the link is `X_LC`; `largest_length` [m] is the largest that the file mentions.
    """
    frame = InertialFrame(np.array(mass.values[0]), X_LC, matrix_from_six(six.values, "urdf"))
    with np.errstate(over="ignore", invalid="ignore"):
        phi = frame.phi
    if not np.isfinite(phi).all():
        note = "; ".join(filter(None, (note, "its numbers are too large: no verdict")))
        return FoundLink(LinkInertia(name, inertial.line, note=note), link, inertial)
    printed, half_units = (
        np.concatenate((m, np.zeros(3), i)) for m, i in zip(mass, six, strict=True)
    )
    inertia = LinkInertia(
        name,
        inertial.line,
        phi,
        printed=printed,
        half_units=half_units,
        added_mass=added_mass,
        note="; ".join(filter(None, (note, unit_note(printed, largest_length)))),
        order=order,
        axes=X_LC.rotation,
        largest_length=largest_length,
    )
    return FoundLink(inertia, link, inertial, frame)


def name_of(document: XmlDocument, element: XmlElement) -> str:
    """The name of a link or model; raises `ModelFileError` without one."""
    name = element.attributes.get("name")
    if not name:
        raise document.error(f"a <{element.tag}> without a name", element)
    return name
