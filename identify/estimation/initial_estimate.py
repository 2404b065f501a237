"""Where least squares starts from: masses and first moments, or a reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array
from identify.errors import ProblemError
from identify.estimation.errors import NegativeMass, TooLittleMotion
from identify.estimation.identifiability import free_directions
from identify.regressors import ParameterSpace, System

_SURELY = 3.0
"""Standard errors by which a mass has to be negative for a sign to be wrong."""

_OPEN = 1e-6
"""Share of an unknown along directions without excitation, from which its sign means nothing."""

_NOTHING = 1e-9
"""Excitation below this share of the whole signal is rounding."""


@dataclass(frozen=True, slots=True)
class FitData:
    """What stays the same from round to round of re-weighting.

    Attributes:
        system: data and equations.
        scales: root mean square of what the sensor of each group measured, alike for channels of
            one kind, shape (m,) each.
        equalities: rows E of what is known exactly, E x = values, shape (k, p).
        values: shape (k,).
    """

    system: System
    scales: tuple[Array, ...]
    equalities: Array
    values: Array

    @property
    def space(self) -> ParameterSpace:
        """Of the unknowns."""
        return self.system.space

    @property
    def known(self) -> Array:
        """Whether each unknown is fixed by an equality of its own, shape (p,)."""
        alone = self.equalities[(self.equalities != 0.0).sum(axis=1) == 1]
        return (alone != 0.0).any(axis=0)

    @property
    def offsets_fitted(self) -> bool:
        """Whether sensor offsets are fitted."""
        return bool(self.system.owners)


def measured_scales(system: System, *, masses_known: bool = False) -> tuple[Array, ...]:
    """Root mean square of what each group's sensor measured, alike within a kind.

    Offsets are included, and all bands of frequency.

    Args:
        system: data and equations.
        masses_known: the mass of every body; channels of zero, as the force in free flight, are
            then observations like any others, and start from the largest scale of those.

    Raises:
        ProblemError: channels of one kind are zero throughout.
    """
    powers, scales = system.measured_power(), [np.zeros(0)] * len(system.groups)
    sensors = [sensor for sensors in system.sensors for sensor in sensors]
    for sensor in sensors:
        samples = np.array([system.groups[g].samples for g in sensor])
        power = samples @ np.array([powers[g] for g in sensor]) / samples.sum()
        kinds = np.array(system.groups[sensor[0]].group.kinds)
        scale = np.zeros(len(kinds))
        for kind in dict.fromkeys(kinds.tolist()):
            scale[kinds == kind] = np.sqrt(power[kinds == kind].mean())
        for g in sensor:
            scales[g] = scale
    largest = max(float(scale.max()) for scale in scales)
    for sensor in sensors:
        scale, group = scales[sensor[0]], system.groups[sensor[0]].group
        if masses_known and largest > 0.0:
            scale[scale == 0.0] = largest
        if not (scale > 0.0).all():
            dead = group.kinds[int(np.argmin(scale > 0.0))]
            of = f" of group {group.name!r}" if len(sensors) > 1 else ""
            raise ProblemError(
                f"the measured {dead}{of} is zero throughout: check its columns (those of a log in "
                f"its schema)"
            )
    return tuple(scales)


def initial_estimate(data: FitData) -> Array:
    """Unknowns by least squares of least norm, for the scaling to start from."""
    space = data.space
    weights = [np.diag(scale**-2) for scale in data.scales]
    problem = data.system.problem(weights)
    norms = np.linalg.norm(problem.A, axis=0)
    means = [
        group.first[..., 1:] / scale[:, None]
        for group, scale in zip(data.system.groups, data.scales, strict=True)
    ]
    whole = np.sqrt(sum((mean**2).sum(axis=(0, 1)) for mean in means))
    excited = norms > _NOTHING * whole
    for body in range(len(space.bodies)):
        block = space.of_body(body)
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
        k = space.of_body(number).start
        if x[k] < -_SURELY * errors[k]:
            raise NegativeMass(float(x[k]), body=body if len(space.bodies) > 1 else None)
        if not (x[k] > 0.0 or data.known[k]):
            raise too_little([space.names[k]], data)


def too_little(unidentifiable: list[str], data: FitData) -> TooLittleMotion:
    """The error that names masses and moments the data do not identify, and what would help."""
    advice = "it needs more motion: poses that differ by turns about two axes or more at the least"
    if data.offsets_fitted:
        advice += "; or, where the sensor's offset is known to be zero, fit without it (--no-bias)"
    return TooLittleMotion(tuple(unidentifiable), advice)
