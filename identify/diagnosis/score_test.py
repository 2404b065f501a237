"""Score tests of hypotheses at a fit, noise in the motion counted, with scatter over cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from identify.arrays import Array
from identify.diagnosis.facts import LogFacts
from identify.diagnosis.hypotheses import Hypothesis
from identify.estimation.least_squares import LeastSquaresFit


@dataclass(frozen=True, slots=True)
class ScoreTest:
    """What a log says of one hypothesis, at the fit as it is.

    Attributes:
        hypothesis: which.
        size: η of one Gauss-Newton step [SI], shape (d,).
        covariance: of it, shape (d, d).
        p_value: of η = 0.
        tellable: whether the log would show sizes that matter.
    """

    hypothesis: Hypothesis
    size: Array
    covariance: Array
    p_value: float
    tellable: bool


def score_tests(fit: LeastSquaresFit, facts: Sequence[LogFacts]) -> tuple[ScoreTest, ...]:
    """Test every hypothesis that makes sense for the logs of a fit of one body.

    Args:
        fit: of wide statistics (`prepare(…, wide=True)`).
        facts: of each log.
    """
    raise NotImplementedError
