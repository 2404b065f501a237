"""`StudyFigure`, and labels as figures have room for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from identify.reporting.study.wording import code

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOTE_ROOM = 44
"""Characters that a panel's note has room for, even wide ones."""

TITLE_ROOM = 34
"""The same of a column's title, which is bold."""


@dataclass(frozen=True, slots=True)
class StudyFigure:
    """One figure.

    Attributes:
        name: of its file, without suffix.
        title: a few words, for those who do not see it too.
        caption: Markdown.
        figure: itself.
    """

    name: str
    title: str
    caption: str
    figure: Figure


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
