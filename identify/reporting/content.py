"""What a section of a report is made of; the template knows how each block looks.

Text is plain: the template escapes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from identify.reporting.canvas import Column

if TYPE_CHECKING:
    from jinja2 import Template

    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult

Tone: TypeAlias = Literal["", "good", "warn", "muted"]


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    kind: ClassVar = "text"
    text: str
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Points:
    """A list of remarks."""

    kind: ClassVar = "points"
    points: tuple[str, ...]
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Tile:
    """One number of the headline.

    Attributes:
        label: what it is.
        value: with its unit.
        detail: a line below.
        tone: how it is to be taken.
    """

    label: str
    value: str
    detail: str = ""
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Tiles:
    """Numbers of the headline."""

    kind: ClassVar = "tiles"
    tiles: tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: its content.
        sub: an index, set lower behind it.
        title: more, shown when it is pointed at.
        tone: how it is to be taken.
    """

    text: str
    sub: str = ""
    title: str = ""
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Attributes:
        cells: as many as the table has columns.
        heading: of the group of rows that it begins, if it begins one.
        muted: whether it steps back behind the others.
    """

    cells: tuple[Cell, ...]
    heading: str = ""
    muted: bool = False


@dataclass(frozen=True, slots=True)
class Head:
    """The title of a column, and what is in it: short words, numbers (to the right), or prose."""

    title: str
    look: Literal["words", "number", "prose"] = "words"


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        head: of each column.
        rows: as many cells each.
        caption: what the columns mean.
    """

    kind: ClassVar = "table"
    head: tuple[Head, ...]
    rows: tuple[Row, ...]
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Pictures:
    """Figures side by side, one SVG each, so that they go below each other on a narrow page.

    Attributes:
        columns: of panels, drawn when the report is written.
        caption: how to read them.
    """

    kind: ClassVar = "pictures"
    columns: tuple[Column, ...]
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """Text as it stands in a file."""

    kind: ClassVar = "listing"
    title: str
    text: str


Block: TypeAlias = Text | Points | Tiles | Table | Pictures | Listing


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a report.

    Attributes:
        key: its anchor.
        title: its heading; none for what stands above the first.
        blocks: its content.
    """

    key: str
    title: str
    blocks: tuple[Block, ...]


Builder: TypeAlias = "Callable[[FitResult, InertialParameters | None], Section | None]"
"""Makes a section of a result and, if known, the true body; None where there is nothing to say."""


def row(*cells: str | Cell, heading: str = "", muted: bool = False) -> Row:
    """A row of cells, plain text among them."""
    return Row(
        tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in cells), heading, muted
    )


def numbers(*titles: str) -> tuple[Head, ...]:
    """Columns of numbers."""
    return tuple(Head(title, "number") for title in titles)


@cache
def template(name: str) -> Template:
    """A page of `templates/`, which escapes all text put into it."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("identify.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)
