"""`write_summary`: summary.md and its figures beside the results of a study."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from identify.files import write_bytes, write_text
from identify.reporting.canvas import png
from identify.reporting.study.figures.accuracy import accuracy_figures
from identify.reporting.study.figures.coverage import coverage_figures
from identify.reporting.study.figures.study_figure import StudyFigure
from identify.reporting.study.rows import StudyRows
from identify.reporting.study.sections.errors import by_log, by_setting, scores
from identify.reporting.study.sections.intervals import coverage
from identify.reporting.study.sections.run import failures, head, times
from identify.reporting.study.targets import targets

SUMMARY = "summary.md"

SECTIONS: tuple[Callable[[StudyRows], str], ...] = (
    head,
    targets,
    scores,
    by_setting,
    failures,
    coverage,
    by_log,
    times,
)
"""Each makes Markdown, or nothing where it has nothing to say."""

FIGURES: tuple[Callable[[StudyRows], list[StudyFigure]], ...] = (accuracy_figures, coverage_figures)
"""Each makes the figures that the rows allow."""


def write_summary(rows: StudyRows, folder: Path) -> tuple[Path, ...]:
    """Write the tables as Markdown and the figures as PNG; earlier ones are replaced.

    Args:
        rows: of the study.
        folder: there already; other pages in it are linked.

    Returns:
        The files, summary.md first.

    Raises:
        OSError: the folder cannot be written to.
    """
    figures = [figure for draw in FIGURES for figure in draw(rows)]
    text = [said for section in SECTIONS if (said := section(rows))]
    pages = sorted(path for path in folder.glob("*.md") if path.name != SUMMARY)
    if pages:
        text[1:1] = ["Beside it: " + ", ".join(f"[{path.stem}]({path.name})" for path in pages)]
    text += ["## Figures"] * bool(figures)
    text += [f"![{figure.title}]({figure.name}.png)\n\n{figure.caption}" for figure in figures]
    write_text(folder / SUMMARY, "\n\n".join(text) + "\n")
    paths = [folder / f"{figure.name}.png" for figure in figures]
    for figure, path in zip(figures, paths, strict=True):
        write_bytes(path, png(figure.figure))
    return (folder / SUMMARY, *paths)
