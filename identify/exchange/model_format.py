"""Base class of the XML formats of robot models, and the links that their readers return."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, NamedTuple

import numpy as np

from identify.arrays import Mat33, Mat66, Phi
from identify.exchange.link_geometry import LinkGeometry
from identify.exchange.link_inertia import LinkInertia, unit_note
from identify.exchange.rounding import (
    DEFAULT_DIGITS,
    MIN_MOMENT_RATIO,
    InertiaFloor,
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
from identify.inertia.conventions.orders import matrix_from_entries
from identify.inertia.conventions.simulators import MUJOCO_MIN_FULL_INERTIA
from identify.spatial import Pose

INERTIA_ENTRIES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
"""Names of the six entries of an inertia in URDF and SDF, in the order of `RoundedBody.inertia`."""

_UNIQUE_CHILDREN = ("mass", "inertia", "origin", "pose")
"""Children of `<inertial>` that may occur only once."""


class LinkEntry(NamedTuple):
    """Inertia of a link with its elements in the file.

    Attributes:
        inertia: as read.
        link_element: the element of the link.
        inertial_element: the element of its inertia, or None.
        frame: mass, pose and inertia in the axes of the file; None if they are not complete in the
            file.
    """

    inertia: LinkInertia
    link_element: XmlElement
    inertial_element: XmlElement | None = None
    frame: InertialFrame | None = None


class LinkJoint(NamedTuple):
    """Joint of a link to its parent.

    Attributes:
        parent: name of the link it is attached to.
        fixed: whether it does not move.
        read_pose: returns X_PC, the pose of the link in its parent at zero joint position, or
            raises `ModelFileError`.
    """

    parent: str
    fixed: bool
    read_pose: Callable[[], Pose]


class ModelFormat(ABC):
    """Base class of XML formats of robot models.

    Attributes:
        name: its key in `MODEL_FORMATS`.
        root_tags: tags of the root element that identify it.
        has_principal_moments: whether it has them, with their axes, instead of six numbers.
        rod_margin: smallest second moment of a rod that is written, as a share of their sum.
    """

    name: ClassVar[str]
    root_tags: ClassVar[tuple[str, ...]]
    has_principal_moments: ClassVar[bool] = False
    rod_margin: ClassVar[float] = MIN_MOMENT_RATIO

    def read(self, document: XmlDocument) -> tuple[LinkEntry, ...]:
        """Read every link of a document, in the order of the file.

        Raises `ModelFileError`: two links have the same name, or one has none.
        """
        entries = tuple(self.links(document))
        seen: dict[str, XmlElement] = {}
        for inertia, link, _, _ in entries:
            name = inertia.name
            first = seen.setdefault(name, link)
            if first is not link:
                raise document.error(
                    f"a second <{link.tag}> {name!r} (the first is on line {first.line}); "
                    f"names must differ",
                    link,
                )
        alone = set(self.moving_frames(document, entries))
        filled = set(self.filled_frames(document, entries))
        marks = (
            {"is_moving_frame": entry.inertia.name in alone}
            | {"filled_by_programs": entry.inertia.name in filled}
            for entry in entries
        )
        return tuple(
            entry._replace(inertia=replace(entry.inertia, **mark)) if any(mark.values()) else entry
            for entry, mark in zip(entries, marks, strict=True)
        )

    def moving_frames(self, document: XmlDocument, entries: Sequence[LinkEntry]) -> Iterable[str]:
        """Yield the names of massless frames that a joint moves with no mass fixed to them."""
        return ()

    def filled_frames(self, document: XmlDocument, entries: Sequence[LinkEntry]) -> Iterable[str]:
        """Yield the names of attached links that programs fill, as they have no inertial."""
        return ()

    def joints(
        self, document: XmlDocument, entries: Sequence[LinkEntry]
    ) -> Mapping[str, LinkJoint]:
        """Return the joint of every link with a parent, by name of the link."""
        return {}

    def geometry(self, document: XmlDocument, link: XmlElement) -> Iterator[LinkGeometry]:
        """Yield the shapes of a link in its axes, collision shapes before visual ones."""
        return iter(())

    @abstractmethod
    def links(self, document: XmlDocument) -> Iterable[LinkEntry]:
        """Yield every link of a document; duplicate names are not checked."""

    def children(self, body: RoundedBody, newline: str, step: str) -> Mapping[str, str]:
        """Return the child elements of `<inertial>` by tag; their lines begin with `newline`."""
        return {}

    def edits(
        self, document: XmlDocument, inertial: XmlElement, body: RoundedBody, *, whole: bool
    ) -> tuple[Edit, ...]:
        """Return the edits that write a body into an existing `<inertial>`.

        Only the inertia is written, or also mass and pose if `whole`.
        """
        newline = document.newline + document.indent(inertial) + "  "
        children = self.children(body, newline, "  ")
        if not whole:
            children = {"inertia": children["inertia"]}
        return child_edits(document, inertial, children)

    def inertial(self, body: RoundedBody, newline: str, step: str) -> str:
        """Return an `<inertial>`; lines begin with `newline`, children's also with `step`."""
        children = self.children(body, newline + step, step).values()
        inner = "".join(f"{newline}{step}{text}" for text in children)
        return f"<inertial>{inner}{newline}</inertial>"

    def rounded(self, phi: Phi, digits: int) -> RoundedBody:
        """Round a body to the numbers that the format contains, about the centre of mass."""
        return round_body(
            phi, principal=self.has_principal_moments, digits=digits, rod_margin=self.rod_margin
        )

    def rounded_in_frame(
        self, inertial: XmlElement, frame: InertialFrame, digits: int = DEFAULT_DIGITS
    ) -> RoundedBody:
        """Round an inertia to text in the axes of its element."""
        floor = InertiaFloor(MIN_MOMENT_RATIO, MUJOCO_MIN_FULL_INERTIA, self.rod_margin)
        return round_in_frame(frame, floor, digits)

    def require_writable(self, document: XmlDocument) -> None:  # noqa: B027
        """Raise `ModelFileError` if other programs would ignore a written inertia."""


def first_of_fixed_groups(names: Iterable[str], joints: Mapping[str, LinkJoint]) -> dict[str, str]:
    """Map every link to the first link of its group of links that are fixed to each other."""
    first: dict[str, str] = {}
    for name in names:
        visited: list[str] = []
        while name not in first and name in joints and joints[name].fixed and name not in visited:
            visited.append(name)
            name = joints[name].parent
        for member in (*visited, name):
            first[member] = first.get(name, name)
    return first


def read_link(
    document: XmlDocument, name: str, link: XmlElement, read: Callable[[], LinkEntry]
) -> LinkEntry:
    """Read a link with a function; an error in its `<inertial>` makes it an unreadable link."""
    inertial = link.find("inertial")
    try:
        unique = [
            link.find_all("inertial"),
            *(inertial.find_all(tag) for tag in _UNIQUE_CHILDREN if inertial),
        ]
        for second in [element for elements in unique for element in list(elements)[1:]]:
            raise document.error(f"a second <{second.tag}>; expected one", second)
        return read()
    except ModelFileError as error:
        inertia = LinkInertia(name, error.line, note=error.problem, unreadable=True)
        return LinkEntry(inertia, link, inertial)


def massless_link(
    name: str,
    link: XmlElement,
    inertial: XmlElement | None = None,
    *,
    note: str = "",
    added_mass: Mat66 | None = None,
) -> LinkEntry:
    """Return the entry of a massless frame, with or without an `<inertial>`."""
    line = (link if inertial is None else inertial).line
    inertia = LinkInertia(name, line, massless=True, added_mass=added_mass, note=note)
    return LinkEntry(inertia, link, inertial)


def link_with_inertia(
    name: str,
    link: XmlElement,
    inertial: XmlElement,
    mass: PrintedNumbers,
    entries: PrintedNumbers,
    X_LC: Pose,
    largest_length: float | None,
    *,
    note: str = "",
    order: str = "urdf",
    axes_in_other_unit: Mat33 | None = None,
    added_mass: Mat66 | None = None,
) -> LinkEntry:
    """Return the entry of a link from the numbers of its `<inertial>`.

    These are a mass [kg] and ixx, ixy, ixz, iyy, iyz, izz [kg m²] about the centre of mass in C,
    whose pose in the link is `X_LC`; `largest_length` [m] is the largest in the file.
    """
    frame = InertialFrame(
        np.array(mass.values[0]), X_LC, matrix_from_entries(entries.values, "urdf")
    )
    with np.errstate(over="ignore", invalid="ignore"):
        phi = frame.phi
    if not np.isfinite(phi).all():
        note = "; ".join(filter(None, (note, "its numbers are too large for a verdict")))
        return LinkEntry(LinkInertia(name, inertial.line, note=note), link, inertial)
    printed, rounding_errors = (
        np.concatenate((m, np.zeros(3), i)) for m, i in zip(mass, entries, strict=True)
    )
    inertia = LinkInertia(
        name,
        inertial.line,
        phi,
        printed=printed,
        rounding_errors=rounding_errors,
        added_mass=added_mass,
        note="; ".join(filter(None, (note, unit_note(printed, largest_length)))),
        order=order,
        axes=X_LC.rotation,
        axes_in_other_unit=axes_in_other_unit,
        largest_length=largest_length,
    )
    return LinkEntry(inertia, link, inertial, frame)


def require_name(document: XmlDocument, element: XmlElement) -> str:
    """Return the name of a link or model, or raise `ModelFileError` if it has none."""
    name = element.attributes.get("name")
    if not name:
        raise document.error(f"a <{element.tag}> without a name", element)
    return name
