"""Bodies drawn from an estimate: how far its uncertainty reaches in a simulation."""

from __future__ import annotations

import numpy as np

from identify.arrays import Array, Phi
from identify.inertia import is_consistent

SAMPLES = 32
"""Bodies that a band is made of."""

_TRIES = 20


def posterior_bodies(
    phi: Phi, covariance: Array, rng: np.random.Generator, count: int = SAMPLES
) -> Phi | None:
    """Possible bodies of the normal distribution N(phi, covariance), by rejection.

    Args:
        phi: the estimate, shape (10,).
        covariance: of phi, shape (10, 10).
        rng: makes the draws.
        count: how many.

    Returns:
        Shape (count, 10); None where possible bodies are rarer than one draw in twenty.
    """
    values, axes = np.linalg.eigh(0.5 * (covariance + covariance.T))
    root = axes * np.sqrt(np.maximum(values, 0.0))
    draws = phi + rng.standard_normal((_TRIES * count, 10)) @ root.T
    possible = draws[np.asarray(is_consistent(draws))]
    return possible[:count] if len(possible) >= count else None
