"""Sections of a study's summary in their order: a new one is a function and a line below."""

from collections.abc import Callable

from identify.reporting.study.rows import StudyRows
from identify.reporting.study.sections.errors import by_log, by_setting, scores
from identify.reporting.study.sections.intervals import coverage
from identify.reporting.study.sections.run import failures, head, times
from identify.reporting.study.targets import targets

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
