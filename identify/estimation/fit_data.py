"""Data of a fit that stay fixed during its iterations, and the initial estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Flags, Indices
from identify.errors import ProblemError
from identify.estimation.errors import NegativeMass, TermError, TooLittleMotion
from identify.estimation.identifiability import free_directions
from identify.estimation.scaling import BodyScaling
from identify.estimation.terms import Term
from identify.regressors import WRENCH_NAMES, LinearSystem, ParameterSpace
from identify.regressors.triangular import svd
from identify.significance import IMPOSSIBLE_SIGMA
from identify.spatial.columns import FORCE_AXES

_MAX_UNEXCITED_COMPONENT = 1e-6
"""Squared component of an unknown along directions without excitation, above which its estimate is
arbitrary."""

_MIN_FREE_COMPONENT = 1e-12
"""Smallest component along free directions of an unknown that the equalities do not fix."""

MIN_RELATIVE_RESIDUAL = 1e-9
"""Relative size of residuals below which they are rounding errors of the measured values."""

_MIN_RELATIVE_EXCITATION = 1e-9
"""Excitation by an unknown, relative to the whole signal, below which it is rounding error."""


class ChannelBlocks(NamedTuple):
    """Diagonal blocks of C channel types in matrices of shape (G, m, m).

    Attributes:
        group: group of each block, shape (C,).
        kind: channel type of each block, shape (C,).
        channels: channels of each block, shape (C, k), padded with others if its type has fewer
            than the largest.
        flags: one for channels of the type, zero for padding, shape (C, k).
    """

    group: Indices
    kind: Indices
    channels: Indices
    flags: Array


@dataclass(frozen=True, eq=False)
class ChannelTypes:
    """Types (force, torque) of the m channels of G groups of rows, of up to K types each.

    Attributes:
        flags: whether a channel is of a type, shape (G, K, m).
        effective_samples: effective samples of each group, shape (G,).
    """

    flags: Flags
    effective_samples: Array

    @cached_property
    def indicators(self) -> Array:
        """Numbers 1 for channels of a type and 0 for others, shape (G, K, m)."""
        return self.flags.astype(np.float64)

    @cached_property
    def counts(self) -> Array:
        """Number of channels of each type, shape (G, K)."""
        return self.indicators.sum(axis=2)

    @cached_property
    def degrees(self) -> Array:
        """Number of independent measured values of each channel type, shape (G, K)."""
        return self.counts * self.effective_samples[:, None]

    @cached_property
    def present(self) -> Array:
        """Numbers 1 for channels that a group of rows has and 0 for padding, shape (G, m)."""
        return self.indicators.max(axis=1)

    @cached_property
    def blocks(self) -> ChannelBlocks:
        """Diagonal block of each channel type that a group has."""
        group, kind = np.nonzero(self.counts)
        flags = self.indicators[group, kind]
        widest = int(self.counts.max())
        channels = np.argsort(-flags, axis=1, kind="stable")[:, :widest]
        return ChannelBlocks(group, kind, channels, np.take_along_axis(flags, channels, axis=1))

    def block_traces(self, moments: Array) -> Array:
        """Compute the trace of each channel type's diagonal block, (G, m, m) to (G, K)."""
        return (self.indicators @ moments.diagonal(0, 1, 2)[..., None])[..., 0]

    def by_channel(self, values: Array) -> Array:
        """Expand one value for each channel type to one for each channel, (G, K) to (G, m)."""
        return (values[:, None] @ self.indicators)[:, 0]


@dataclass(frozen=True)
class FitData:
    """Data of a fit that stay fixed during re-weighting.

    Attributes:
        system: data and equations.
        scales: root mean square of the measured values of each group's sensor, equal for channels
            of one kind, shape (G, m).
        equalities: rows E of the equality constraints E x = values, shape (k, p).
        equality_values: right-hand side of the equality constraints, shape (k,).
    """

    system: LinearSystem
    scales: Array
    equalities: Array
    equality_values: Array

    @property
    def space(self) -> ParameterSpace:
        """Parameter space of the unknowns."""
        return self.system.space

    @cached_property
    def channel_types(self) -> ChannelTypes:
        """Types of the channels of each group of rows: force or torque."""
        padded = self.system.padded
        return ChannelTypes(padded.channels_of_quantity, padded.effective_samples)

    @cached_property
    def wrench_noise(self) -> Array:
        """Covariance of the residuals from noise of the wrench, shape (G, m, m)."""
        return self.system.padded.wrench_noise

    @cached_property
    def mean_squares(self) -> Array:
        """Mean square of the measured values, shape (G, m)."""
        return self.scales**2

    @cached_property
    def rounding_variance(self) -> Array:
        """Variance of the residuals due to rounding of the measured values, shape (G, m)."""
        rounding = max(equations.rounding for _, equations in self.system.data)
        samples, effective = self.system.padded.samples, self.system.padded.effective_samples
        return rounding**2 * self.mean_squares * (samples / effective)[:, None]

    @cached_property
    def offset_leverage(self) -> Array:
        """Leverage of the fitted offsets in each group of rows: effective samples, shape (G,)."""
        return self.system.padded.offset_leverage

    @cached_property
    def scale_weights(self) -> Array:
        """Initial weight matrices of the groups of rows: inverse squared scales, (G, m, m)."""
        return self.scales[:, :, None] ** -2 * np.eye(self.scales.shape[1])

    @property
    def fixed(self) -> Array:
        """Whether each unknown is fixed by the equalities, shape (p,)."""
        if not len(self.equality_values):
            return np.zeros(len(self.space), dtype=bool)
        return np.abs(free_directions(self.equalities)).max(axis=1) < _MIN_FREE_COMPONENT

    @property
    def relates_bodies(self) -> bool:
        """Whether equalities relate bodies, so that rows on one of them identify others."""
        starts = 10 * np.arange(len(self.space.bodies))
        used = np.logical_or.reduceat(self.equalities != 0.0, starts, axis=1)
        return bool((used.sum(axis=1) > 1).any())

    @property
    def noise_known(self) -> bool:
        """Whether all rows are in units of their noise."""
        return all(equations.noise_known for _, equations in self.system.data)

    @property
    def offsets_fitted(self) -> bool:
        """Whether sensor offsets are fitted."""
        return len(self.system.padded.offsets) > 0


def in_free_flight(system: LinearSystem) -> bool:
    """Return whether data are of the wrench on one body, with a force of zero throughout."""
    is_wrench = all(group.channels == WRENCH_NAMES for group in system.padded.groups)
    is_of_one_body = len(system.data) == 1 and len(system.space) == 10
    return is_wrench and is_of_one_body and not system.measured_power()[:, FORCE_AXES].any()


def build_fit_data(system: LinearSystem, terms: Sequence[Term]) -> FitData:
    """Collect the data of a fit, with the equalities among its constraints."""
    space = system.space
    equalities = [term.equalities(space) for term in terms]
    rows = np.concatenate([np.zeros((0, len(space))), *(E for E, _ in equalities)])
    values = np.concatenate([np.zeros(0), *(e for _, e in equalities)])
    independent: list[int] = []
    for number in range(len(rows)):  # two terms may imply the same equality
        if np.linalg.matrix_rank(rows[[*independent, number]]) > len(independent):
            independent.append(number)
    data = FitData(system, np.empty(0), rows[independent], values[independent])
    fixed = all(data.fixed[space.body_slice(body).start] for body in range(len(space.bodies)))
    return replace(data, scales=channel_rms(system, masses_known=fixed))


def channel_rms(system: LinearSystem, *, masses_known: bool = False) -> Array:
    """Compute the RMS of the measured forces, and of the torques, of each group's sensor.

    Offsets and all frequency bands are included.

    `masses_known`: whether all masses are known; channels that are zero throughout, as the force in
    free flight, are then accepted and get the largest scale of the others.
    Shape (G, m); one for channels that a group does not have.
    Raises `ProblemError`: channels of one kind are zero throughout.
    """
    arrays = system.padded
    squares = (
        arrays.channels_of_quantity @ (system.measured_power() * arrays.samples[:, None])[..., None]
    )[..., 0]
    sensor_sums = np.zeros((len(arrays.sensors), 1 + squares.shape[1]))
    counted = np.concatenate((arrays.samples[:, None], squares), axis=1)
    np.add.at(sensor_sums, arrays.sensor, counted)
    counts = np.maximum(arrays.channels_of_quantity.sum(axis=-1), 1)
    by_kind = np.sqrt(sensor_sums[arrays.sensor, 1:] / sensor_sums[arrays.sensor, :1] / counts)
    largest, has_kind = float(by_kind.max()), arrays.quantity_ids >= 0
    if masses_known and largest > 0.0:
        by_kind = np.where(by_kind > 0.0, by_kind, largest)
    if not (by_kind[has_kind] > 0.0).all():
        number, kind = np.argwhere(has_kind & ~(by_kind > 0.0))[0].tolist()
        group = arrays.groups[number]
        quantity = group.quantities[int(np.argmax(arrays.channels_of_quantity[number, kind]))]
        group_text = f" of group {group.name!r}" if len(arrays.sensors) > 1 else ""
        raise ProblemError(
            f"the measured {quantity}{group_text} is zero throughout: check its columns (for a "
            f"log, in its schema)"
        )
    scales = (by_kind[:, None] @ arrays.channels_of_quantity)[:, 0]
    return np.where(arrays.channels, scales, 1.0)


class InitialEstimate(NamedTuple):
    """Initial unknowns, and their standard errors without equalities, shape (p,) each."""

    x: Array
    errors: Array


def initial_estimate(data: FitData) -> InitialEstimate:
    """Compute initial unknowns by minimum-norm least squares, weighted by the channels' RMS.

    Those of a body with a default are the nearest to it, in its units.
    """
    space = data.space
    problem = data.system.problem(data.scale_weights)
    start, units = _default_units(space)
    A, b = problem.A @ units, problem.b - problem.A @ start
    norms = np.linalg.norm(A, axis=0)
    offsets = data.system.padded.offsets
    means = offsets.rows[..., :-1] / data.scales[offsets.group][..., None]
    excited = norms > _MIN_RELATIVE_EXCITATION * np.hypot(
        norms, np.sqrt((means**2).sum(axis=(0, 1, 2)))
    )
    for body, name in enumerate(space.bodies):
        block = space.body_slice(body)
        if name in space.defaults:
            norms[block], excited[block] = norms[block].max(), excited[block].any()
            continue
        first = range(block.start, block.start + 4)
        missing = [space.names[k] for k in first if not excited[k]]
        if missing and not data.fixed[block.start] and not data.relates_bodies:
            raise insufficient_excitation(missing, data)
    norms = np.where(excited, norms, np.inf)
    U, singular, Vt = svd(A / norms)
    nonzero = singular > 1e-9 * singular[0]
    inverse = (Vt[nonzero].T / singular[nonzero]) @ U[:, nonzero].T
    x = start + units @ ((inverse @ b) / norms)
    scatter = problem.residual_norm(x) / np.sqrt(problem.degrees_of_freedom)
    errors = scatter * np.linalg.norm(inverse, axis=1) / norms
    errors[(Vt[~nonzero] ** 2).sum(axis=0) > _MAX_UNEXCITED_COMPONENT] = np.inf
    if not data.relates_bodies:
        require_positive_masses(x, errors, data)
    if not len(data.equality_values):
        return InitialEstimate(x, errors)
    equalities, values = data.equalities @ units, data.equality_values - data.equalities @ start
    point = np.linalg.lstsq(equalities, values, rcond=None)[0]
    nearest = start + units @ point
    for body in range(len(space.bodies)):
        k = space.body_slice(body).start
        if data.fixed[k] and not nearest[k] > 0.0:
            raise TermError(
                f"the equality constraints give {space.names[k]} = {nearest[k]:.3g} kg; expected a "
                "mass above zero: check their values"
            )
    free = free_directions(equalities)
    columns = A @ free
    norms = np.linalg.norm(columns, axis=0)
    norms = np.where(norms > 0.0, norms, np.inf)
    y = np.linalg.lstsq(columns / norms, b - A @ point, rcond=1e-9)[0] / norms
    x = nearest + units @ (free @ y)
    if data.relates_bodies:
        require_positive_masses(x, np.full(len(x), np.inf), data)
    return InitialEstimate(x, errors)


def _default_units(space: ParameterSpace) -> tuple[Array, Array]:
    """Return the unknowns of the default bodies, and a unit of each unknown in SI.

    Returns Unknowns x0, shape (p,), and the map of changes in units of the defaults to SI, (p, p).
    """
    start, units = np.zeros(len(space)), np.eye(len(space))
    for body in space.defaults:
        block, default = space.body_slice(body), space.default_parameters(body)
        if default is not None:
            start[block], units[block, block] = default, BodyScaling.of_body(default).to_phi
    return start, units


def require_positive_masses(x: Array, errors: Array, data: FitData) -> None:
    """Raise unless the masses of bodies without a default are positive.

    A mass fixed by equalities may be slightly negative.

    `x`: unknowns, shape (p,); `errors`: standard errors of the unknowns, shape (p,).
    Raises `NegativeMass`: a mass is negative by several standard errors; `TooLittleMotion`: a mass
    is negative, but not significantly.
    """
    space = data.space
    for number, body in enumerate(space.bodies):
        k = space.body_slice(number).start
        if body in space.defaults:
            continue
        if x[k] < -IMPOSSIBLE_SIGMA * errors[k]:
            raise NegativeMass(float(x[k]), body=body if len(space.bodies) > 1 else None)
        if not (x[k] > 0.0 or data.fixed[k]):
            raise insufficient_excitation([space.names[k]], data)


def insufficient_excitation(unidentifiable: list[str], data: FitData) -> TooLittleMotion:
    """Return the error for masses and first moments that the data do not identify, with advice."""
    advice = "the log needs more motion: at least poses that differ by rotations about two axes"
    if data.offsets_fitted:
        advice += (
            "; or, if the sensor offset is known to be zero, fit without offset (bias='none', on "
            "the command line --no-bias)"
        )
    return TooLittleMotion(tuple(unidentifiable), advice)
