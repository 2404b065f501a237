"""The checks of a fit as objects: its result keeps them in words and numbers alone."""

from collections import deque

from identify import FitResult
from identify.estimation import FittedEffects
from identify.pipeline import fitting
from identify.pipeline.diagnose import Checks
from identify.pipeline.result import CheckSummary, summary_of

_LAST: deque[tuple[CheckSummary, Checks]] = deque(maxlen=64)


def _summary_of(checks: Checks) -> CheckSummary:
    summary = summary_of(checks)
    _LAST.append((summary, checks))
    return summary


fitting.summary_of = _summary_of


def checks_of(result: FitResult) -> Checks:
    """The checks that a result of this process was made with, one of the last 64."""
    return next(checks for summary, checks in _LAST if summary is result.checks)


def effects_of(result: FitResult) -> FittedEffects:
    """The small faults of the sensors that were fitted."""
    effects = checks_of(result).effects
    assert effects is not None
    return effects
