"""Building blocks of report sections; tables as Markdown and for terminals.

All text is plain: the templates escape it and decide how each block looks.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from identify.reporting import colors
from identify.reporting.canvas import Column
from identify.reporting.rounding import minus_signs, typeset
from identify.texts import escape_unprintable

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

    from identify.inertia import InertialParameters
    from identify.pipeline import Result

Tone: TypeAlias = Literal["", "good", "warn", "bad", "muted"]

TERMINAL_WIDTH = 80
"""Width of terminal output [characters]."""

_COLUMN_GAP = 2
_MAX_INLINE_NAME = 24
"""Maximum length of a row's name in a terminal table; a longer name gets its own line."""


@dataclass(frozen=True, slots=True)
class Text:
    """Paragraph of a report."""

    kind: ClassVar = "text"
    text: str
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class BulletList:
    """Bullet list of a report."""

    kind: ClassVar = "points"
    points: tuple[str, ...]
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Tile:
    """Headline numbers with their unit, a label above and details below."""

    label: str
    value: str
    detail: str = ""
    tone: Tone = ""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Tiles:
    """Headline numbers side by side."""

    kind: ClassVar = "tiles"
    tiles: tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table: text with an optional subscript, tooltip, link and background shade.

    The link is a URL relative to the page. The shade goes from -4 (orange) to 4 (blue).
    """

    text: str
    subscript: str = ""
    tooltip: str = ""
    tone: Tone = ""
    link: str = ""
    shade: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """Row of a table, optionally below a group heading; greyed out if muted."""

    cells: tuple[Cell, ...]
    heading: str = ""
    muted: bool = False


@dataclass(frozen=True, slots=True)
class Head:
    """Title of a table column and alignment of its cells: words, numbers or prose."""

    title: str
    look: Literal["words", "number", "prose"] = "words"


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table with one head for each column; the caption explains the columns.

    The look "dense" is for a grid of short numbers, "lines" for one line per row on narrow pages.
    """

    kind: ClassVar = "table"
    head: tuple[Head, ...]
    rows: tuple[Row, ...]
    caption: str = ""
    look: Literal["", "dense", "lines"] = ""


@dataclass(frozen=True, slots=True)
class Pictures:
    """Figures side by side, drawn as SVG when the report is written.

    A narrow page shows them one below the other. The table has their numbers, folded below.
    """

    kind: ClassVar = "pictures"
    columns: tuple[Column, ...]
    caption: str = ""
    table: ReportTable | None = None


@dataclass(frozen=True, slots=True)
class Drawing:
    """Figure as finished SVG markup, with escaped text."""

    kind: ClassVar = "drawing"
    svg: str
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """Listing of a text file behind a title, with a copy button if `copyable`."""

    kind: ClassVar = "listing"
    title: str
    text: str
    copyable: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks behind a title, which a click unfolds."""

    kind: ClassVar = "folded"
    title: str
    blocks: tuple[Block, ...]


Block: TypeAlias = Text | BulletList | Tiles | ReportTable | Pictures | Drawing | Listing | Folded


@dataclass(frozen=True, slots=True)
class Section:
    """Section of a report: anchor, heading (empty for a headline), blocks and tone."""

    key: str
    title: str
    blocks: tuple[Block, ...]
    tone: Tone = ""


SectionBuilder: TypeAlias = "Callable[[Result, InertialParameters | None], Section | None]"
"""Function that makes a report section from a fit and the reference body, or returns None."""


def make_row(*cells: str | Cell, heading: str = "", muted: bool = False) -> Row:
    """Return a table row from cells, which may be given as plain text."""
    return Row(
        tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in cells), heading, muted
    )


def make_table(
    heads: Sequence[str | Head],
    rows: Iterable[Row | Iterable[str | Cell]],
    caption: str = "",
    *,
    word_columns: int = 1,
    look: Literal["", "dense", "lines"] = "",
) -> ReportTable:
    """Return a table; heads given as text are of numbers, but for the leading columns of words."""
    return ReportTable(
        tuple(
            head
            if isinstance(head, Head)
            else Head(head, "number" if k >= word_columns else "words")
            for k, head in enumerate(heads)
        ),
        tuple(cells if isinstance(cells, Row) else make_row(*cells) for cells in rows),
        caption,
        look,
    )


def with_headings(groups: Sequence[str], rows: Iterable[Row]) -> tuple[Row, ...]:
    """Return table rows with a heading above the first row of each group."""
    previous = ("", *groups)
    return tuple(
        replace(line, heading="" if group == last else group)
        for line, group, last in zip(rows, groups, previous, strict=False)
    )


def markdown_table(table: ReportTable) -> str:
    """Return a table as Markdown."""
    heads = [head.title for head in table.head]
    alignments = ["--:" if head.look == "number" else "---" for head in table.head]
    cells = ([cell.text for cell in line.cells] for line in table.rows)
    lines = ([text.replace("|", "\\|") for text in line] for line in (heads, alignments, *cells))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def terminal_lines(table: ReportTable) -> Iterator[str]:
    """Format a table for a terminal, split into several tables if it is too wide.

    The first column has the names of the rows and is repeated; all others are right-aligned.
    """
    indent = "  " if any(line.heading for line in table.rows) else ""
    names = [indent + line.cells[0].text for line in table.rows]
    name_width = max([8, *(len(name) for name in names if len(name) <= _MAX_INLINE_NAME)])
    columns = [[head.title] for head in table.head[1:]]
    for line in table.rows:
        for column, cell in zip(columns, line.cells[1:], strict=True):
            column.append(cell.text)
    aligned = [[text.rjust(max(map(len, column))) for text in column] for column in columns]
    widths = [_COLUMN_GAP + len(column[0]) for column in aligned]
    for group in split_columns(widths, TERMINAL_WIDTH - name_width):
        if group[0]:
            yield ""
        cells = zip(*(aligned[column] for column in group), strict=True)
        head, *lines = ("".join(" " * _COLUMN_GAP + text for text in texts) for texts in cells)
        yield (" " * name_width + head).rstrip()
        for table_row, name, line in zip(table.rows, names, lines, strict=True):
            if table_row.heading:
                yield table_row.heading
            if len(name) > name_width:
                yield name
                name = ""
            yield (name.ljust(name_width) + line).rstrip()


def split_columns(widths: Sequence[int], max_width: int) -> list[list[int]]:
    """Split columns of given widths into groups of at most a total width."""
    groups: list[list[int]] = [[]]
    for column, width in enumerate(widths):
        if groups[-1] and sum(widths[k] for k in groups[-1]) + width > max_width:
            groups.append([])
        groups[-1].append(column)
    return groups


def render_page(
    name: str,
    sections: Iterable[Section | None],
    written: datetime | None = None,
    **variables: object,
) -> str:
    """Render a page of `templates/` with all sections that exist, by default written now."""
    from markupsafe import Markup

    from identify.reporting.drawing import column_svg

    figure_numbers: dict[str, Iterator[int]] = {}

    def draw(column: Column, key: str) -> Markup:
        return Markup(column_svg(column, f"{key}{next(figure_numbers.setdefault(key, count(1)))}"))

    variables |= {"sections": [*filter(None, sections)], "draw": draw, "markup": Markup}
    variables["written"] = written or datetime.now().astimezone()
    return load_template(name).render(**variables)


def markup_of_text(text: str) -> Markup:
    """Convert text to markup: backticks become code, hyphens of numbers become minus signs."""
    from markupsafe import Markup, escape

    pieces = [escape(escape_unprintable(piece)) for piece in text.split("`")]
    if len(pieces) % 2 == 0:  # a backtick without its counterpart
        return Markup("`").join(pieces)
    pieces[::2] = [Markup(minus_signs(piece)) for piece in pieces[::2]]
    pieces[1::2] = [Markup("<code>{}</code>").format(piece) for piece in pieces[1::2]]
    return Markup("").join(pieces)


@cache
def load_template(name: str) -> Template:
    """Load a template of `templates/`, which escapes all text, including control characters."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    loader = PackageLoader("identify.reporting")
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: escape_unprintable(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    def script(name: str) -> Markup:
        return Markup(loader.get_source(environment, name)[0])

    def script_digest(name: str) -> str:
        return base64.b64encode(hashlib.sha256(script(name).encode()).digest()).decode()

    environment.filters |= {"typeset": typeset, "prose": markup_of_text}
    environment.globals |= {
        "script": script,
        "script_digest": script_digest,
        "colors": colors.CSS_VARIABLES,
    }
    return environment.get_template(name)
