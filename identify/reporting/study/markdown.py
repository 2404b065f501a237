"""Markdown tables."""

from __future__ import annotations

from collections.abc import Sequence


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, words: int = 1) -> str:
    """A Markdown table.

    Args:
        heads: of the columns.
        rows: their cells.
        words: how many columns, from the left, hold words; the others hold numbers.
    """
    marks = ["---" if place < words else "--:" for place in range(len(heads))]
    lines = [_line(heads), f"| {' | '.join(marks)} |", *map(_line, rows)]
    return "\n".join(lines)


def code(text: str) -> str:
    """A name or message as it was written, on one line."""
    words = " ".join(text.split()).replace("`", "'")
    return f"`{words}`"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
