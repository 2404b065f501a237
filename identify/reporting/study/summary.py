"""`write_summary`: summary.md and its figures beside the results of a study."""

from __future__ import annotations

from pathlib import Path

from identify.files import write_bytes, write_text
from identify.reporting.canvas import png
from identify.reporting.study.figures import study_figures
from identify.reporting.study.rows import StudyRows
from identify.reporting.study.sections import SECTIONS

SUMMARY = "summary.md"


def write_summary(rows: StudyRows, folder: Path) -> tuple[Path, ...]:
    """Write the tables as Markdown and the figures as PNG; earlier ones are replaced.

    Args:
        rows: of the study.
        folder: there already.

    Returns:
        The files, summary.md first.

    Raises:
        OSError: the folder cannot be written to.
    """
    figures = study_figures(rows)
    first, *others = (text for section in SECTIONS if (text := section(rows)))
    shown = [f"![{figure.title}]({figure.name}.png)\n\n{figure.caption}" for figure in figures]
    write_text(folder / SUMMARY, "\n\n".join([first, *others, *_headed(shown)]) + "\n")
    paths = [folder / f"{figure.name}.png" for figure in figures]
    for figure, path in zip(figures, paths, strict=True):
        write_bytes(path, png(figure.figure))
    return (folder / SUMMARY, *paths)


def _headed(shown: list[str]) -> list[str]:
    return ["## Figures", *shown] if shown else []
