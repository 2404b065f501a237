"""Whether any linear map of the sensor's readings explains more: reported, and not corrected.

The gain of a single axis and crosstalk cannot be told from each other, nor from a turned sensor,
well enough to be named: taken off, they can do more harm than good.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from identify.arrays import Array
from identify.diagnosis.facts import LogFacts
from identify.diagnosis.score_test import Linearised, solve_extra
from identify.estimation.least_squares import LeastSquaresFit
from identify.regressors import SCAN_LAYOUT, WIDE_LAYOUT
from identify.regressors.wrench import W
from identify.spatial import coadjoint

ALARM = 1e-6
"""p of a perfect calibration below which it is reported."""

_OBSERVABLE = 1e-3
"""Share of an entry's effect that body and offset have to leave of a direction of the map."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A linear map of the readings that explains a log better than none.

    Attributes:
        p_value: that there is none.
        change: G of readings (1 + G) [f; t], along what the log shows of it, shape (6, 6), SI.
        directions: how many of its 36 directions the log shows.
    """

    p_value: float
    change: Array
    directions: int

    @property
    def code(self) -> str:
        """Of the finding."""
        return "wrench_calibration"


def calibrated(fit: LeastSquaresFit, facts: Sequence[LogFacts]) -> Calibration | None:
    """Test the calibration of the wrench as a whole; None where nothing is wrong with it.

    Any other cause shows in it too: it means something where there is none left.

    Args:
        fit: of wide statistics.
        facts: of each log, in the order of the fit's data.

    Raises:
        ProblemError: the statistics are not wide, or facts are missing.
    """
    tangents = [_tangent(of_log) for of_log in facts]
    whole = Linearised.of(fit, tangents)
    own = whole.rows[whole.extra : -1, whole.extra : -1]
    norms = np.linalg.norm(whole.rows[:, whole.extra : -1], axis=0)
    norms = np.where(norms > 0.0, norms, np.inf)
    _, shares, Vt = np.linalg.svd(own / norms)
    along = Vt[shares > _OBSERVABLE].T / norms[:, None]
    if not along.shape[1]:
        return None
    shown = Linearised.of(fit, [tangent @ along for tangent in tangents])
    found = solve_extra(shown, slice(0, along.shape[1]))
    if found is None or found.p_by_weights >= ALARM:
        return None
    return Calibration(found.p_by_weights, (along @ found.size).reshape(6, 6), along.shape[1])


def _tangent(facts: LogFacts) -> Array:
    """∂M/∂G of readings (1 + G) w in S, entries of G by rows, shape (40, 19, 36)."""
    into, back = np.eye(6), np.eye(6)
    if facts.X_BS is not None:
        into, back = coadjoint(facts.X_BS), coadjoint(facts.X_BS.inverse())
    tangent = np.zeros((len(WIDE_LAYOUT.columns), len(SCAN_LAYOUT.columns), 36))
    # M has the transpose: rows of M are what is read, its columns what becomes of it.
    tangent[W, W] = np.einsum("ji,kl->ljik", into, back).reshape(6, 6, 36)
    return tangent
