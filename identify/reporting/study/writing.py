"""Sections of a study as Markdown, and as an HTML page.

Names from a study file are in backticks in text and cells, for Markdown; the page omits these.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from identify.reporting.content import (
    Block,
    Pictures,
    ReportTable,
    Section,
    Text,
    Tiles,
    markdown_table,
    render_page,
    split_columns,
)
from identify.reporting.study.accuracy import StudyFigure

_PAPER, _SHEET_GAP = 105, 3
"""Width of a sheet of paper, and of the gap between columns [characters]."""


def section_markdown(section: Section) -> str:
    """Format a section as Markdown; its pictures are separate files."""
    parts = [f"## {section.title}"] * bool(section.title)
    for block in section.blocks:
        if isinstance(block, Text):
            parts.append(block.text)
        elif isinstance(block, Tiles):
            lines = ([f"- {tile.label}: {tile.value}", tile.detail] for tile in block.tiles)
            parts.append("\n".join(", ".join(filter(None, words)) for words in lines))
        elif isinstance(block, ReportTable):
            parts += [markdown_table(block), *[block.caption] * bool(block.caption)]
    return "\n\n".join(parts)


def page_html(title: str, sections: Iterable[Section], figures: Sequence[StudyFigure]) -> str:
    """Format sections and figures as one self-contained HTML page."""
    shown = [
        replace(
            section,
            blocks=tuple(
                piece
                for block in section.blocks
                for piece in _split_wide_table(_without_markup(block))
            ),
        )
        for section in sections
    ]
    shown += [
        Section(
            figure.name, figure.title, (Pictures(figure.columns, _strip_markdown(figure.caption)),)
        )
        for figure in figures
    ]
    return render_page("study.html", shown, title=title)


def _without_markup(block: Block) -> Block:
    if isinstance(block, Text):
        return replace(block, text=_strip_markdown(block.text))
    if isinstance(block, ReportTable):
        rows = (
            replace(row, cells=tuple(replace(c, text=_strip_markdown(c.text)) for c in row.cells))
            for row in block.rows
        )
        return replace(block, rows=tuple(rows), caption=_strip_markdown(block.caption))
    return block


def _split_wide_table(block: Block) -> Iterator[Block]:
    """Split a table that is too wide for paper; each part repeats the label columns."""
    if not isinstance(block, ReportTable) or any(head.look == "prose" for head in block.head):
        yield block
        return
    widths = [
        max(len(head.title) // 2, *(len(row.cells[i].text) for row in block.rows), 5) + _SHEET_GAP
        for i, head in enumerate(block.head)
    ]
    words = sum(head.look != "number" for head in block.head)  # they come first
    pieces = split_columns(widths[words:], max(_PAPER - sum(widths[:words]), 40))
    for piece in pieces:
        columns = (*range(words), *(words + i for i in piece))
        yield ReportTable(
            tuple(block.head[i] for i in columns),
            tuple(replace(row, cells=tuple(row.cells[i] for i in columns)) for row in block.rows),
            block.caption * (piece is pieces[-1]),
        )


def _strip_markdown(text: str) -> str:
    """Remove backticks, emphasis and link addresses from a text."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`|\*\*?(?=\S)|(?<=\S)\*\*?", "", text))
