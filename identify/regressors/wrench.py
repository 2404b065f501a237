"""Equations of the wrench on a body in its inertial parameters, and their columns.

    r = w − Y(ψ) φ − offset

Every entry of the Newton-Euler regressor is linear in the twelve features ψ, so the residual of a
sample is linear in z. A sensor's offset acts on the constant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from identify.arrays import Array, Indices, Phi, Vec3, Vec6, as_real
from identify.regressors.accumulation import statistics_of_blocks
from identify.regressors.equations import Equations, Offsets
from identify.regressors.newton_euler import FEATURE_NAMES, FEATURE_TENSOR, WRENCH_NAMES
from identify.regressors.parameter_space import ONE_BODY_SPACE, ParameterSpace
from identify.regressors.statistics import (
    MAX_TIME_BLOCKS,
    QR_CHUNK_ROWS,
    ChannelGroup,
    RowLayout,
    Statistics,
    qr_update,
)
from identify.signals.prepared_log import BlockRows, PreparedLog
from identify.signals.transform import BAND_EDGES_HZ, CONSTANT_GROUP
from identify.spatial import BodyMotion
from identify.spatial.columns import (
    ANGULAR_ACCELERATION,
    FEATURES,
    FIT_COLUMN_COUNT,
    FORCE_AXES,
    PRODUCT_PAIRS,
    PROPER_ACCELERATION,
    RATE_PRODUCTS,
    TORQUE_AXES,
    WRENCH,
)
from identify.spatial.rotations import hat

WRENCH_LAYOUT = RowLayout(
    columns=("1", *FEATURE_NAMES, *WRENCH_NAMES),
    groups=(ChannelGroup("wrench", WRENCH_NAMES, (*["force"] * 3, *["torque"] * 3)),),
    fit=FIT_COLUMN_COUNT,
)
"""Layout of equation rows [1, ψ, w]: constant, twelve motion features, six wrench components."""

SCAN_LAYOUT = RowLayout(
    columns=WRENCH_LAYOUT.columns,
    groups=(
        ChannelGroup("mean", WRENCH_NAMES, WRENCH_LAYOUT.groups[0].quantities),
        *(
            ChannelGroup(f"{low:g}-{high:g} Hz", WRENCH_NAMES, WRENCH_LAYOUT.groups[0].quantities)
            for low, high in pairwise(BAND_EDGES_HZ)
        ),
    ),
    fit=FIT_COLUMN_COUNT,
)
"""Layout of equation rows by frequency: a group of means of time blocks, and one for each band."""

WIDE_LAYOUT = RowLayout(
    columns=(
        *SCAN_LAYOUT.columns,
        *(f"R{world}{body}" for body in "xyz" for world in "xyz"),
        *(f"d{name}" for name in WRENCH_NAMES),
        *(f"dd{name}" for name in WRENCH_NAMES),
        *(f"Rp{body}" for body in "xyz"),
    ),
    groups=SCAN_LAYOUT.groups,
    fit=SCAN_LAYOUT.fit,
)
"""Layout of rows with all columns [1, ψ, w, Rᵀ, ẇ, ẅ, Rᵀp], which corrections of logs need.

Rᵀ of R_WB by rows (zero without an attitude); ẇ and ẅ are derivatives of w as seen from B; p of Bo
in W (zero without a position).
"""

Drift: TypeAlias = Callable[[Array, Array], Array]
"""Function from the ends of n time intervals, as fractions of a log, to mean offsets (n, 6)."""


@dataclass(frozen=True, slots=True)
class WrenchEquations(Equations):
    """Equations of the wrench on one body, or on several rigidly connected bodies.

    Attributes:
        space: the unknowns.
        offsets: which sensor offsets are fitted.
        bodies: names of the bodies that move in a log: one entry for all logs, or one for each.
        flight_com: centre of mass in B [m] of one body in free flight, whose torque equation is
            then about it; None if a force acts. See `about_com_in_flight`.
    """

    space: ParameterSpace = ONE_BODY_SPACE
    offsets: Offsets = "per_log"
    bodies: tuple[tuple[str, ...], ...] = (("body",),)
    flight_com: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        self.check_offsets()

    def residual_coefficients(self, log: int, group: int) -> Array:
        """Return the coefficients of the Newton-Euler residual w − Y φ, shape (19, 6, 1 + p)."""
        bodies = self.bodies[log if len(self.bodies) > 1 else 0]
        C = np.zeros((WRENCH_LAYOUT.fit, 6, 1 + len(self.space)))
        C[WRENCH, :, 0] = np.eye(6)
        for body in bodies:
            block = self.space.body_slice(body)
            C[FEATURES, :, 1 + block.start : 1 + block.stop] = FEATURE_TENSOR
        return C if self.flight_com is None else about_com_in_flight(C, np.array(self.flight_com))

    def equation_key(self, log: int, group: int) -> object:
        """Return the names of the bodies that move in a log."""
        return self.bodies[log if len(self.bodies) > 1 else 0]


def about_com_in_flight(C: Array, com: Vec3) -> Array:
    """Return coefficients of residuals in free flight with the torque about the centre of mass c.

    No force acts, so a' = −(α × c + ω × (ω × c)). With it t − c × f depends on the angular motion
    alone, which is measured better than a'; a' remains in the force, which gives c. At h = m c
    value and derivative are those of t = h × a' + I α + ω × I ω.

    `C`: coefficients of the residuals [f; t] at Bo, shape (19, 6, q); `com`: c in B [m].
    """
    psi = np.arange(FEATURES.start, FEATURES.stop)
    acceleration = psi[PROPER_ACCELERATION]
    by_rotation = -FEATURE_TENSOR[:, FORCE_AXES, 1:4] @ com
    by_rotation[PROPER_ACCELERATION] = 0.0
    torque = C[:, TORQUE_AXES] - np.einsum("ij,kjq->kiq", hat(com), C[:, FORCE_AXES])
    torque[psi] += np.einsum("kj,jiq->kiq", by_rotation, torque[acceleration])
    torque[acceleration] = 0.0
    return np.concatenate((C[:, FORCE_AXES], torque), axis=1)


def residual_map(phi: Phi, bias: Vec6, wrench: Array) -> Array:
    """Return the map of rows [1, ψ, w] to residuals w − Y φ − bias.

    The map has shape (19, 6), `bias` is [f; t] at Bo in B. Of a body in free flight, where all
    forces in `wrench`, shape (..., 6), are zero, the residual torque is about its centre of mass.
    """
    M = np.concatenate((-bias[None], -FEATURE_TENSOR @ phi, np.eye(6)))
    if wrench[..., FORCE_AXES].any():
        return M
    return about_com_in_flight(M[..., None], phi[1:4] / phi[0])[..., 0]


def wrench_statistics(
    motion: BodyMotion,
    wrench: Vec6,
    *,
    effective_samples: float | None = None,
    log: str = "",
) -> Statistics:
    """Compute the sufficient statistics of sampled motion and wrench, as one block of one log.

    Args:
        motion: motion in B, n samples.
        wrench: wrench on the body at Bo in B [N, N m], shape (n, 6).
        effective_samples: equivalent number of independent samples; n if not given.
        log: name of the log.
    """
    wrench = as_real(wrench, "wrench")
    factor = factor_of_motion(motion, wrench)
    return Statistics.from_factor(WRENCH_LAYOUT, factor, len(wrench), effective_samples, log=log)


def block_statistics(log: PreparedLog, max_blocks: int = MAX_TIME_BLOCKS) -> Statistics:
    """Compute the sufficient statistics of a prepared log by blocks of time, or static poses."""
    if log.recording.still:
        return static_pose_statistics(log.rows, log.recording.sha256)
    return scan_statistics(log.blocks, log.recording.sha256, max_blocks)


def fold_statistics(log: PreparedLog) -> Statistics:
    """Compute the sufficient statistics of a prepared log by cross-validation fold."""
    if log.recording.still:
        return block_statistics(log)
    return scan_statistics(log.folds, log.recording.sha256)


def scan_statistics(
    blocks: Sequence[BlockRows], log: str = "", max_blocks: int = MAX_TIME_BLOCKS
) -> Statistics:
    """Compute the sufficient statistics of a wrench log from the equation rows of its blocks.

    Args:
        blocks: one or more blocks.
        log: name of the log.
        max_blocks: largest number of blocks; if there are more, neighbours are merged.
    """
    return statistics_of_blocks(blocks, _layout_of_rows(blocks[0].rows), log, max_blocks=max_blocks)


def static_pose_statistics(rows: Array, log: str = "") -> Statistics:
    """Compute the sufficient statistics of static poses, one block each, from rows (n, K)."""
    n, zeros = len(rows), np.zeros(len(rows), dtype=np.intp)
    layout = _layout_of_rows(rows)
    K = len(layout.columns)
    return Statistics(
        layout=layout,
        factors=rows[:, None],
        log=zeros,
        block=np.arange(n),
        group=zeros,
        samples=np.ones(n),
        effective_samples=np.ones(n),
        noise=np.zeros((1, len(layout.groups), K, K)),
        logs=(log,),
    )


def block_mean_cells(statistics: Statistics) -> Indices:
    """Return indices of the cells that hold the block means of one log, in order of time."""
    cells = np.flatnonzero(statistics.group == CONSTANT_GROUP)
    return cells[np.argsort(statistics.block[cells], kind="stable")]


def equal_time_intervals(n: int) -> tuple[Array, Array]:
    """Return the starts and the ends of n equal parts of the unit interval, (n,) each."""
    edges = np.arange(n + 1) / n
    return edges[:-1], edges[1:]


def subtract_drift(statistics: Statistics, drift: Drift) -> Statistics:
    """Subtract a drifting offset from the block means of the statistics of one log."""
    cells, factors = block_mean_cells(statistics), statistics.factors.copy()
    offset = drift(*equal_time_intervals(len(cells)))
    factors[cells, :, WRENCH] -= factors[cells, :, :1] * offset[:, None]
    return replace(statistics, factors=factors)


def _layout_of_rows(rows: Array) -> RowLayout:
    """Return the layout of equation rows by their number of columns."""
    return WIDE_LAYOUT if rows.shape[1] == len(WIDE_LAYOUT.columns) else SCAN_LAYOUT


def factor_of_motion(motion: BodyMotion, wrench: Vec6) -> Array:
    """Compute the triangular factor of sampled motion and wrench, shape (19, 19)."""
    a, w = motion.proper_acceleration, motion.angular_velocity
    al = motion.angular_acceleration
    width = len(WRENCH_LAYOUT.columns)
    factor = np.zeros((width, width), order="F")
    chunk = np.empty((width, QR_CHUNK_ROWS))
    for start in range(0, len(wrench), QR_CHUNK_ROWS):
        rows = slice(start, start + QR_CHUNK_ROWS)
        rates = w[rows].T
        z = chunk[:, : rates.shape[1]]
        z[0] = 1.0
        psi, z[WRENCH] = z[FEATURES], wrench[rows].T
        psi[PROPER_ACCELERATION], psi[ANGULAR_ACCELERATION] = a[rows].T, al[rows].T
        for (i, j), product in zip(PRODUCT_PAIRS, psi[RATE_PRODUCTS], strict=True):
            np.multiply(rates[i], rates[j], out=product)
        factor = qr_update(factor, z)
    return np.triu(factor)


def point_acceleration_map(p: Vec3) -> Array:
    """Return the matrix that maps motion features to the acceleration of p relative to Bo, (3, 12).

    The acceleration is (α× + ω×ω×) p.
    """
    # ∂f/∂h of the Newton-Euler equations is the same matrix.
    return np.einsum("jik,k->ij", FEATURE_TENSOR[:, FORCE_AXES, 1:4], p)
