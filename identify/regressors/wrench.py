"""A body in a wrench sensor: its columns z = [1, ψ, w], and its equations in the unknowns.

    r = w − Y(ψ) φ − offset

Every entry of the Newton-Euler regressor is linear in the twelve features ψ, so the residual of a
sample is linear in z. A sensor's offset acts on the constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Vec6
from identify.errors import ProblemError
from identify.regressors.equations import Equations, Offsets
from identify.regressors.newton_euler import FEATURE_TENSOR, FEATURES, WRENCH
from identify.regressors.space import ONE_BODY, ParameterSpace
from identify.regressors.statistics import CHUNK, Group, Layout, Statistics, absorb
from identify.spatial import BodyMotion, Pose, PoseLike, coadjoint

WRENCH_LAYOUT = Layout(
    columns=("1", *FEATURES, *WRENCH),
    groups=(Group("wrench", WRENCH, (*["force"] * 3, *["torque"] * 3)),),
    fit=19,
)
"""z = [1, ψ, w]: the constant, twelve features and six wrench components."""

PSI = slice(1, 13)
W = slice(13, 19)


@dataclass(frozen=True, slots=True)
class BodyWrench(Equations):
    """The wrench on one body, or on several that move as one, in each log.

    Attributes:
        space: of the unknowns.
        offsets: whose sensor offset is fitted.
        bodies: which bodies a log moves: one entry for all logs, or one for each.
    """

    space: ParameterSpace = ONE_BODY
    offsets: Offsets = "per_log"
    bodies: tuple[tuple[str, ...], ...] = (("body",),)

    def __post_init__(self) -> None:
        self.check_offsets()

    def residual(self, log: int, group: int) -> Array:
        """Coefficients of w − Y(ψ) φ, shape (19, 6, 1 + p)."""
        bodies = self.bodies[log if len(self.bodies) > 1 else 0]
        C = np.zeros((WRENCH_LAYOUT.fit, 6, 1 + len(self.space)))
        C[W, :, 0] = np.eye(6)
        for body in bodies:
            where = self.space.of_body(body)
            C[PSI, :, 1 + where.start : 1 + where.stop] = FEATURE_TENSOR
        return C

    def same_as(self, log: int) -> object:
        """What tells the equations of one log from those of another."""
        return self.bodies[log if len(self.bodies) > 1 else 0]


def wrench_statistics(
    motion: BodyMotion,
    wrench: Vec6,
    *,
    effective_samples: float | None = None,
    log: str = "",
) -> Statistics:
    """Statistics of samples of one log, as one block.

    Args:
        motion: in B, n samples.
        wrench: the wrench on the body at Bo in B [N, N m], shape (n, 6).
        effective_samples: how many samples count as independent; n where not given.
        log: its name.
    """
    wrench = np.asarray(wrench, dtype=np.float64)
    factor = factor_of_motion(motion, wrench)
    return Statistics.from_factor(WRENCH_LAYOUT, factor, len(wrench), effective_samples, log=log)


def factor_of_motion(motion: BodyMotion, wrench: Vec6) -> Array:
    """R of the samples z = [1, ψ, w] of a motion and its wrench, shape (19, 19)."""
    a, w = motion.proper_acceleration, motion.angular_velocity
    al = motion.angular_acceleration
    width = len(WRENCH_LAYOUT.columns)
    factor = np.zeros((width, width), order="F")
    chunk = np.empty((width, CHUNK))
    for start in range(0, len(wrench), CHUNK):
        rows = slice(start, start + CHUNK)
        rates = w[rows].T
        z = chunk[:, : rates.shape[1]]
        z[0] = 1.0
        z[1:4], z[4:7], z[W] = a[rows].T, al[rows].T, wrench[rows].T
        np.multiply(rates, rates, out=z[7:10])
        np.multiply(rates[0], rates[1:], out=z[10:12])
        np.multiply(rates[1], rates[2], out=z[12])
        factor = absorb(factor, z)
    return np.triu(factor)


def in_frame(statistics: Statistics, X_CB: PoseLike) -> Statistics:
    """The same logs with body axes and reference point C in place of B.

    Features and wrench change linearly, so the log is not read again.

    Args:
        statistics: of the wrench layout.
        X_CB: pose of the old body frame B in the new one C (both fixed in the body).

    Raises:
        ProblemError: the statistics are of another layout.
    """
    if statistics.layout != WRENCH_LAYOUT:
        raise ProblemError("only statistics of a wrench and a body's motion change their frame")
    M = np.eye(len(WRENCH_LAYOUT.columns))
    M[1:, 1:] = frame_change(X_CB).T
    return statistics.mapped(M)


def frame_change(X_CB: PoseLike) -> Array:
    """Matrix that maps [ψ, w] about Bo in B to those about Co in C, shape (18, 18).

    a'_C = R (a'_B + (α× + ω×ω×) p) with p = p_BoCo_B and R = R_CB; α and the products of ω rotate;
    the wrench moves by the coadjoint.
    """
    X_CB = Pose.of(X_CB)
    R = X_CB.rotation
    p = X_CB.inverse().position
    G = np.zeros((18, 18))
    # ∂f/∂h of the Newton-Euler equations is (α× + ω×ω×): the same matrix carries p here.
    carry = np.einsum("jik,k->ij", FEATURE_TENSOR[:, :3, 1:4], p)
    G[:3, :12] = R @ carry
    G[:3, :3] += R
    G[3:6, 3:6] = R
    G[6:12, 6:12] = _rotated_products(R)
    G[12:, 12:] = coadjoint(X_CB)
    return G


def _rotated_products(R: Array) -> Array:
    """Matrix of ωωᵀ → R ωωᵀ Rᵀ on [xx, yy, zz, xy, xz, yz], shape (6, 6)."""
    pairs: Sequence[tuple[int, int]] = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    matrix = np.empty((6, 6))
    for row, (i, j) in enumerate(pairs):
        for column, (k, m) in enumerate(pairs):
            both = R[i, k] * R[j, m] + (R[i, m] * R[j, k] if k != m else 0.0)
            matrix[row, column] = both
    return matrix
