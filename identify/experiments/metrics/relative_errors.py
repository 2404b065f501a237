"""Errors by group, relative to the true body [%]: mass, first moment, inertia."""

from __future__ import annotations

import numpy as np

from identify.arrays import Phi
from identify.inertia import inertia_about_origin


def mass_error(phi: Phi, truth: Phi) -> float:
    """|Δm| / m [%]."""
    return float(100.0 * abs(phi[0] - truth[0]) / truth[0])


def first_moment_error(phi: Phi, truth: Phi) -> float:
    """‖Δh‖ / ‖h‖ [%]."""
    return float(100.0 * np.linalg.norm(phi[1:4] - truth[1:4]) / np.linalg.norm(truth[1:4]))


def relative_inertia_error(phi: Phi, truth: Phi) -> float:
    """‖ΔI‖ / ‖I‖ about Bo, Frobenius norms [%]."""
    true = inertia_about_origin(truth)
    return float(100.0 * np.linalg.norm(inertia_about_origin(phi) - true) / np.linalg.norm(true))
