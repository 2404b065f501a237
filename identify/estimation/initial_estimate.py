"""Where least squares starts from: its data, masses and first moments, or why there are none."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from identify.arrays import Array, Flags, Indices
from identify.errors import ProblemError
from identify.estimation.errors import NegativeMass, TermError, TooLittleMotion
from identify.estimation.identifiability import free_directions
from identify.regressors import ParameterSpace, System
from identify.regressors.padded_system import PaddedSystem
from identify.significance import IMPOSSIBLE_SIGMA

_OPEN = 1e-6
"""Share of an unknown along directions without excitation, from which its sign means nothing."""

_LEAST_FREE_ENTRY = 1e-12
"""Entry of directions that equalities leave open, from which an unknown is not among them."""

RESOLUTION = 1e-9
"""Residuals below this share of what was measured are rounding, and weigh no more than it."""

_NO_EXCITATION = 1e-9
"""Excitation below this share of the whole signal is rounding."""


@dataclass(frozen=True, eq=False)
class Kinds:
    """Which channels of G groups are of one kind, as the three of a force, for up to K kinds each.

    Attributes:
        flags: shape (G, K, m).
        effective_samples: of each group, shape (G,).
    """

    flags: Flags
    effective_samples: Array

    @cached_property
    def numbers(self) -> Array:
        """One for the channels of each kind, shape (G, K, m)."""
        return self.flags.astype(np.float64)

    @cached_property
    def counts(self) -> Array:
        """How many channels each kind has, shape (G, K)."""
        return self.numbers.sum(axis=2)

    @cached_property
    def degrees(self) -> Array:
        """How many numbers were measured of each kind, shape (G, K)."""
        return self.counts * self.effective_samples[:, None]

    @cached_property
    def channels(self) -> Array:
        """One for the channels that each group has, shape (G, m)."""
        return self.numbers.max(axis=1)

    @cached_property
    def blocks(self) -> tuple[Indices, Indices, Indices, Array]:
        """The block of each kind that there is, in the matrices of its group.

        Returns:
            Its group and kind, shape (C,) each; its channels, shape (C, k), with others after them
            where a kind has fewer than the largest; one for its own, zero for others, likewise.
        """
        group, kind = np.nonzero(self.counts)
        own = self.numbers[group, kind]
        widest = int(self.counts.max())
        channels = np.argsort(-own, axis=1, kind="stable")[:, :widest]
        return group, kind, channels, np.take_along_axis(own, channels, axis=1)

    def traces(self, moments: Array) -> Array:
        """Of the channels of each kind, (G, m, m) to (G, K)."""
        return (self.numbers @ moments.diagonal(0, 1, 2)[..., None])[..., 0]

    def by_channel(self, values: Array) -> Array:
        """What each kind has as what each of its channels has, (G, K) to (G, m)."""
        return (values[:, None] @ self.numbers)[:, 0]


@dataclass(frozen=True)
class Channels:
    """What the weights of a fit rest on, beside its residuals.

    Attributes:
        scales: root mean square of what the sensor of each group measured, shape (G, m).
        samples, effective_samples: of each group, shape (G,).
        channels: which of the m channels each group has, shape (G, m).
        kinds: of the channels, shape (G, K, m).
        kind: number of each kind's name; −1 where a group has fewer, shape (G, K).
        wrench_noise: covariance that noise of what was measured gives, shape (G, m, m).
        sensors: groups of each, −1 where one has fewer, shape (sensors, bands).
    """

    scales: Array
    samples: Array
    effective_samples: Array
    channels: Flags
    kinds: Flags
    kind: Indices
    wrench_noise: Array
    sensors: Indices

    @cached_property
    def of_kind(self) -> Kinds:
        """The channels of each kind."""
        return Kinds(self.kinds, self.effective_samples)

    @cached_property
    def squares(self) -> Array:
        """Mean square of what was measured, shape (G, m)."""
        return self.scales**2

    @cached_property
    def rounding(self) -> Array:
        """Variance of residuals that are nothing but rounding of it, shape (G, m)."""
        return RESOLUTION**2 * self.squares * (self.samples / self.effective_samples)[:, None]

    @classmethod
    def of(cls, arrays: PaddedSystem, scales: Array) -> Channels:
        """Those of one fit."""
        return cls(
            scales=scales,
            samples=arrays.samples,
            effective_samples=arrays.effective_samples,
            channels=arrays.channels,
            kinds=arrays.kinds,
            kind=arrays.kind,
            wrench_noise=arrays.wrench_noise,
            sensors=arrays.sensors,
        )


@dataclass(frozen=True)
class FitData:
    """What stays the same from round to round of re-weighting.

    Attributes:
        system: data and equations.
        scales: root mean square of what the sensor of each group measured, alike for channels of
            one kind, shape (G, m).
        equalities: rows E of what is known exactly, E x = values, shape (k, p).
        values: shape (k,).
    """

    system: System
    scales: Array
    equalities: Array
    values: Array

    @property
    def space(self) -> ParameterSpace:
        """Of the unknowns."""
        return self.system.space

    @cached_property
    def channels(self) -> Channels:
        """What weights rest on beside the residuals."""
        return Channels.of(self.system.arrays, self.scales)

    @cached_property
    def offset_leverage(self) -> Array:
        """Effective samples that the offsets take of each group, shape (G,)."""
        return self.system.arrays.offset_leverage

    @cached_property
    def scale_weights(self) -> Array:
        """W of each group by the scales alone, shape (G, m, m)."""
        return self.scales[:, :, None] ** -2 * np.eye(self.scales.shape[1])

    @property
    def known(self) -> Array:
        """Whether each unknown is fixed by the equalities, shape (p,)."""
        if not len(self.values):
            return np.zeros(len(self.space), dtype=bool)
        return np.abs(free_directions(self.equalities)).max(axis=1) < _LEAST_FREE_ENTRY

    @property
    def offsets_fitted(self) -> bool:
        """Whether sensor offsets are fitted."""
        return len(self.system.arrays.offsets) > 0


def measured_scales(system: System, *, masses_known: bool = False) -> Array:
    """Root mean square of what each group's sensor measured, alike within a kind.

    Offsets are included, and all bands of frequency.

    Args:
        system: data and equations.
        masses_known: the mass of every body; channels of zero, as the force in free flight, are
            then observations like any others, and start from the largest scale of those.

    Returns:
        Shape (G, m); one for channels that a group does not have.

    Raises:
        ProblemError: channels of one kind are zero throughout.
    """
    arrays = system.arrays
    squares = (arrays.kinds @ (system.measured_power() * arrays.samples[:, None])[..., None])[
        ..., 0
    ]
    of_sensor = np.zeros((len(arrays.sensors), 1 + squares.shape[1]))
    counted = np.concatenate((arrays.samples[:, None], squares), axis=1)
    np.add.at(of_sensor, arrays.sensor, counted)
    counts = np.maximum(arrays.kinds.sum(axis=-1), 1)
    by_kind = np.sqrt(of_sensor[arrays.sensor, 1:] / of_sensor[arrays.sensor, :1] / counts)
    largest, there = float(by_kind.max()), arrays.kind >= 0
    if masses_known and largest > 0.0:
        by_kind = np.where(by_kind > 0.0, by_kind, largest)
    if not (by_kind[there] > 0.0).all():
        number, kind = np.argwhere(there & ~(by_kind > 0.0))[0].tolist()
        group = arrays.groups[number]
        dead = group.kinds[int(np.argmax(arrays.kinds[number, kind]))]
        of = f" of group {group.name!r}" if len(arrays.sensors) > 1 else ""
        raise ProblemError(
            f"the measured {dead}{of} is zero throughout: check its columns (those of a log in "
            f"its schema)"
        )
    scales = (by_kind[:, None] @ arrays.kinds)[:, 0]
    return np.where(arrays.channels, scales, 1.0)


def initial_estimate(data: FitData) -> Array:
    """Unknowns by least squares of least norm, for the scaling to start from."""
    space = data.space
    problem = data.system.problem(data.scale_weights)
    norms = np.linalg.norm(problem.A, axis=0)
    offsets = data.system.arrays.offsets
    means = offsets.rows[..., :-1] / data.scales[offsets.group][..., None]
    excited = norms > _NO_EXCITATION * np.hypot(norms, np.sqrt((means**2).sum(axis=(0, 1, 2))))
    for body in range(len(space.bodies)):
        block = space.body_slice(body)
        first = range(block.start, block.start + 4)
        missing = [space.names[k] for k in first if not excited[k]]
        if missing and not data.known[block.start]:
            raise too_little(missing, data)
    norms = np.where(excited, norms, np.inf)
    U, singular, Vt = np.linalg.svd(problem.A / norms)
    kept = singular > 1e-9 * singular[0]
    inverse = (Vt[kept].T / singular[kept]) @ U[:, kept].T
    x = (inverse @ problem.b) / norms
    scatter = problem.residual_norm(x) / np.sqrt(problem.degrees_of_freedom)
    errors = scatter * np.linalg.norm(inverse, axis=1) / norms
    errors[(Vt[~kept] ** 2).sum(axis=0) > _OPEN] = np.inf
    require_positive_masses(x, errors, data)
    if not len(data.values):
        return x
    point = np.linalg.lstsq(data.equalities, data.values, rcond=None)[0]
    for body in range(len(space.bodies)):
        k = space.body_slice(body).start
        if data.known[k] and not point[k] > 0.0:
            raise TermError(f"what is known exactly leaves {space.names[k]} = {point[k]:.3g} kg")
    free = free_directions(data.equalities)
    columns = problem.A @ free
    norms = np.linalg.norm(columns, axis=0)
    norms = np.where(norms > 0.0, norms, np.inf)
    y = np.linalg.lstsq(columns / norms, problem.b - problem.A @ point, rcond=1e-9)[0] / norms
    return point + free @ y


def require_positive_masses(x: Array, errors: Array, data: FitData) -> None:
    """Raise unless the masses are positive; one that is known may be negative by chance.

    Args:
        x: unknowns, shape (p,).
        errors: their standard errors, shape (p,).
        data: of the fit.

    Raises:
        NegativeMass: a mass is negative by several standard errors.
        TooLittleMotion: it is negative by chance.
    """
    space = data.space
    for number, body in enumerate(space.bodies):
        k = space.body_slice(number).start
        if x[k] < -IMPOSSIBLE_SIGMA * errors[k]:
            raise NegativeMass(float(x[k]), body=body if len(space.bodies) > 1 else None)
        if not (x[k] > 0.0 or data.known[k]):
            raise too_little([space.names[k]], data)


def too_little(unidentifiable: list[str], data: FitData) -> TooLittleMotion:
    """The error that names masses and moments the data do not identify, and what would help."""
    advice = "it needs more motion: poses that differ by turns about two axes or more at the least"
    if data.offsets_fitted:
        advice += (
            "; or, where the sensor's offset is known to be zero, fit without it (bias='none', on "
            "the command line --no-bias)"
        )
    return TooLittleMotion(tuple(unidentifiable), advice)
