"""Figures of a study: a new one is a file here and a line below."""

from identify.reporting.study.figures.accuracy import accuracy_figures
from identify.reporting.study.figures.coverage import coverage_figures
from identify.reporting.study.figures.study_figure import StudyFigure
from identify.reporting.study.rows import StudyRows

__all__ = ["StudyFigure", "study_figures"]


def study_figures(rows: StudyRows) -> list[StudyFigure]:
    """All figures that the rows allow."""
    return [*accuracy_figures(rows), *coverage_figures(rows)]
