"""What a section of a report is made of; the template knows how each block looks.

Text is plain: the template escapes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from identify.reporting.canvas import Column
from identify.texts import printable

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
    """One number of the headline, with its unit, under its label and over a line of detail."""

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
    """A cell of a table: text, an index set lower behind it, what is shown when pointed at.

    The text may lead to another page, by an address relative to this one.
    """

    text: str
    sub: str = ""
    title: str = ""
    tone: Tone = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table, under the heading of its group if it begins one; muted, it steps back."""

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
    """A table, with a head for each cell of a row; the caption says what the columns mean."""

    kind: ClassVar = "table"
    head: tuple[Head, ...]
    rows: tuple[Row, ...]
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Pictures:
    """Figures side by side, one SVG each, so that they go below each other on a narrow page.

    They are drawn when the report is written; the caption says how to read them.
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
    """A section of a report: its anchor, its heading (none for what stands above), its content."""

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
    """A page of `templates/`, which escapes all text put into it, control characters too."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("identify.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: printable(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)
