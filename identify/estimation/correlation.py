"""Correlations of an estimate's mass, centre of mass and inertia."""

from __future__ import annotations

import numpy as np

from identify.arrays import Array
from identify.estimation.intervals import COM_NAMES, INERTIA_ABOUT_COM_NAMES, derived_jacobian
from identify.exchange import SavedEstimate
from identify.inertia import PHI


def correlations_of(estimate: SavedEstimate) -> tuple[tuple[str, ...], Array]:
    """Compute correlations of the errors of mass, centre of mass and inertia about it.

    `estimate`: with a covariance; what it was given, or what the default body completes, is left
    out.
    Returns names of the others, and the matrix, shape (n, n).
    """
    if estimate.covariance is None:
        return (), np.zeros((0, 0))
    jacobian = np.vstack((np.eye(10)[:1], derived_jacobian(estimate.parameters.phi)))
    covariance = jacobian @ estimate.covariance @ jacobian.T
    names = ("m", *COM_NAMES, *INERTIA_ABOUT_COM_NAMES)  # decided as m, h and I, in this order
    indices = [
        k
        for k, behind in enumerate(PHI)
        if estimate.decided_by.get(names[k], estimate.decided_by.get(behind))
        not in ("default", "given")
        and covariance[k, k] > 0.0
    ]
    selected = covariance[np.ix_(indices, indices)]
    sigma = np.sqrt(np.diag(selected))
    return tuple(names[k] for k in indices), selected / sigma / sigma[:, None]
