"""Hysteresis of a sensor: its wrench follows the true one by a dead zone, like gears with play."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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

_MIN_POSES = 12
"""Fewest static poses in which hysteresis can be detected."""

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
        lead: twice the log-likelihood ratio to no dead zones, less the penalty.
    """

    widths: Vec6
    errors: Vec6
    ranges: Vec6
    delay: float
    lead: float


def fit_hysteresis(
    time: Array,
    rows: Array,
    segment_ids: Indices,
    phi: Phi,
    to_sensor: Mat66,
    *,
    is_still: bool = False,
) -> Hysteresis | None:
    """Fit dead zones to the residual of a fit: r = b + g w + τ dw/dt + c d²w/dt² + play(w) − w.

    A gain, a delay and a filter cause the other terms, which are fitted by least squares. Widths
    are found in each channel by likelihood, with a BIC penalty.

    `time`: time of the series [s], shape (n,); `rows`: z = [1, ψ, w, …], without the small faults
    that were fitted, shape (n, K); `segment_ids`: number of the segment of each row, shape (n,);
    `phi`: parameters of the body, shape (10,); `to_sensor`: maps wrenches at Bo in B to the sensor,
    in its axes, shape (6, 6); `is_still`: whether the rows are static poses, without rates: each
    is then taken to be reached from the one before.
    Returns the dead zones; None for a short series, and if dead zones do not explain it clearly
    better.
    """
    used = slice(_MAX_ROWS)
    if is_still:
        sampling, edges = _POSES, [(0, len(rows[used]))]
    else:
        sampling = _Sampling(_smooth, _INDEPENDENT_SHARE, float(np.median(np.diff(time[used]))))
        edges = [(a, b) for a, b in segment_edges(segment_ids[used]) if b - a > 6 * _HALF_WINDOW]
    if sum(b - a for a, b in edges) < (_MIN_POSES if is_still else _MIN_ROWS):
        return None
    smooth = sampling.smooth
    features = [smooth(rows[a:b, FEATURES]) for a, b in edges]
    # As often smoothed as the error of play at the smoothed wrench.
    logged = np.concatenate([smooth(smooth(rows[a:b, WRENCH])) for a, b in edges]) @ to_sensor.T
    to_wrench = np.einsum("fwp,sw->fsp", FEATURE_TENSOR, to_sensor)
    channels = _fit_channels(logged, features, to_wrench @ phi, sampling)
    for _ in range(1, _BODY_FITS):
        phi = phi + _body_change(channels, features, to_wrench, sampling)
        channels = _fit_channels(logged, features, to_wrench @ phi, sampling)
    lead = sum(channel.gain for channel in channels if channel.gain > 0.0)
    if lead < CLEAR_LIKELIHOOD_LEAD:
        return None
    weights = np.array([channel.delay_weight for channel in channels])
    delays = np.array([channel.delay for channel in channels])
    return Hysteresis(
        widths=np.array([c.width if c.gain > 0.0 else 0.0 for c in channels]),
        errors=np.array([channel.error for channel in channels]),
        ranges=np.array([channel.wrench_range for channel in channels]),
        delay=float(delays @ weights / weights.sum()),
        lead=float(lead),
    )


class _Sampling(NamedTuple):
    """Sampling of a series: how its rows are smoothed, and which share of them is independent.

    `period`: [s]; None for static poses, which have no rates.
    """

    smooth: Callable[[Array], Array]
    independent_share: float
    period: float | None

    def stacked(self, parts: Sequence[Array]) -> Array:
        """Smooth parts and stack their rows."""
        return np.concatenate([self.smooth(part) for part in parts])


_POSES = _Sampling(lambda values: values, 1.0, None)


@dataclass(frozen=True, slots=True)
class _Channel:
    """Dead zone as fitted to one channel, with the body's wrench given.

    Attributes:
        width, error: width with its standard error.
        wrench_range: range of the body's wrench; 0 without one, and nothing is fitted.
        gain: twice the log-likelihood ratio to no dead zone, less the penalty.
        delay: coefficient of the wrench's rate beside the dead zone [s].
        delay_weight: inverse variance of the delay.
        residual: of the logged wrench without body and play, shape (n,).
        linear: orthonormal basis of offset, and of delay and filter in motion, shape (n, k).
        noise: RMS of what is left.
    """

    width: float = 0.0
    error: float = 0.0
    wrench_range: float = 0.0
    gain: float = 0.0
    delay: float = 0.0
    delay_weight: float = 0.0
    residual: Array = field(default_factory=lambda: np.zeros(0))
    linear: Array = field(default_factory=lambda: np.zeros((0, 3)))
    noise: float = 0.0


def _fit_channels(
    logged: Array, features: Sequence[Array], feature_wrench_map: Array, sampling: _Sampling
) -> list[_Channel]:
    parts = [part @ feature_wrench_map for part in features]
    return [
        _fit_channel(logged[:, channel], [part[:, channel] for part in parts], sampling)
        for channel in range(6)
    ]


def _fit_channel(logged: Array, acting: Sequence[Array], sampling: _Sampling) -> _Channel:
    """Fit a dead zone: twice smoothed values, and the body's wrench in parts, smoothed once."""
    now = sampling.stacked(acting)
    wrench_range = float(np.ptp(now))
    if wrench_range == 0.0:
        return _Channel()
    rate, terms = np.ones_like(now), [np.ones_like(now), now]
    if sampling.period is not None:
        rates = [np.gradient(part, sampling.period) for part in acting]
        bends = [np.gradient(part, sampling.period) for part in rates]
        rate = sampling.stacked(rates)
        terms = [rate, np.ones_like(now), sampling.stacked(bends), now]
    basis, triangle = np.linalg.qr(np.stack(terms, axis=1))
    count = sampling.independent_share * len(now)

    def without_play(widths: Array) -> Array:
        error = sampling.stacked([play(part[:, None], widths) - part[:, None] for part in acting])
        return (logged - now)[:, None] - error

    def deviances(values: Array) -> Array:
        power = np.sum(values**2, axis=0) - np.sum((basis.T @ values) ** 2, axis=0)
        return count * np.log(np.maximum(power, np.finfo(float).tiny))

    coarse = _WIDTH_SHARES * wrench_range
    best = coarse[np.argmin(deviances(without_play(coarse)))]
    fine = np.append(0.0, _REFINEMENTS * best)
    costs = deviances(without_play(fine))
    width, error = _vertex(fine[1:], costs[1:])
    residual = without_play(np.array([width]))
    cost = float(deviances(residual)[0])
    noise = float(np.sqrt(np.exp(cost / count) / len(now)))
    coefficients = np.linalg.solve(triangle, basis.T @ residual[:, 0])
    return _Channel(
        width=width,
        error=error,
        wrench_range=wrench_range,
        gain=float(costs[0]) - cost - float(np.log(count)),
        delay=0.0 if sampling.period is None else float(coefficients[0]),
        delay_weight=float(np.mean(rate**2)) / noise**2,
        residual=residual[:, 0],
        linear=basis[:, :-1],
        noise=noise,
    )


def _body_change(
    channels: Sequence[_Channel],
    features: Sequence[Array],
    to_wrench: Array,
    sampling: _Sampling,
) -> Phi:
    """Return the change of the parameters by least squares of what is left, shape (10,).

    `to_wrench`: maps features and parameters to the channels, shape (12, 6, 10).
    """
    smooth = sampling.stacked(features)
    design, values = [], []
    for number, channel in enumerate(channels):
        if channel.noise == 0.0:
            continue
        both = np.column_stack((smooth @ to_wrench[:, number], channel.residual))
        both = (both - channel.linear @ (channel.linear.T @ both)) / channel.noise
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
