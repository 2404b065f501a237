"""Hysteresis of a sensor: its wrench follows the true one by a dead zone, like gears with play."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from identify.arrays import Array, Indices, Mat66, Phi, Vec6
from identify.diagnosis.contacts import segment_edges
from identify.regressors import FEATURE_TENSOR
from identify.signals.wrench_play import play
from identify.significance import CLEAR_LIKELIHOOD_LEAD
from identify.spatial.columns import FEATURES, WRENCH

_HALF_WINDOW = 2
"""Half window [rows] of the quadratic polynomials that smooth wrenches: play would take noise of
the motion for its own lag."""

_INDEPENDENT_SHARE = 0.4
"""Share of smoothed rows that are independent of the others: the pass-band of the polynomials."""

_BODY_FITS = 3
"""Number of fits of the widths: the body is fitted again between them, without the play."""

_MIN_ROWS = 40
"""Fewest rows of a series in which hysteresis can be detected."""

_MAX_ROWS = 10_000
"""Most rows of a series that are used, from its beginning: dead zones need consecutive rows."""

_WIDTH_SHARES = np.geomspace(0.002, 0.3, 25)
"""Widths of dead zones that are compared, as shares of the range of a channel."""

_REFINEMENTS = np.linspace(0.75, 1.35, 13)
"""Ratios to the best of these widths that are compared next."""


class Hysteresis(NamedTuple):
    """Dead zones of a sensor's channels.

    Attributes:
        widths: width of each channel's dead zone [N, N m]; zero if not significant, shape (6,).
        errors: standard errors of the widths, shape (6,).
        ranges: range of the body's wrench in each channel, shape (6,).
        delay: part of the fitted delay that the dead zones explain [s].
    """

    widths: Vec6
    errors: Vec6
    ranges: Vec6
    delay: float


def fit_hysteresis(
    time: Array, rows: Array, segment_ids: Indices, phi: Phi, to_sensor: Mat66
) -> Hysteresis | None:
    """Fit dead zones to the residual of a fit: r = b + g w + τ dw/dt + c d²w/dt² + play(w) − w.

    A gain, a delay and a filter cause the other terms, which are fitted by least squares. Widths
    are found in each channel by likelihood, with a BIC penalty.

    `time`: time of the series [s], shape (n,); `rows`: z = [1, ψ, w, …], without the small faults
    that were fitted, shape (n, K); `segment_ids`: number of the segment of each row, shape (n,);
    `phi`: parameters of the body, shape (10,); `to_sensor`: maps wrenches at Bo in B to the sensor,
    in its axes, shape (6, 6).
    Returns the dead zones; None for a short series, and if dead zones do not explain it clearly
    better.
    """
    used = slice(_MAX_ROWS)
    edges = [(a, b) for a, b in segment_edges(segment_ids[used]) if b - a > 6 * _HALF_WINDOW]
    if sum(b - a for a, b in edges) < _MIN_ROWS:
        return None
    features = [_smooth(rows[a:b, FEATURES]) for a, b in edges]
    # As often smoothed as the error of play at the smoothed wrench.
    logged = np.concatenate([_smooth(_smooth(rows[a:b, WRENCH])) for a, b in edges]) @ to_sensor.T
    period = float(np.median(np.diff(time[used])))
    to_wrench = np.einsum("fwp,sw->fsp", FEATURE_TENSOR, to_sensor)
    channels = _Channels.of(logged, features, to_wrench @ phi, period)
    for _ in range(1, _BODY_FITS):
        phi = phi + channels.body_change(features, to_wrench)
        channels = _Channels.of(logged, features, to_wrench @ phi, period)
    is_clear = channels.gains > 0.0
    if channels.gains[is_clear].sum() < CLEAR_LIKELIHOOD_LEAD:
        return None
    delay = float(channels.delays @ channels.weights / channels.weights.sum())
    widths = np.where(is_clear, channels.widths, 0.0)
    return Hysteresis(widths, channels.errors, channels.ranges, delay)


@dataclass(frozen=True, slots=True)
class _Channels:
    """Dead zones as fitted to each channel by itself, with the body's wrench given.

    Attributes:
        widths, errors: widths with standard errors, shape (6,).
        ranges: of the body's wrench, shape (6,).
        gains: twice the log-likelihood ratio to no dead zone, less the penalty, shape (6,).
        delays: coefficients of the wrench's rate beside the dead zones [s], shape (6,).
        weights: inverse variances of the delays, shape (6,).
        residual: of the logged wrench without body and play, shape (n, 6).
        linear: orthonormal basis of offset, delay and filter in each channel, shape (6, n, 3).
        noise: RMS of what is left, shape (6,).
    """

    widths: Vec6
    errors: Vec6
    ranges: Vec6
    gains: Vec6
    delays: Vec6
    weights: Vec6
    residual: Array
    linear: Array
    noise: Vec6

    @classmethod
    def of(
        cls, logged: Array, features: Sequence[Array], feature_wrench_map: Array, period: float
    ) -> _Channels:
        acting = [part @ feature_wrench_map for part in features]
        now = np.concatenate([_smooth(part) for part in acting])
        rates = [np.gradient(part, period, axis=0) for part in acting]
        rate = np.concatenate([_smooth(part) for part in rates])
        bend = np.concatenate([_smooth(np.gradient(part, period, axis=0)) for part in rates])
        residual = logged - now
        count = _INDEPENDENT_SHARE * len(now)
        widths, errors, gains, delays, weights, noise = np.zeros((6, 6))
        linear = np.zeros((6, len(now), 3))
        ranges = np.ptp(now, axis=0)
        for channel in np.flatnonzero(ranges > 0.0).tolist():
            terms = [x[:, channel] for x in (rate, np.ones_like(now), bend, now)]
            basis, triangle = np.linalg.qr(np.stack(terms, axis=1))

            def without_play(tried: Array, channel: int = channel) -> Array:
                parts = [part[:, channel, None] for part in acting]
                error = np.concatenate([_smooth(play(part, tried) - part) for part in parts])
                return residual[:, channel, None] - error

            def deviances(values: Array, basis: Array = basis) -> Array:
                power = np.sum(values**2, axis=0) - np.sum((basis.T @ values) ** 2, axis=0)
                return count * np.log(np.maximum(power, np.finfo(float).tiny))

            tried = _WIDTH_SHARES * ranges[channel]
            best = tried[np.argmin(deviances(without_play(tried)))]
            tried = np.append(0.0, _REFINEMENTS * best)
            cost = deviances(without_play(tried))
            widths[channel], errors[channel] = _vertex(tried[1:], cost[1:])
            values = without_play(widths[[channel]])
            gains[channel] = cost[0] - deviances(values)[0] - np.log(count)
            residual[:, channel] = values[:, 0]
            linear[channel] = basis[:, :3]
            coefficients = np.linalg.solve(triangle, basis.T @ values[:, 0])
            noise[channel] = np.sqrt(np.exp(deviances(values)[0] / count) / len(now))
            delays[channel] = coefficients[0]
            weights[channel] = np.mean(rate[:, channel] ** 2) / noise[channel] ** 2
        return cls(widths, errors, ranges, gains, delays, weights, residual, linear, noise)

    def body_change(self, features: Sequence[Array], to_wrench: Array) -> Phi:
        """Return the change of the parameters by least squares of what is left, shape (10,).

        `to_wrench`: maps features and parameters to the channels, shape (12, 6, 10).
        """
        smooth = np.concatenate([_smooth(part) for part in features])
        design, values = [], []
        for channel in np.flatnonzero(self.noise > 0.0).tolist():
            both = np.column_stack((smooth @ to_wrench[:, channel], self.residual[:, channel]))
            basis = self.linear[channel]
            both = (both - basis @ (basis.T @ both)) / self.noise[channel]
            design.append(both[:, :-1])
            values.append(both[:, -1])
        solution, *_ = np.linalg.lstsq(np.concatenate(design), np.concatenate(values), rcond=1e-8)
        return solution


def _smooth(values: Array) -> Array:
    """Smooth columns by local quadratic polynomials, edges trimmed (Savitzky and Golay 1964)."""
    m, i = _HALF_WINDOW, np.arange(-_HALF_WINDOW, _HALF_WINDOW + 1)
    weights = 3.0 * (3 * m**2 + 3 * m - 1 - 5 * i**2) / ((2 * m - 1) * (2 * m + 1) * (2 * m + 3))
    return sliding_window_view(values, len(weights), axis=0) @ weights


def _vertex(x: Array, cost: Array) -> tuple[float, float]:
    """Return minimum and standard error by the parabola through three costs, −2 log-likelihood."""
    lowest = int(np.argmin(cost))
    k = int(np.clip(lowest, 1, len(x) - 2))
    curvature, slope, _ = np.polyfit(x[k - 1 : k + 2] - x[k], cost[k - 1 : k + 2], 2)
    if curvature <= 0.0:
        return float(x[lowest]), float(x[1] - x[0])
    step = float(np.clip(-slope / (2.0 * curvature), x[k - 1] - x[k], x[k + 1] - x[k]))
    return float(x[k]) + step, float(1.0 / np.sqrt(curvature))
