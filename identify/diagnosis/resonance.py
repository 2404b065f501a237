"""Fit of a resonance: a part of the body swings or sloshes, or the mount that holds it flexes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize
from scipy.signal import savgol_filter

from identify.arrays import Array, Indices, Mat33, Vec3
from identify.diagnosis.contacts import segment_edges
from identify.regressors import FEATURE_TENSOR
from identify.signals.wrench_resonance import resonant_force
from identify.significance import CLEAR_LIKELIHOOD_LEAD, SIGNIFICANT_SIGMA
from identify.spatial.columns import ATTITUDE, FEATURES, FORCE_AXES, WRENCH
from identify.spatial.rotations import hat

_FREQUENCIES_HZ = np.geomspace(0.7, 12.0, 20)
"""Frequencies that are compared first [Hz]: liquids and hanging parts below 4, mounts above."""

_FIRST_DAMPING = 0.08
"""Damping ratio at which they are compared."""

_DAMPINGS = (0.005, 0.3)
"""Range of damping ratios: of liquids behind baffles it is below .2, of mounts below .1. At its
upper end a resonance is like a delay or a filter."""

_MIN_MOUNT_HZ = 3.0
"""Smallest frequency of a mount: a pendulum of 3 Hz is 28 mm long."""

_LIKE_A_FILTER = 0.29
"""Damping ratio from which the likeliest one is beyond this range."""

_MASS_SHARES = (0.01, 1.5)
"""Range of the mass that moves, relative to the body's."""

_MIN_ROWS_PER_PERIOD = 3.0
"""Fewest rows in a period of a resonance."""

_WINDOW = 5
"""Rows of the quadratic polynomials that smooth both sides: noise of the motion would be taken for
a force that is not passed on."""

_INDEPENDENT_SHARE = 0.4
"""Share of smoothed rows that are independent of the others."""

_LOG_STEP = 1e-3
"""Relative steps of frequency and damping for the differences of what a part adds."""

_PLACE_FITS = 3
"""Number of fits of the part that moves, which find where its force acts."""

_MAX_DISTANCE = 0.2
"""Largest distance of the part that moves from the centre of mass [m]."""

_MIN_RATE_HZ = 75.0
"""Smallest rate at which forces are passed on; those between rows are interpolated."""

_MAX_ROWS = 3_000
"""Most rows of a series that are used, from its beginning."""


class Resonance(NamedTuple):
    """Resonance of a part of a body.

    Attributes:
        frequency_hz: natural frequency [Hz].
        damping: ratio to critical damping.
        part: mass and first moment of the part that moves, shape (4,).
        errors: standard errors of the part and of the logarithms of f and ζ, shape (6,).
        in_world: whether it moves along axes of the world.
        body_mass: mass of the body [kg].
        lead: −2 log-likelihood less than without a resonance.
    """

    frequency_hz: float
    damping: float
    part: Array
    errors: Array
    in_world: bool
    body_mass: float
    lead: float

    @property
    def mass_share(self) -> float:
        """Mass of the part, relative to that of the body."""
        return float(self.part[0]) / self.body_mass

    @property
    def is_of_mount(self) -> bool:
        """Whether the mount flexes: liquids and hanging parts are slower, or swing in the body."""
        return self.in_world and self.frequency_hz > _MIN_MOUNT_HZ

    @property
    def stiffness(self) -> float:
        """Stiffness of a spring under all of the body [N/m], right within a fourth or so.

        Below its frequency a spring is seen by m/k alone, as a part m_s by m_s/(m ω²).
        """
        return self.body_mass * (2.0 * np.pi * self.frequency_hz) ** 2 / self.mass_share


class ResonanceSeries(NamedTuple):
    """Even part of a log.

    Attributes:
        features: ψ, shape (n, 12).
        wrench: at Bo in B, shape (n, 6).
        period: from row to row [s].
        fine_features: ψ at finer times, of which each `step`-th is a row, shape (m, 12).
        fine_rotation: R_WB at these times, shape (m, 3, 3); None without an attitude.
        step: finer times from row to row.
    """

    features: Array
    wrench: Array
    period: float
    fine_features: Array
    fine_rotation: Mat33 | None
    step: int

    @classmethod
    def of(
        cls, time: Array, rows: Array, segment_ids: Indices, *, has_attitude: bool
    ) -> Iterator[ResonanceSeries]:
        """Yield the even parts of a series of z = [1, ψ, w, Rᵀ, …], shape (n, 43)."""
        for first, stop in segment_edges(segment_ids[:_MAX_ROWS]):
            part = rows[first:stop]
            if len(part) < 4 * _WINDOW:
                continue
            period = float(np.median(np.diff(time[first:stop])))
            if _MIN_ROWS_PER_PERIOD * period * _FREQUENCIES_HZ[0] >= 1.0:  # too far apart for any
                continue
            step = int(np.ceil(_MIN_RATE_HZ * period))
            finer = CubicSpline(np.arange(len(part)), part)(
                np.arange((len(part) - 1) * step + 1) / step
            )
            rotation = np.swapaxes(finer[:, ATTITUDE].reshape(-1, 3, 3), 1, 2)
            yield cls(
                part[:, FEATURES],
                part[:, WRENCH],
                period,
                finer[:, FEATURES],
                rotation if has_attitude else None,
                step,
            )

    def resonant_force(self, frequency_hz: float, damping: float, *, in_world: bool) -> Array:
        """Return the force that a resonance adds in each row, shape (n, 3, 4)."""
        rotation = self.fine_rotation if in_world else None
        period = self.period / self.step
        fine = resonant_force(self.fine_features, rotation, frequency_hz, damping, period)
        return fine[:: self.step]


def fit_resonance(series: Sequence[ResonanceSeries]) -> Resonance | None:
    """Fit a resonance to the wrench of one body; None unless it explains it clearly better.

    Body, offset, delay and part are least squares at each frequency and damping.
    """
    if not series:
        return None
    rigid = _RigidFit.of(series)
    if not np.isfinite(rigid.noise[FORCE_AXES]).all():  # no force is measured in free flight
        return None
    highest = 1.0 / (_MIN_ROWS_PER_PERIOD * max(part.period for part in series))
    starts = [np.log((f, _FIRST_DAMPING)) for f in _FREQUENCIES_HZ if f < highest]
    has_attitude = all(part.fine_rotation is not None for part in series)
    best: Resonance | None = None
    for in_world in (True, False) if has_attitude else (False,):
        cost_at = partial(rigid.cost_with_resonance, in_world=in_world)
        first = min(starts, key=cost_at)
        bounds = [(first[0] - 0.2, first[0] + 0.2), tuple(np.log(_DAMPINGS))]
        nearest = minimize(
            cost_at,
            first,
            method="Nelder-Mead",
            bounds=bounds,
            options={"maxfev": 60, "xatol": 1e-3, "fatol": 0.1},
        )
        lead = rigid.cost - float(nearest.fun)
        if lead > (CLEAR_LIKELIHOOD_LEAD if best is None else best.lead):
            frequency, damping = np.exp(nearest.x).tolist()
            part = rigid.part_at(nearest.x, in_world=in_world).part
            errors = rigid.errors_at(nearest.x, in_world=in_world)
            best = Resonance(frequency, damping, part, errors, in_world, rigid.mass, lead)
    if best is None or best.damping > _LIKE_A_FILTER:
        return None
    is_significant = best.part[0] > SIGNIFICANT_SIGMA * best.errors[0]
    is_plausible = _MASS_SHARES[0] < best.mass_share < _MASS_SHARES[1]
    return best if is_significant and is_plausible else None


class _PartFit(NamedTuple):
    """Fit of a part that moves: its mass and first moment, their weighted columns, what is left."""

    part: Array
    design: Array
    residual: Array

    @property
    def cost(self) -> float:
        """−2 log-likelihood."""
        return _cost(self.residual)


class _RigidFit(NamedTuple):
    """Fit of a rigid body with an offset and a delay of the wrench.

    Attributes:
        series: parts of the logs.
        basis: orthonormal basis of its weighted columns, shape (6 n, 11).
        residual: weighted residual, shape (6 n,).
        noise: RMS residual of each channel, shape (6,).
        mass, com: of the body, [kg] and [m].
        cost: −2 log-likelihood.
    """

    series: Sequence[ResonanceSeries]
    basis: Array
    residual: Array
    noise: Array
    mass: float
    com: Vec3
    cost: float

    @classmethod
    def of(cls, series: Sequence[ResonanceSeries]) -> _RigidFit:
        """Fit by least squares, by the size of the wrench, then by what it leaves."""
        wrench = _stacked([part.wrench[:, :, None] for part in series])
        columns = [np.einsum("nf,fap->nap", part.features, FEATURE_TENSOR) for part in series]
        body = _stacked(columns)
        noise, phi = _rms(wrench[:, :, 0]), np.zeros(10)
        for _ in range(2):
            phi, *_ = np.linalg.lstsq(_weighted(body, noise), _weighted(wrench, noise)[:, 0])
            noise = _rms(wrench[:, :, 0] - body @ phi)
        late = [
            np.gradient(rows @ phi, part.period, axis=0)[:, :, None]
            for rows, part in zip(columns, series, strict=True)
        ]
        rigid = _weighted(np.concatenate((body, _stacked(late)), axis=2), noise)
        size = np.linalg.norm(rigid, axis=0)
        basis, _ = np.linalg.qr(rigid / np.where(size > 0.0, size, 1.0))
        residual = _weighted(wrench, noise)[:, 0]
        residual = residual - basis @ (basis.T @ residual)
        return cls(
            series, basis, residual, noise, float(phi[0]), phi[1:4] / phi[0], _cost(residual)
        )

    def part_at(self, tried: Array, *, in_world: bool) -> _PartFit:
        """Fit the part that moves at the logarithms of a frequency and a damping ratio."""
        frequency, damping = np.exp(tried).tolist()
        force = _stacked(
            [part.resonant_force(frequency, damping, in_world=in_world) for part in self.series]
        )
        fitted = _PartFit(np.append(1.0, self.com), force, self.residual)
        for _ in range(_PLACE_FITS):  # the torque acts where the part was found
            place = fitted.part[1:] / fitted.part[0]
            if not np.linalg.norm(place - self.com) < _MAX_DISTANCE:
                place = self.com
            design = _weighted(np.concatenate((force, hat(place) @ force), axis=1), self.noise)
            design = design - self.basis @ (self.basis.T @ design)
            part, *_ = np.linalg.lstsq(design, self.residual)
            fitted = _PartFit(part, design, self.residual - design @ part)
        return fitted

    def cost_with_resonance(self, tried: Array, *, in_world: bool) -> float:
        return self.part_at(tried, in_world=in_world).cost

    def errors_at(self, tried: Array, *, in_world: bool) -> Array:
        """Return standard errors of mass and first moment, log f and log ζ, shape (6,).

        By the columns of the part, and the differences of what it adds at other f and ζ. They are
        infinite for what moves nothing, as a first moment does where the body never turns.
        """
        fitted = self.part_at(tried, in_world=in_world)
        changes = [
            (self.part_at(tried + step, in_world=in_world).design - fitted.design) @ fitted.part
            for step in _LOG_STEP * np.eye(2)
        ]
        columns = np.column_stack((fitted.design, *(change / _LOG_STEP for change in changes)))
        noise = np.tile(_rms(fitted.residual.reshape(-1, 6)), len(columns) // 6)
        acting = np.linalg.norm(columns, axis=0) > 0.0
        size = np.linalg.norm(columns[:, acting], axis=0)
        scaled = columns[:, acting] / noise[:, None] / size
        covariance = np.linalg.pinv(scaled.T @ scaled, hermitian=True) / _INDEPENDENT_SHARE
        errors = np.full(columns.shape[1], np.inf)
        errors[acting] = np.sqrt(np.diag(covariance)) / size
        return errors


def _stacked(parts: Sequence[Array]) -> Array:
    """Smooth columns of consecutive rows, subtract their means, and stack the parts' rows."""
    half = _WINDOW // 2
    smooth = [savgol_filter(part, _WINDOW, 2, axis=0)[half:-half] for part in parts]
    return np.concatenate([part - part.mean(axis=0) for part in smooth])


def _rms(channels: Array) -> Array:
    """Return the RMS of each channel; ∞ of one that is not measured, so that it has no weight."""
    rms = np.sqrt(np.mean(channels**2, axis=0))
    return np.where(rms > 0.0, rms, np.inf)


def _weighted(columns: Array, noise: Array) -> Array:
    """Return rows by channel of columns of shape (n, 6, k), by their noise, shape (6 n, k)."""
    return (columns / noise[:, None]).reshape(-1, columns.shape[2])


def _cost(residual: Array) -> float:
    by_channel = residual.reshape(-1, 6)
    power = np.maximum(np.mean(by_channel**2, axis=0), np.finfo(float).tiny)
    return len(by_channel) * float(np.sum(np.log(power)))
