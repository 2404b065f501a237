"""Sections of a study's summary in their order: a new one is a file here and a line below."""

from collections.abc import Callable

from identify.reporting.study.sections.by_log import by_log
from identify.reporting.study.sections.by_setting import by_setting
from identify.reporting.study.sections.coverage import coverage
from identify.reporting.study.sections.failures import failures
from identify.reporting.study.sections.head import head
from identify.reporting.study.sections.scores import scores
from identify.reporting.study.sections.targets import targets
from identify.reporting.study.sections.times import times
from identify.reporting.study.study_rows import StudyRows

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

__all__ = ["SECTIONS"]
