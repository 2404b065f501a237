"""What every round of re-weighting is made of, and the rounds that solve for every direction.

Those converge fast and know no split into what is identifiable and what is not; full rounds
(`least_squares.py`) take the last step to where they settle, and go their own way where that is not
clear.

Anderson, "Iterative procedures for nonlinear integral equations" (1965).
Walker and Ni, "Anderson acceleration for fixed-point iterations" (2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import hypot, sqrt

import numpy as np

from identify.arrays import Array
from identify.estimation.identifiability import (
    free_directions,
)
from identify.estimation.initial_estimate import FitData, measured_scales
from identify.estimation.scaling import Scaling
from identify.estimation.terms import Term
from identify.inertia.parameters import default_radius
from identify.regressors import System
from identify.significance import BODY_SIZE_SIGMA

RAMP = 4
"""Rounds over which the correction for noise in the motion comes in: at once, it may lead away."""

NEAR = 1e-5
"""Standard errors that a fit may end away from where its rounds settle."""

ROUNDING = 1e-12
"""Share of the data that those rounds may be away by, where that is more."""

_FARTHEST_COM = 10.0
"""Distance of the centre of mass from Bo, in body sizes, beyond which no scale is taken from it."""

_MOMENTS_OF_INERTIA = np.array([4, 7, 9])

_RATE, _SLOWEST = 0.1, 0.95
"""Least and largest share of a step that the next one is counted to take."""

_REMEMBERED = 2
"""Rounds that tell where the next one leads. Sizes of bodies and leverages lag behind: more rounds
would tell of others than the last ones."""

_SAME_STEPS = 1e-13
"""Share of the largest difference of their steps, squared, below which others are rounding."""

_FARTHEST_ON = 20.0
"""Times the length of a step that the others may take it on."""


def fit_data(system: System, terms: Sequence[Term]) -> FitData:
    """What stays the same from round to round; of the terms, their equalities."""
    space = system.space
    said = [term.equalities(space) for term in terms]
    rows = np.concatenate([np.zeros((0, len(space))), *(E for E, _ in said)])
    values = np.concatenate([np.zeros(0), *(e for _, e in said)])
    kept: list[int] = []
    for number in range(len(rows)):  # two terms may say the same
        if np.linalg.matrix_rank(rows[[*kept, number]]) > len(kept):
            kept.append(number)
    data = FitData(system, np.empty(0), rows[kept], values[kept])
    known = all(data.known[space.body_slice(body).start] for body in range(len(space.bodies)))
    return replace(data, scales=measured_scales(system, masses_known=known))


@dataclass(slots=True)
class Way:
    """Rounds x → g(x), brought to where they settle in fewer (Anderson 1965; Walker and Ni 2011).

    Attributes:
        rate: share of the last step that the next one takes, as of the last two.
        rest: standard errors of the last step that those before do not foretell.
    """

    rate: float = _SLOWEST
    rest: float = np.inf
    _points: list[tuple[Array, Array]] = field(default_factory=list)

    def on(self, x: Array, step: Array, information: Array) -> Array:
        """What the next round begins with: where x and its step lead, as far as others tell.

        Of all combinations of the last rounds it is the one whose step is the shortest.

        Args:
            x: what a round began with, shape (p,).
            step: from there to what it gave, shape (p,).
            information: of the unknowns, shape (p, p).
        """
        self.rest = float(np.sqrt(step @ information @ step))
        before = self._points
        if before and self.rest**2 > before[-1][1] @ information @ before[-1][1]:
            before = []  # steps do not grow where others foretell them
        self._points = [*before, (x, step)][-_REMEMBERED:]
        if not before:
            return x + step
        earlier, their_steps = np.array(before).swapaxes(0, 1)
        X, F = x - earlier, step - their_steps
        along, moved = F @ information, X[-1] @ information
        gram = along @ F.T
        told, changed = float(moved @ X[-1]), float(np.trace(gram))
        if not min(told, changed) > 0.0:
            return x + step
        self.rate = min(max(abs(1.0 + float(moved @ F[-1]) / told), _RATE), _SLOWEST)
        gram += _SAME_STEPS * changed * np.eye(len(gram))
        shares = np.linalg.solve(gram, along @ step)
        rest, less = step - shares @ F, shares @ (X + F)
        if less @ information @ less > (_FARTHEST_ON * self.rest) ** 2:
            return x + step
        self.rest = float(np.sqrt(rest @ information @ rest))
        return x + step - less


def first_leverages(data: FitData) -> Array:
    """Leverage of each group where nothing is known of it: shares of the unknowns, shape (G,)."""
    share = len(data.space) / data.system.equations
    return data.offset_leverage + share * data.channels.effective_samples


def leverages(data: FitData, inverse: Array, moments: Array) -> Array:
    """Leverage of each group: effective samples that the unknowns and offsets take, shape (G,).

    Args:
        data: system and equalities.
        inverse: B⁻¹, shape (p, p).
        moments: of the rows [A | b] of each group, shape (G, p + 1, p + 1).
    """
    p = len(inverse)
    by_unknowns = (moments[:, :p, :p] * inverse).sum(axis=(1, 2))
    return data.offset_leverage + by_unknowns / data.channels.channels.sum(axis=1)


def into_directions(columns: Array, reference: Array) -> Array:
    """What turns rows of x, [A | b], into those of y, x = reference + columns · y."""
    into = np.zeros((len(columns) + 1, columns.shape[1] + 1))
    into[:-1, :-1], into[:-1, -1], into[-1, -1] = columns, -reference, 1.0
    return into


def free_columns(data: FitData, scaling: Scaling) -> Array:
    """Columns that span what equalities leave open, in scaled unknowns divided by their units."""
    if not len(data.values):
        return np.eye(len(data.space))
    return free_directions(data.equalities @ scaling.to_x * body_units(scaling))


def prior_bodies(data: FitData, x: Array, scaling: Scaling) -> Array:
    """Scaled unknowns of prior bodies of these masses and centres; scalars as they are."""
    prior = np.zeros(len(x))
    prior[data.space.scalar_slice] = x[data.space.scalar_slice] / scaling.units
    for number, body in enumerate(scaling.bodies):
        block = data.space.body_slice(number)
        # The default ball: its moment of inertia is two thirds of its mean square radius.
        radius = default_length(body.mass) / body.length
        prior[block.start] = 1.0
        prior[block.start + _MOMENTS_OF_INERTIA] = 2.0 / 3.0 * radius**2
    if len(data.values):  # x meets the equalities; a prior body of it need not
        scaled = data.equalities @ scaling.to_x
        missing = data.values - scaled @ prior
        if np.abs(missing).max() > 1e-12 * np.abs(data.values).max():
            return prior + np.linalg.lstsq(scaled, missing, rcond=None)[0]
    return prior


def masses_of(data: FitData, x: Array) -> list[float]:
    """Mass of each body [kg]."""
    return x[: 10 * len(data.space.bodies) : 10].tolist()


def default_length(mass: float) -> float:
    """Root mean square distance of the default ball's mass from its centre [m]."""
    return sqrt(0.6) * default_radius(mass)


def likely_length(trace: float, error: float, length: float, default: float) -> float:
    """A body's size [m]: from its inertia as far as that is resolved, else the default ball's.

    Args:
        trace: of the inertia about the centre of mass, in units of a length.
        error: its standard error, likewise.
        length: that unit [m].
        default: size of the default ball [m].
    """
    least, most = (times * error for times in BODY_SIZE_SIGMA)
    if trace <= least:
        return default
    known = 1.0 if trace >= most else (trace - least) / (most - least)
    return (length * sqrt(0.5 * trace)) ** known * default ** (1.0 - known)


def body_units(scaling: Scaling) -> Array:
    """The body's scale in each scaled unknown: one, but for the first moment.

    That is about Bo, and is known well if it is known to within the body's distance from there.
    """
    units = np.ones(len(scaling.space))
    for number, body in enumerate(scaling.bodies):
        distance = min(hypot(*body.com.tolist()) / body.length, _FARTHEST_COM)
        units[10 * number + 1 : 10 * number + 4] = hypot(1.0, distance)
    return units
