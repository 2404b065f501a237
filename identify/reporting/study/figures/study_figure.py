"""`StudyFigure`: a figure with its file name and what is written under it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
