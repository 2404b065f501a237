"""How dense a body is by its ten parameters alone, whatever its shape."""

from __future__ import annotations

import numpy as np

from identify.arrays import Array, Phi
from identify.inertia.matrices import pseudo_inertia

DENSEST = 2.5e4
"""Mean density that no body has [kg/m³]; of osmium it is 22 600."""

_SURELY = 3.0
"""Standard errors by which a body's size has to fall short."""

_OF_TRACE = np.array([np.trace(pseudo_inertia(unit)[:3, :3]) for unit in np.eye(10)])
"""Trace of the second moment by the ten parameters."""


def least_density(phi: Phi, covariance: Array) -> float:
    """Mean density of a body whose second moment is three standard errors larger [kg/m³]."""
    error = float(np.sqrt(_OF_TRACE @ covariance @ _OF_TRACE))
    return mean_density(phi, _SURELY * error)


def mean_density(phi: Phi, larger: float = 0.0) -> float:
    """Of an even ball with a body's mass and second moment about its centre of mass [kg/m³].

    Args:
        phi: the body.
        larger: what is added to the trace of that second moment [kg m²].

    Returns:
        NaN where mass or second moment is not positive.
    """
    if not phi[0] > 0.0:
        return np.nan
    central = float(_OF_TRACE @ phi - phi[1:4] @ phi[1:4] / phi[0]) + larger
    if not central > 0.0:
        return np.nan
    return float(phi[0] / (4.0 / 3.0 * np.pi * (5.0 / 3.0 * central / phi[0]) ** 1.5))
