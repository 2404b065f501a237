"""Cubic splines, written out: to import `scipy.interpolate` takes as long as to read a log."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dgtsv

from identify.arrays import Array


def cubic_spline(x: Array, y: Array, at: Array) -> Array:
    """The cubic spline through points, without a knot at the second and the last but one.

    Through fewer than four points it is the polynomial of least degree.

    Args:
        x: increasing, shape (n,).
        y: shape (n, k).
        at: where it is wanted, within the range of x or near it, shape (m,).

    Returns:
        Shape (m, k).
    """
    if len(x) < 4:
        powers = np.arange(len(x))
        weights = np.linalg.inv(np.power.outer(x - x[0], powers))
        return np.power.outer(at - x[0], powers) @ (weights @ y)
    step = np.diff(x)[:, None]
    chord = np.diff(y, axis=0) / step
    slope = _slopes(step, chord)
    i = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(x) - 2)
    h, u = step[i], (at - x[i])[:, None]
    # Hermite's form by powers of u: both bends vanish where the slopes are those of the chord.
    first, last = (chord - slope[:-1])[i] / h, (slope[1:] - chord)[i] / h
    return y[i] + u * (slope[i] + u * (2.0 * first - last + (u / h) * (last - first)))


def _slopes(step: Array, chord: Array) -> Array:
    """Derivatives at the points, by the tridiagonal equations of an even second derivative."""
    middle = np.empty(len(step) + 1)
    below, above = np.empty((2, len(step)))
    right = np.empty((len(step) + 1, chord.shape[1]))
    before, after = step[:-1], step[1:]
    middle[1:-1] = 2.0 * (before + after)[:, 0]
    below[:-1], above[1:] = after[:, 0], before[:, 0]
    right[1:-1] = 3.0 * (after * chord[:-1] + before * chord[1:])
    for end, (near, far), (close, next_chord) in (
        (0, step[:2], chord[:2]),
        (-1, step[:-3:-1], chord[:-3:-1]),
    ):
        both = near + far
        middle[end], right[end] = (
            far[0],
            ((near + 2.0 * both) * far * close + near**2 * next_chord) / both,
        )
        (below if end else above)[end] = both[0]
    return dgtsv(below, middle, above, right)[3]
