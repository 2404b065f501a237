"""Whether an estimate is a possible body, and how far its pseudo-inertia is from the true one."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from identify.arrays import Phi
from identify.experiments.estimators import Answer
from identify.inertia import pseudo_inertia, smallest_pseudo_eigenvalue


def consistent(answer: Answer) -> float:
    """1 where Pi ≻ 0, judged about the centre of mass in units of the body's own size; else 0."""
    return float(smallest_pseudo_eigenvalue(answer.phi) > 0.0)


def riemannian_distance(phi: Phi, truth: Phi) -> float:
    """Geodesic distance of pseudo-inertias, √(½ Σ log² λ), λ the eigenvalues of Π⁻¹ Π_true.

    It is the same in every frame and unit. NaN where the estimate is not positive definite.
    """
    if not smallest_pseudo_eigenvalue(phi) > 0.0:
        return float("nan")
    ratios = eigh(pseudo_inertia(phi), pseudo_inertia(truth), eigvals_only=True)
    if not ratios[0] > 0.0:
        return float("nan")
    return float(np.sqrt(0.5 * np.sum(np.log(ratios) ** 2)))
