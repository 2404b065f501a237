"""This toolkit: from the same rows alone, and from the log with the noise of its motion."""

import numpy as np

from experiments.peers.method import Answer, Method
from experiments.peers.rows import Rows
from identify.estimation import Estimate, estimate_body, solve
from identify.inertia import PHI


def from_rows(rows: Rows) -> Answer:
    """`identify.solve`: what is known of the rows is which channel they are of."""
    return _answer(solve(rows.A, rows.b, groups=rows.channels))


def from_log(rows: Rows) -> Answer:
    """The estimate of `identify.fit`, which knows the noise of the motion too."""
    return _answer(estimate_body([rows.statistics]))


def _answer(estimate: Estimate) -> Answer:
    none = np.nan, np.nan
    return Answer(
        estimate.parameters.phi, np.array([estimate.intervals[name] or none for name in PHI])
    )


SOLVE = Method("identify, rows", "`identify.solve` with the channels of the rows", from_rows)
FIT = Method("identify, log", "as `identify.fit`: noise of the motion counted", from_log)
