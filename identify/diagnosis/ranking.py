"""Which continuous causes explain a log, ranked by what they gain in likelihood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from identify.arrays import Array
from identify.diagnosis.facts import LogFacts
from identify.diagnosis.hypotheses import Hypothesis
from identify.diagnosis.score_test import ScoreTest
from identify.estimation.least_squares import LeastSquaresFit
from identify.regressors import Statistics


@dataclass(frozen=True, slots=True)
class Cause:
    """One continuous cause, at the size that fits best.

    Attributes:
        hypothesis: which; its `code` is that of the finding.
        size: η [SI], shape (d,).
        half_width: of the 95 % interval of each component [SI], shape (d,).
        p_value: of the score test that raised it.
        gain: twice the log-likelihood it gains, its parameters paid for.
        equivalent: codes of other causes that explain the log as well; where there is one, none is
            to be corrected.
        maps: M of all wide columns for each log, shape (40, 40) each.
        remedy: the line of the schema, or the action.
    """

    hypothesis: Hypothesis
    size: Array
    half_width: Array
    p_value: float
    gain: float
    equivalent: tuple[str, ...]
    maps: tuple[Array, ...]
    remedy: str

    @property
    def code(self) -> str:
        """Of the finding."""
        return self.hypothesis.code

    @property
    def interval(self) -> tuple[Array, Array]:
        """95 % bounds of each component [SI]."""
        return self.size - self.half_width, self.size + self.half_width


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All continuous causes of a log, in the order in which they were found.

    Attributes:
        causes: at most three.
        tests: of the log as read, one for each hypothesis that makes sense for it.
        statistics: of the logs with the causes corrected, wide, in the order of the fit's data.
        fit: least squares of those; the fit as given where there is no cause.
    """

    causes: tuple[Cause, ...]
    tests: tuple[ScoreTest, ...]
    statistics: Statistics
    fit: LeastSquaresFit

    @property
    def untellable(self) -> tuple[Hypothesis, ...]:
        """What the log does not move enough to show."""
        return tuple(test.hypothesis for test in self.tests if not test.tellable)


def causes(fit: LeastSquaresFit, facts: Sequence[LogFacts]) -> Diagnosis:
    """Find the continuous causes of what a fit of one body leaves.

    Args:
        fit: of wide statistics, one entry of data.
        facts: of each log.
    """
    raise NotImplementedError
