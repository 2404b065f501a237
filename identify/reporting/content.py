"""What a section of a report is made of; the template knows how each block looks.

Text is plain: the template escapes it. A table has two writers besides: Markdown, and lines for a
terminal.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from identify.reporting.canvas import PAINTS, Column
from identify.reporting.rounding import minus_signs, typeset
from identify.texts import printable

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult

Tone: TypeAlias = Literal["", "good", "warn", "bad", "muted"]

TERMINAL_WIDTH = 80
"""Of a terminal [characters]."""

_COLUMN_GAP = 2
_LONGEST_NAME = 24
"""A longer name has a line of its own in a terminal."""


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    kind: ClassVar = "text"
    text: str
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class BulletList:
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

    The text may lead to another page, by an address relative to this one. The shade behind it goes
    from -4 (orange) to 4 (blue).
    """

    text: str
    sub: str = ""
    title: str = ""
    tone: Tone = ""
    link: str = ""
    shade: int = 0


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
class ReportTable:
    """A table, with a head for each cell of a row; the caption says what the columns mean.

    One that looks "dense" is a grid of short numbers.
    """

    kind: ClassVar = "table"
    head: tuple[Head, ...]
    rows: tuple[Row, ...]
    caption: str = ""
    look: Literal["", "dense"] = ""


@dataclass(frozen=True, slots=True)
class Pictures:
    """Figures side by side, one SVG each, so that they go below each other on a narrow page.

    They are drawn when the report is written; the caption says how to read them. Their numbers may
    be folded below.
    """

    kind: ClassVar = "pictures"
    columns: tuple[Column, ...]
    caption: str = ""
    table: ReportTable | None = None


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure that is markup already, all text in it escaped."""

    kind: ClassVar = "drawing"
    svg: str
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """Text as it stands in a file, folded; one to copy has a button for that and a note."""

    kind: ClassVar = "listing"
    title: str
    text: str
    copied: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks that a reader opens who wants to know more."""

    kind: ClassVar = "folded"
    title: str
    blocks: tuple[Block, ...]


Block: TypeAlias = Text | BulletList | Tiles | ReportTable | Pictures | Drawing | Listing | Folded


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a report: its anchor, its heading (none for what stands above), its content."""

    key: str
    title: str
    blocks: tuple[Block, ...]
    tone: Tone = ""


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


def table_of(
    heads: Sequence[str],
    rows: Iterable[Row | Sequence[str | Cell]],
    caption: str = "",
    *,
    words: int = 1,
) -> ReportTable:
    """A table whose first columns, `words` of them, hold words and the others numbers."""
    return ReportTable(
        (*map(Head, heads[:words]), *numbers(*heads[words:])),
        tuple(each if isinstance(each, Row) else row(*each) for each in rows),
        caption,
    )


def grouped(groups: Sequence[str], rows: Iterable[Row]) -> tuple[Row, ...]:
    """The rows, the first of each group under its name."""
    before = ("", *groups)
    return tuple(
        replace(each, heading="" if group == last else group)
        for each, group, last in zip(rows, groups, before, strict=False)
    )


def markdown(table: ReportTable) -> str:
    """A table as Markdown."""
    heads = [head.title for head in table.head]
    marks = ["--:" if head.look == "number" else "---" for head in table.head]
    cells = ([cell.text for cell in each.cells] for each in table.rows)
    lines = ([text.replace("|", "\\|") for text in line] for line in (heads, marks, *cells))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def terminal_lines(table: ReportTable) -> Iterator[str]:
    """A table for a terminal, its columns in as many pieces as the width needs.

    The first column has the names of the rows; all others are to the right.
    """
    indent = "  " if any(each.heading for each in table.rows) else ""
    names = [indent + each.cells[0].text for each in table.rows]
    first = max([8, *(len(name) for name in names if len(name) <= _LONGEST_NAME)])
    columns = [[head.title] for head in table.head[1:]]
    for each in table.rows:
        for column, cell in zip(columns, each.cells[1:], strict=True):
            column.append(cell.text)
    shown = [[text.rjust(max(map(len, column))) for text in column] for column in columns]
    widths = [_COLUMN_GAP + len(column[0]) for column in shown]
    for piece in in_pieces(widths, TERMINAL_WIDTH - first):
        if piece[0]:
            yield ""
        cells = zip(*(shown[column] for column in piece), strict=True)
        head, *lines = ("".join(" " * _COLUMN_GAP + text for text in line) for line in cells)
        yield (" " * first + head).rstrip()
        for each, name, line in zip(table.rows, names, lines, strict=True):
            if each.heading:
                yield each.heading
            if len(name) > first:
                yield name
                name = ""
            yield (name.ljust(first) + line).rstrip()


def in_pieces(widths: Sequence[int], room: int) -> list[list[int]]:
    """Numbers of columns with these widths, as many together as there is room for."""
    pieces: list[list[int]] = [[]]
    for column, width in enumerate(widths):
        if pieces[-1] and sum(widths[k] for k in pieces[-1]) + width > room:
            pieces.append([])
        pieces[-1].append(column)
    return pieces


def page_of(name: str, sections: Iterable[Section], **said: object) -> str:
    """A page of `templates/` with sections.

    Args:
        name: of the template.
        sections: in their order.
        said: what its head says.
    """
    from markupsafe import Markup

    from identify.reporting.drawing import svg

    numbers: dict[str, Iterator[int]] = {}

    def draw(column: Column, key: str) -> Markup:
        return Markup(svg(column, f"{key}{next(numbers.setdefault(key, count(1)))}"))

    shown = list(sections)
    return template(name).render(sections=shown, draw=draw, markup=Markup, **said)


def prose(text: str) -> Markup:
    """Words for a page: what stands in backticks as code, and minus signs in all the rest."""
    from markupsafe import Markup, escape

    pieces = [escape(printable(piece)) for piece in text.split("`")]
    if len(pieces) % 2 == 0:  # one is no mark
        return Markup("`").join(pieces)
    pieces[::2] = [Markup(minus_signs(piece)) for piece in pieces[::2]]
    pieces[1::2] = [Markup("<code>{}</code>").format(piece) for piece in pieces[1::2]]
    return Markup("").join(pieces)


@cache
def template(name: str) -> Template:
    """A page of `templates/`, which escapes all text put into it, control characters too."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    loader = PackageLoader("identify.reporting")
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: printable(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    def script(name: str) -> Markup:
        return Markup(loader.get_source(environment, name)[0])

    def script_digest(name: str) -> str:
        return base64.b64encode(hashlib.sha256(script(name).encode()).digest()).decode()

    environment.filters |= {"typeset": typeset, "prose": prose}
    environment.globals |= {"script": script, "script_digest": script_digest, "paints": PAINTS}
    return environment.get_template(name)
