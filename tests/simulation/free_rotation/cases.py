"""Free rotations of every kind, among them those where digits are easily lost."""

from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

AXES = Rotation.from_rotvec([0.7, -1.1, 0.4]).as_matrix()
QUATERNION = np.array([0.1, -0.5, 0.3, 0.8])


class Case(NamedTuple):
    moments: tuple[float, float, float]
    spin: tuple[float, float, float]


OSCILLATING = {
    "about the smallest": Case((1.0, 2.0, 2.5), (1.0, 0.3, 0.2)),
    "about the largest": Case((1.0, 2.0, 2.5), (0.2, 0.3, 1.0)),
    "axes in another order": Case((2.0, 1.0, 2.5), (0.1, -0.8, -0.3)),
    "backwards": Case((2.5, 1.0, 2.0), (-1.0, -0.3, -0.2)),
    "separatrix 1e-5": Case((1.0, 2.0, 2.25), (0.75 * (1 + 1e-5), 0.1, 1.0)),
    "separatrix 1e-9": Case((1.0, 2.0, 2.25), (0.75 * (1 + 1e-9), 0.5, 1.0)),
    "separatrix 1e-13": Case((1.0, 2.0, 2.25), (0.75 * (1 - 1e-13), 0.5, 1.0)),
    "separatrix, below": Case((1.0, 2.0, 2.25), (0.75 * (1 - 1e-5), -0.5, -1.0)),
    "oblate": Case((1.0, 1.0, 1.8), (0.3, 0.2, 1.0)),
    "prolate": Case((2.0, 2.0, 0.3), (0.3, 0.2, 1.0)),
    "near oblate 1e-9": Case((1.0, 1.0 + 1e-9, 1.8), (0.3, 0.2, 1.0)),
    "near prolate 1e-14": Case((2.0, 2.0 + 1e-14, 0.3), (0.3, 0.2, 1.0)),
    "tennis racket": Case((1.0, 2.0, 2.5), (1e-6, 1.0, 1e-7)),
    "tennis racket, backwards": Case((1.0, 2.0, 2.5), (1e-9, -1.0, 1e-6)),
    "slow swing 1e-9": Case((1.0, 2.0, 2.0 + 1e-9), (1e-6, 0.5, 1.0)),
    "slow swing, small": Case((2.0 - 1e-9, 2.0, 1.0), (1.0, 0.5, 1e-5)),
    "slow swing 1e-14": Case((2.0 - 1e-14, 2.0, 1.0), (1.0, 0.5, 1e-9)),
    "thin rod": Case((1e-6, 1.0, 1.0), (1.0, 0.5, 0.3)),
    "thin rod, other axis": Case((1e-6, 1.0, 1.0 + 5e-7), (1e-4, 0.5, 0.3)),
    "near sphere 1e-8": Case((1.0, 1.0 + 1e-8, 1.0 + 3e-8), (0.3, 0.5, 0.6)),
    "near sphere 1e-15": Case((1.0, 1.0 + 1e-15, 1.0 + 3e-15), (0.3, 0.5, 0.6)),
    "all but a pure spin": Case((1.0, 2.0, 2.5), (1.0, 1e-9, 1e-9)),
}
"""Those with a finite period."""

OTHERS = {
    "on the separatrix": Case((1.0, 2.0, 2.25), (0.75, 0.0, 1.0)),
    "on the separatrix, later": Case((1.0, 2.0, 2.25), (-0.75, 0.4, 1.0)),
    "on the separatrix, other side": Case((1.0, 2.0, 2.25), (-0.75, -0.4, -1.0)),
    "sphere": Case((1.5, 1.5, 1.5), (0.3, 0.2, 1.0)),
    "at rest": Case((1.0, 2.0, 2.5), (0.0, 0.0, 0.0)),
    "spin, smallest": Case((1.0, 2.0, 2.5), (-2.0, 0.0, 0.0)),
    "spin, middle": Case((1.0, 2.0, 2.5), (0.0, 2.0, 0.0)),
    "spin, largest": Case((1.0, 2.0, 2.5), (0.0, 0.0, 2.0)),
    "spin across a top": Case((1.0, 1.0, 1.8), (0.3, 0.2, 0.0)),
}
ALL = OSCILLATING | OTHERS


def body(case: Case, turned: bool) -> tuple[np.ndarray, np.ndarray]:
    """Inertia and angular velocity, in principal axes or turned by a rotation."""
    inertia, w = np.diag(case.moments), np.array(case.spin)
    if not turned:
        return inertia, w
    inertia = AXES @ inertia @ AXES.T
    return 0.5 * (inertia + inertia.T), AXES @ w
