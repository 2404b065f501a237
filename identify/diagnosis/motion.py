"""What a log excites, in words: what it tells, and what motion would tell the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from identify.arrays import Array
from identify.diagnosis.score_test import ScoreTest
from identify.estimation.least_squares import LeastSquaresFit


@dataclass(frozen=True, slots=True)
class Excitation:
    """How far a log moves its body.

    Attributes:
        rates: root mean square of ω in B [rad/s], shape (3,).
        angular_accelerations: of α in B [rad/s²], shape (3,).
        turned: root mean square of how far the proper acceleration's direction strays [rad].
        identifiable: names of the parameters that the data identify.
        missing: names of the others.
        advice: what is not told, why, and what would tell it, a sentence each.
    """

    rates: Array
    angular_accelerations: Array
    turned: float
    identifiable: tuple[str, ...]
    missing: tuple[str, ...]
    advice: tuple[str, ...]


def excitation(fit: LeastSquaresFit, tests: Sequence[ScoreTest] = ()) -> Excitation:
    """What a fit's logs excite.

    Args:
        fit: of a body's wrench.
        tests: of the hypotheses, for what of them the log does not tell.
    """
    raise NotImplementedError
