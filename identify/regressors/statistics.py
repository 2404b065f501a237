"""One pass over a log: the triangular factor that every wrench estimator works from.

Every entry of the Newton-Euler regressor is linear in the twelve features ψ, so the residual of a
sample is linear in the 19 numbers z = [1, ψ, w]:

    r = w − Y(ψ) φ − bias = C(φ, bias) z

For any weight W the cost Σ rᵀ W r therefore depends on the log only through the factor R (19×19,
upper triangular) of the matrix of all z: it is ‖W^½ C Rᵀ‖². R is built in chunks by QR and never
through a Gram matrix, so nothing is squared. The constant comes first: R without its first row and
column is the factor of the centred data, from which a bias is eliminated exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from scipy.linalg.lapack import dtpqrt

from identify.arrays import Array, Mat66, Phi, Vec6, seal
from identify.errors import ProblemError
from identify.regressors.linear_problem import LinearProblem
from identify.regressors.newton_euler import FEATURE_TENSOR, regressor_from_features
from identify.regressors.triangular import triangle
from identify.spatial import BodyMotion, Pose, coadjoint

Bias: TypeAlias = Literal["per_log", "shared", "none"]
"""Whose sensor bias is fitted: one a log (sensors are zeroed between logs), one in all, or none."""

WIDTH = 19
"""Length of z = [1, ψ, w]: the constant, twelve features and six wrench components."""
PSI = slice(1, 13)
W = slice(13, 19)

_CHUNK = 2048
_PANEL = 4


@dataclass(frozen=True, slots=True)
class WrenchStatistics:
    """The factor of all samples z of one or more logs, and their counts.

    Chunks of one log add up (`+`); logs join by `merge_logs`, which keeps each log's own first row
    so that a bias per log, a shared one or none come back exactly.

    Attributes:
        centred: factor of the features and wrenches less each log's mean, shape (18, 18).
        first_rows: first row of each log's R, shape (logs, 19): entry 0 is the norm of the
            constant, the others are the projections of ψ and w on it.
        samples: number of samples of each log, shape (logs,).
        effective: how many of them count as independent, shape (logs,).
    """

    centred: Array
    first_rows: Array
    samples: Array
    effective: Array

    def __post_init__(self) -> None:
        for name, shape in (
            ("centred", (WIDTH - 1, WIDTH - 1)),
            ("first_rows", (None, WIDTH)),
            ("samples", (None,)),
            ("effective", (None,)),
        ):
            object.__setattr__(self, name, seal(getattr(self, name), name, shape))

    @classmethod
    def from_samples(
        cls,
        motion: BodyMotion,
        wrench: Vec6,
        *,
        effective: float | None = None,
    ) -> WrenchStatistics:
        """Statistics of samples of one log.

        Args:
            motion: in B, n samples.
            wrench: the wrench on the body at Bo in B [N, N m], shape (n, 6).
            effective: how many samples count as independent; n where not given.
        """
        factor = factor_of_motion(motion, np.asarray(wrench, dtype=np.float64))
        return cls.from_factor(factor, len(wrench), effective)

    @classmethod
    def from_rows(cls, rows: Array, *, effective: float | None = None) -> WrenchStatistics:
        """Statistics of rows z = [constant, ψ, w] as a filter leaves them, shape (n, 19)."""
        return cls.from_factor(factor_of_rows(rows), len(rows), effective)

    @classmethod
    def from_factor(
        cls, factor: Array, samples: int, effective: float | None = None
    ) -> WrenchStatistics:
        """Statistics of one log from its factor R, shape (19, 19)."""
        return cls(
            centred=factor[1:, 1:],
            first_rows=factor[:1],
            samples=np.array([samples]),
            effective=np.array([samples if effective is None else effective]),
        )

    @property
    def logs(self) -> int:
        """How many logs are joined."""
        return len(self.first_rows)

    @property
    def factor(self) -> Array:
        """R of all samples together, as if of one log, shape (19, 19)."""
        stacked = np.zeros((self.logs + WIDTH - 1, WIDTH))
        stacked[: self.logs] = self.first_rows
        stacked[self.logs :, 1:] = self.centred
        return triangle(stacked)

    def __add__(self, other: WrenchStatistics) -> WrenchStatistics:
        """Statistics of two chunks of one log.

        Raises:
            ValueError: one of them holds several logs; join logs by `merge_logs`.
        """
        if self.logs != 1 or other.logs != 1:
            raise ValueError("only chunks of one log add up; join logs by merge_logs")
        factor = triangle(np.concatenate((self.factor, other.factor)))
        return WrenchStatistics(
            centred=factor[1:, 1:],
            first_rows=factor[:1],
            samples=self.samples + other.samples,
            effective=self.effective + other.effective,
        )

    def in_frame(self, X_CB: Pose) -> WrenchStatistics:
        """The same log with body axes and reference point C in place of B.

        Features and wrench change linearly, so the log is not read again.

        Args:
            X_CB: pose of the old body frame B in the new one C (both fixed in the body).
        """
        G = frame_change(X_CB)
        first = self.first_rows.copy()
        first[:, 1:] = first[:, 1:] @ G.T
        return WrenchStatistics(
            centred=triangle(self.centred @ G.T),
            first_rows=first,
            samples=self.samples,
            effective=self.effective,
        )

    def rows(self, bias: Bias = "per_log") -> Array:
        """Rows [ψ, w] that hold the whole cost once the bias is eliminated, shape (18, 18)."""
        if bias == "per_log":
            return self.centred
        if bias == "shared":
            return self.factor[1:, 1:]
        return triangle(np.concatenate((self.first_rows[:, 1:], self.centred)))

    def nuisances(self, bias: Bias) -> int:
        """How many bias parameters are fitted."""
        return {"per_log": 6 * self.logs, "shared": 6, "none": 0}[bias]

    def problem(self, weight: Mat66 | None = None, bias: Bias = "per_log") -> LinearProblem:
        """The least-squares problem in the ten parameters.

        Args:
            weight: W of the cost Σ rᵀ W r, symmetric positive definite, shape (6, 6); the identity
                where not given.
            bias: whose sensor bias is fitted with them, and eliminated.

        Raises:
            ProblemError: the weight is not positive definite.
        """
        rows = self.rows(bias)
        A = regressor_from_features(rows[:, :12])
        b = rows[:, 12:]
        if weight is not None:
            L = whitener(weight)
            A, b = L @ A, b @ L.T
        return LinearProblem.from_rows(
            np.concatenate((A.reshape(-1, 10), b.reshape(-1, 1)), axis=1),
            equations=6.0 * float(self.effective.sum()),
            nuisances=self.nuisances(bias),
        )

    def residual_moment(self, phi: Phi, bias: Bias = "per_log") -> Mat66:
        """Σ r rᵀ at parameters phi, with the bias that suits them best, shape (6, 6)."""
        residuals = residual_rows(self.rows(bias), phi)
        return residuals.T @ residuals

    def biases(self, phi: Phi, bias: Bias = "per_log") -> Vec6:
        """The sensor bias [f; t] of each log at Bo in B that suits parameters phi, shape (logs, 6).

        A bias is what the sensor adds: measured wrench = wrench on the body + bias.
        """
        if bias == "none":
            return np.zeros((self.logs, 6))
        first = self.factor[:1] if bias == "shared" else self.first_rows
        values = residual_rows(first[:, 1:], phi) / first[:, :1]
        return np.repeat(values, self.logs, axis=0) if bias == "shared" else values


def merge_logs(logs: Sequence[WrenchStatistics]) -> WrenchStatistics:
    """Statistics of several logs of the same body, each with its own sensor bias.

    Args:
        logs: at least one.
    """
    if not logs:
        raise ValueError("merge_logs needs at least one log")
    return WrenchStatistics(
        centred=triangle(np.concatenate([log.centred for log in logs])),
        first_rows=np.concatenate([log.first_rows for log in logs]),
        samples=np.concatenate([log.samples for log in logs]),
        effective=np.concatenate([log.effective for log in logs]),
    )


def residual_rows(rows: Array, phi: Phi) -> Array:
    """Residuals w − Y(ψ) φ of rows [ψ, w], shape (..., 18) to (..., 6)."""
    return rows[..., 12:] - rows[..., :12] @ (FEATURE_TENSOR @ phi)


def whitener(weight: Mat66) -> Mat66:
    """L with Lᵀ L = W.

    Raises:
        ProblemError: the weight is not positive definite.
    """
    try:
        return np.linalg.cholesky(weight).T
    except np.linalg.LinAlgError as error:
        raise ProblemError("the weight of the residuals is not positive definite") from error


def factor_of_motion(motion: BodyMotion, wrench: Vec6) -> Array:
    """R of the samples z = [1, ψ, w] of a motion and its wrench, shape (19, 19)."""
    a, w = motion.proper_acceleration, motion.angular_velocity
    al = motion.angular_acceleration
    factor = np.zeros((WIDTH, WIDTH), order="F")
    chunk = np.empty((WIDTH, _CHUNK))
    for start in range(0, len(wrench), _CHUNK):
        part = slice(start, start + _CHUNK)
        rates = w[part].T
        z = chunk[:, : rates.shape[1]]
        z[0] = 1.0
        z[1:4], z[4:7], z[W] = a[part].T, al[part].T, wrench[part].T
        np.multiply(rates, rates, out=z[7:10])
        np.multiply(rates[0], rates[1:], out=z[10:12])
        np.multiply(rates[1], rates[2], out=z[12])
        factor = _absorb(factor, z)
    return np.triu(factor)


def factor_of_rows(rows: Array) -> Array:
    """R of rows z, shape (n, 19) to (19, 19)."""
    factor = np.zeros((WIDTH, WIDTH), order="F")
    for start in range(0, len(rows), _CHUNK):
        factor = _absorb(factor, rows[start : start + _CHUNK].T)
    return np.triu(factor)


def _absorb(factor: Array, z: Array) -> Array:
    """R of [R; zᵀ] by a triangular-pentagonal QR; `z` is (19, n) and is overwritten."""
    panel = np.array(z.T, order="F")
    return dtpqrt(0, _PANEL, factor, panel, overwrite_a=1, overwrite_b=1)[0]


def frame_change(X_CB: Pose) -> Array:
    """Matrix that maps [ψ, w] about Bo in B to those about Co in C, shape (18, 18).

    a'_C = R (a'_B + (α× + ω×ω×) p) with p = p_BoCo_B and R = R_CB; α and the products of ω rotate;
    the wrench moves by the coadjoint.
    """
    R = X_CB.rotation
    p = X_CB.inverse().position
    G = np.zeros((WIDTH - 1, WIDTH - 1))
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
    pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    matrix = np.empty((6, 6))
    for row, (i, j) in enumerate(pairs):
        for column, (k, m) in enumerate(pairs):
            both = R[i, k] * R[j, m] + (R[i, m] * R[j, k] if k != m else 0.0)
            matrix[row, column] = both
    return matrix
