"""The sections of a study as Markdown, as one HTML page, and a table of it as LaTeX.

In text and cells a name that a study file gives stands in backticks, which Markdown takes; the page
shows it plainly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from identify.reporting.content import (
    Block,
    Pictures,
    ReportTable,
    Row,
    Section,
    Text,
    Tiles,
    in_pieces,
    markdown,
    page_of,
)
from identify.reporting.study.accuracy import StudyFigure

_PAPER, _GAP = 105, 3
"""Width of a sheet and between columns [characters]."""


def markdown_of(section: Section | None) -> str:
    """A section as Markdown; its pictures are files of their own."""
    if section is None:
        return ""
    parts = [f"## {section.title}"] * bool(section.title)
    for block in section.blocks:
        if isinstance(block, Text):
            parts.append(block.text)
        elif isinstance(block, Tiles):
            said = ([f"- {one.label}: {one.value}", one.detail] for one in block.tiles)
            parts.append("\n".join(", ".join(filter(None, words)) for words in said))
        elif isinstance(block, ReportTable):
            parts += [markdown(block), *[block.caption] * bool(block.caption)]
    return "\n\n".join(parts)


def html_of(title: str, sections: Iterable[Section], figures: Sequence[StudyFigure]) -> str:
    """All sections and figures as one page that needs nothing else."""
    shown = [
        replace(
            one, blocks=tuple(piece for block in one.blocks for piece in _pieces(_plain(block)))
        )
        for one in sections
    ]
    shown += [
        Section(one.name, one.title, (Pictures(one.columns, _bare(one.caption)),))
        for one in figures
    ]
    return page_of("study.html", shown, title=title)


def _plain(block: Block) -> Block:
    """A block without the marks of Markdown."""
    if isinstance(block, Text):
        return replace(block, text=_bare(block.text))
    if isinstance(block, ReportTable):
        return replace(block, rows=tuple(map(_plain_row, block.rows)), caption=_bare(block.caption))
    return block


def _pieces(block: Block) -> Iterator[Block]:
    """A table in as many as a sheet of paper needs, each with the columns that name its rows."""
    if not isinstance(block, ReportTable) or any(head.look == "prose" for head in block.head):
        yield block
        return
    widths = [
        max(len(head.title) // 2, *(len(row.cells[i].text) for row in block.rows), 5) + _GAP
        for i, head in enumerate(block.head)
    ]
    words = sum(head.look != "number" for head in block.head)  # these come first
    pieces = in_pieces(widths[words:], max(_PAPER - sum(widths[:words]), 40))
    for piece in pieces:
        own = (*range(words), *(words + i for i in piece))
        yield ReportTable(
            tuple(block.head[i] for i in own),
            tuple(replace(row, cells=tuple(row.cells[i] for i in own)) for row in block.rows),
            block.caption * (piece is pieces[-1]),
        )


def _plain_row(row: Row) -> Row:
    return replace(row, cells=tuple(replace(one, text=_bare(one.text)) for one in row.cells))


def _bare(text: str) -> str:
    """Text without backticks, stars of emphasis, and addresses of links."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`|\*\*?(?=\S)|(?<=\S)\*\*?", "", text))


_LATEX = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "‖": r"$\Vert$",
    "Δ": r"$\Delta$",
    "²": r"$^2$",
    "≥": r"$\geq$",
    "×": r"$\times$",
    "−": "$-$",
    "–": "--",
    "…": r"\ldots{}",
    "µ": r"$\mu$",
    "σ": r"$\sigma$",
    "°": r"$^\circ$",
}
_NUMBER = re.compile(r"-?\d[\d.]*(?:e-?\d+)?")


def latex_text(text: str) -> str:
    """Text for LaTeX: what has a meaning there is escaped, signs are set as mathematics."""
    return "".join(_LATEX.get(char, char) for char in text)


def latex_of(table: ReportTable) -> str:
    """A table for LaTeX, which needs its package booktabs and no other.

    Words are to the left, numbers to the right; the heading of a group spans all columns.
    """
    columns = "".join("r" if head.look == "number" else "l" for head in table.head)
    lines = [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _line(head.title for head in table.head),
        r"\midrule",
    ]
    for number, row in enumerate(table.rows):
        if row.heading:
            lines += [r"\midrule"] * bool(number)
            lines.append(rf"\multicolumn{{{len(columns)}}}{{l}}{{{latex_text(row.heading)}}} \\")
        lines.append(_line(cell.text for cell in row.cells))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _line(cells: Iterable[str]) -> str:
    return " & ".join(map(_latex_cell, cells)) + r" \\"


def _latex_cell(text: str) -> str:
    """A cell; a number is set as one, its power of ten too."""
    if not _NUMBER.fullmatch(text):
        return latex_text(text)
    mantissa, _, exponent = text.partition("e")
    return f"${mantissa} \\cdot 10^{{{int(exponent)}}}$" if exponent else f"${mantissa}$"
