"""Anderson acceleration of a fixed-point iteration x → g(x).

Anderson, "Iterative procedures for nonlinear integral equations" (1965).
Walker and Ni, "Anderson acceleration for fixed-point iterations" (2011).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from identify.arrays import Array

_MIN_CONVERGENCE_RATE = 0.1
"""Smallest estimate of the convergence rate."""

_MAX_CONVERGENCE_RATE = 0.95
"""Largest estimate of the convergence rate."""

_COMBINED_ITERATES = 2
"""Number of iterates that are combined: bodies' sizes and leverages lag by an iteration, so that
much earlier iterates follow another map."""

_RELATIVE_REGULARISATION = 1e-13
"""Regularisation added to the diagonal of the Gram matrix of step differences, relative to its
trace."""

_MAX_EXTRAPOLATION = 20.0
"""Largest change of the next iterate by extrapolation, in lengths of the last step."""


@dataclass(slots=True)
class AndersonAcceleration:
    """State of an accelerated fixed-point iteration x → g(x).

    Attributes:
        convergence_rate: ratio of the lengths of successive plain steps, from the last two.
        residual_norm: length of the extrapolated step, in standard errors.
    """

    convergence_rate: float = _MAX_CONVERGENCE_RATE
    residual_norm: float = np.inf
    _iterates: list[tuple[Array, Array]] = field(default_factory=list)

    def next_iterate(self, x: Array, step: Array, information: Array) -> Array:
        """Return the next iterate of the accelerated iteration.

        It is the combination of the last iterates whose step is the shortest.

        `x`: current iterate, shape (p,); `step`: plain step g(x) − x, shape (p,); `information`:
        metric of the lengths, the information on x, shape (p, p).
        """
        self.residual_norm = _step_length(step, information)
        previous = self._iterates
        if previous and self.residual_norm**2 > previous[-1][1] @ information @ previous[-1][1]:
            previous = []  # restart where the steps grow
        self._iterates = [*previous, (x, step)][-_COMBINED_ITERATES:]
        if not previous:
            return x + step
        previous_x, previous_steps = np.array(previous).swapaxes(0, 1)
        dX, dF = x - previous_x, step - previous_steps
        weighted_dF, weighted_dx = dF @ information, dX[-1] @ information
        gram = weighted_dF @ dF.T
        dx_squared, trace = float(weighted_dx @ dX[-1]), float(np.trace(gram))
        if not min(dx_squared, trace) > 0.0:
            return x + step
        rate = abs(1.0 + float(weighted_dx @ dF[-1]) / dx_squared)
        self.convergence_rate = min(max(rate, _MIN_CONVERGENCE_RATE), _MAX_CONVERGENCE_RATE)
        gram += _RELATIVE_REGULARISATION * trace * np.eye(len(gram))
        coefficients = np.linalg.solve(gram, weighted_dF @ step)
        residual, correction = step - coefficients @ dF, coefficients @ (dX + dF)
        largest = (_MAX_EXTRAPOLATION * self.residual_norm) ** 2
        if correction @ information @ correction > largest:
            return x + step
        self.residual_norm = _step_length(residual, information)
        return x + step - correction


def _step_length(step: Array, information: Array) -> float:
    """Return the length of a step in standard errors; rounding of a tiny square counts as zero."""
    return float(np.sqrt(max(float(step @ information @ step), 0.0)))
