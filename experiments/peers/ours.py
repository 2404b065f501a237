"""This toolkit: from the same rows only, and from the log with the noise of its motion."""

import numpy as np

from experiments.peers.method import BodyEstimate, Method
from experiments.peers.rows import Rows
from identify import solve
from identify.estimation import Estimate, estimate_body
from identify.inertia import PHI


def from_rows(rows: Rows) -> BodyEstimate:
    """Estimate by `identify.solve` with the channels of the rows."""
    return _answer(solve(rows.A, rows.b, groups=rows.channels))


def from_log(rows: Rows) -> BodyEstimate:
    """Estimate as `identify.fit`, with the noise of the motion."""
    return _answer(estimate_body([rows.statistics]))


def _answer(estimate: Estimate) -> BodyEstimate:
    missing = np.nan, np.nan
    return BodyEstimate(
        estimate.parameters.phi, np.array([estimate.intervals[name] or missing for name in PHI])
    )


SOLVE = Method("identify, rows", "`identify.solve` with the channels of the rows", from_rows)
FIT = Method("identify, log", "as `identify.fit`, with the noise of the motion", from_log)
