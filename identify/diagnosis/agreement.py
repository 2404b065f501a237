"""Whether all logs, and all parts of a log, are of one body."""

from __future__ import annotations

from dataclasses import dataclass

from identify.arrays import Phi
from identify.estimation.least_squares import LeastSquaresFit


@dataclass(frozen=True, slots=True)
class Change:
    """Two parts of the data that are of different bodies.

    Attributes:
        code: "bodies_differ" where a log stands apart, "body_changed" where it is a time in a log.
        log: which log.
        block: first block of the second part; zero for a whole log.
        p_value: that both are one body, every place looked at counted.
        first, second: parameters of the log's parts before and from the block, or of the other
            logs and of this one, shape (10,).
        first_errors, second_errors: standard errors, shape (10,).
    """

    code: str
    log: int
    block: int
    p_value: float
    first: Phi
    second: Phi
    first_errors: Phi
    second_errors: Phi


def changed(fit: LeastSquaresFit) -> tuple[Change, ...]:
    """Logs that are of another body than the others, or times when the body changes in a log."""
    raise NotImplementedError
