"""Labels as figures have room for them, and legends that do not run into the title."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from identify.reporting.canvas import RIGHT, WIDTH
from identify.reporting.study.markdown import code

NOTE_ROOM = 44
"""Characters that a panel's note has room for, even wide ones."""

TITLE_ROOM = 34
"""The same of a column's title, which is bold."""

_CHARACTER = 0.075
"""Width of a character of a legend [in], a wide one."""

_BOLD = 0.1
_MARK = 0.36
"""Room of a legend's mark with the gaps beside it [in]."""

_ROW = 0.17


@dataclass(frozen=True, slots=True)
class Legend:
    """How the legend of a column is set.

    Attributes:
        columns: entries in a row below the title; None: one row, to the right of the title.
        above: room for it between the title and the first panel [in].
    """

    columns: int | None = None
    above: float = 0.0


def legend(labels: Sequence[str], titles: Sequence[str]) -> Legend:
    """One row beside the title where there is room beside the longest, else rows below it."""
    beside = WIDTH - RIGHT - _BOLD * max(map(len, titles), default=0)
    if sum(_MARK + _CHARACTER * len(label) for label in labels) <= beside:
        return Legend()
    widest = _MARK + _CHARACTER * max(map(len, labels))
    columns = min(len(labels), max(1, int((WIDTH - 2.0 * RIGHT) / widest)))
    rows = math.ceil(len(labels) / columns)
    # Rows as even as they can be, rather than a last one of a single entry.
    return Legend(math.ceil(len(labels) / rows), rows * _ROW)


def clipped(text: str, room: int) -> str:
    """A text of at most `room` characters, with an ellipsis where some are left out."""
    return text if len(text) <= room else text[: room - 1].rstrip() + "…"


def fitted(labels: Sequence[str], room: int) -> dict[str, str]:
    """What is shown for each label: itself, or numbered and clipped where one is too long."""
    if all(len(label) <= room for label in labels):
        return {label: label for label in labels}
    return {label: clipped(f"{i}: {label}", room) for i, label in enumerate(labels, start=1)}


def key(shown: dict[str, str]) -> str:
    """The numbered labels in full, for the caption; empty where all are shown as they are."""
    if all(label == short for label, short in shown.items()):
        return ""
    return " " + ", ".join(f"{i}: {code(label)}" for i, label in enumerate(shown, start=1)) + "."
