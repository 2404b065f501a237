"""Principal axes that are turned as little as can be from the flange's."""

from __future__ import annotations

import itertools

import numpy as np

from identify.arrays import Mat33
from identify.inertia.conventions import PrincipalFrame, principal_frame


def nearest_principal_frame(inertia: Mat33) -> PrincipalFrame:
    """Principal moments in that order, and right-handed axes, that turn least from the body's.

    A controller takes any of the 24 frames along the same axes; this is the one a person can check.

    Args:
        inertia: shape (3, 3).
    """
    moments, axes = principal_frame(inertia, "unless diagonal")
    rows = np.arange(3)
    orders = [list(order) for order in itertools.permutations(range(3))]
    order = max(orders, key=lambda columns: float(np.abs(axes[rows, columns]).sum()))
    axes = axes[:, order] * np.where(np.diag(axes[:, order]) < 0.0, -1.0, 1.0)
    if np.linalg.det(axes) < 0.0:
        axes[:, np.argmin(np.abs(np.diag(axes)))] *= -1.0
    return PrincipalFrame(moments[order], axes)
