"""What the 95 % intervals hold, how wide they are, and the errors they should match."""

from __future__ import annotations

import numpy as np

from identify.arrays import Array, Phi
from identify.estimation.intervals import derived
from identify.experiments.estimators import Answer
from identify.experiments.metrics.metric import NAMES, Values
from identify.inertia import PHI


def covered(answer: Answer, truth: Phi | None) -> Values:
    """1 where the interval holds the true value, 0 where not; nothing where there is none.

    What was given, not estimated, has an interval of no width, which is no claim to be tested.
    """
    return {
        name: float(bound[0] <= value <= bound[1])
        for name, value in zip(NAMES, _values(truth), strict=True)
        if (bound := answer.intervals.get(name)) is not None and bound[0] < bound[1]
    }


def half_width(answer: Answer, truth: Phi | None) -> Values:
    """Half of each interval, in the parameter's unit."""
    return {
        name: 0.5 * (bound[1] - bound[0])
        for name, bound in answer.intervals.items()
        if bound is not None
    }


def error(answer: Answer, truth: Phi | None) -> Values:
    """Estimate less truth, signed, in the parameter's unit."""
    difference = _values(answer.phi) - _values(truth)
    return dict(zip(NAMES, map(float, difference), strict=True))


def estimate(answer: Answer, truth: Phi | None) -> Values:
    """The ten parameters themselves."""
    return dict(zip(PHI, map(float, answer.phi), strict=True))


def _values(phi: Phi | None) -> Array:
    return np.full(len(NAMES), np.nan) if phi is None else np.concatenate((phi, derived(phi)))
