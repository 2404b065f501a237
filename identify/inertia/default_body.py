"""The compact body that stands in for an inertia no data tells of."""

from __future__ import annotations

import numpy as np

from identify.arrays import Phi, Vec3
from identify.inertia.matrices import phi_from_inertia

DEFAULT_DENSITY = 1000.0
"""Density of the default body [kg/m³]: that of water, between plastics with voids and metals."""


def default_radius(mass: float) -> float:
    """Radius of the default ball of a mass [m]."""
    return float(np.cbrt(3.0 * mass / (4.0 * np.pi * DEFAULT_DENSITY)))


def default_body(mass: float, com: Vec3) -> Phi:
    """A solid ball of `DEFAULT_DENSITY` about the centre of mass: I_c = 2/5 m r² 1.

    Args:
        mass: [kg], positive.
        com: p_BoBcm_B [m], shape (3,).

    Returns:
        Its ten parameters about Bo, shape (10,).
    """
    return phi_from_inertia(mass, com, 0.4 * mass * default_radius(mass) ** 2 * np.eye(3))
