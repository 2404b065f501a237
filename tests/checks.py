"""The checks of a fit as objects: its result keeps them in words and numbers alone."""

from collections import deque
from collections.abc import Sequence

import pytest

from identify import Recording, Result, fit
from identify.estimation import FittedEffects
from identify.findings import Finding
from identify.pipeline import correcting, wrench_fit
from identify.pipeline.checks import Checks
from identify.pipeline.result import CheckSummary, summarise_checks

_LAST: deque[tuple[CheckSummary, Checks]] = deque(maxlen=64)


def _summarise_checks(checks: Checks, findings: Sequence[Finding]) -> CheckSummary:
    summary = summarise_checks(checks, findings)
    _LAST.append((summary, checks))
    return summary


wrench_fit.summarise_checks = _summarise_checks


def checks_of(result: Result) -> Checks:
    """The checks that a result of this process was made with, one of the last 64."""
    return next(checks for summary, checks in _LAST if summary is result.checks)


def effects_of(result: Result) -> FittedEffects:
    """The small faults of the sensors that were fitted."""
    effects = checks_of(result).small_faults
    assert effects is not None
    return effects


def fit_corrected(recording: Recording | Sequence[Recording], found: Result, *codes: str) -> Result:
    """Fit a log with codes corrected, by what a check of this process has already found of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(correcting, "run_checks", lambda *_, **__: checks_of(found))
        return fit(recording, apply=codes)
