"""Model equations: the coefficients by which unknowns act on the columns of a log."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, get_args

import numpy as np

from identify.arrays import Array, Indices
from identify.errors import ProblemError
from identify.regressors.parameter_space import ONE_BODY_SPACE, ParameterSpace
from identify.regressors.statistics import (
    QR_CHUNK_ROWS,
    ChannelGroup,
    RowLayout,
    Statistics,
    factor_of_rows,
    max_block_count,
)

Offsets: TypeAlias = Literal["per_log", "shared", "none"]
"""Sensor offsets that are fitted: one per log (sensors are zeroed between logs), one shared by all
logs, or none."""

_MIN_ROWS_PER_BLOCK = 5
"""Smallest mean number of regressor rows that a group of channels has in a time block."""

_MAX_BLOCKS = 10
"""Largest number of blocks of a stacked regressor, whose halves and fifths are compared."""


class Equations(ABC):
    """Model equations that are linear in the unknowns x, for the rows z of a log.

    The residual of a row is r = z · (B0 − B x) − offset, with coefficients B0 and B.

    Attributes:
        space: the unknowns.
        offsets: which sensor offsets are fitted as well; they act on the constant column.
    """

    __slots__ = ()

    space: ParameterSpace
    offsets: Offsets
    noise_known: bool = False
    rounding: ClassVar[float] = 1e-9
    """Relative size of residuals below which they are rounding errors of the measured values, as of
    a log with nine digits."""

    @abstractmethod
    def residual_coefficients(self, log: int, group: int) -> Array:
        """Return the coefficients [B0 | B] of the residuals of one group of channels of a log.

        Returns:
            Shape (fit, m, 1 + p) for m channels and p unknowns: r = Σ_k z_k (B0_k − B_k x).
        """

    def equation_key(self, log: int, group: int) -> object:
        """Return a key by which logs with equal equations share them: by default the group."""
        return group

    def check_offsets(self) -> None:
        """Raise `ProblemError` unless `offsets` is a known choice of fitted sensor offsets."""
        if self.offsets not in get_args(Offsets):
            raise ProblemError(
                f"bias: expected one of {', '.join(get_args(Offsets))}, got {self.offsets!r}"
            )


@dataclass(frozen=True, slots=True)
class StackedEquations(Equations):
    """Equations A x = b of a user's stacked regressor, with one channel and no sensor offset.

    Attributes:
        noise_known: whether the rows are in units of their noise, which is then not estimated.
    """

    space: ParameterSpace = ONE_BODY_SPACE
    offsets: Offsets = "none"
    noise_known: bool = False
    rounding: ClassVar[float] = 1e-14  # of numbers in memory

    def residual_coefficients(self, log: int, group: int) -> Array:
        """Return the coefficients of the residual b − A x, shape (p + 1, 1, 1 + p)."""
        p = len(self.space)
        C = np.zeros((p + 1, 1, p + 1))
        C[p, 0, 0] = 1.0
        C[:p, 0, 1:] = np.eye(p)
        return C


def stacked_statistics(
    A: Array, b: Array, groups: Indices | Sequence[object] | None = None
) -> Statistics:
    """Compute the sufficient statistics of a stacked regressor A with measured values b.

    Args:
        A: regressor, in order of time, shape (n, p).
        b: measured values, shape (n,).
        groups: rows with equal entries share one weight, shape (n,); one group if not given.
    """
    group_names, group_of_row = np.unique(
        np.zeros(len(b), dtype=int) if groups is None else np.asarray(groups), return_inverse=True
    )
    K = A.shape[1] + 1
    layout = RowLayout(
        columns=(*(f"A{k}" for k in range(K - 1)), "b"),
        groups=tuple(
            ChannelGroup(str(label), (f"b of {label}",), ("b",)) for label in group_names.tolist()
        ),
        fit=K,
    )
    rows = np.concatenate((A, np.asarray(b)[:, None]), axis=1)
    rows_per_block = max(_MIN_ROWS_PER_BLOCK, K // 2) * len(group_names)
    most = min(max_block_count(layout), _MAX_BLOCKS)
    blocks = max(1, min(most, len(b) // rows_per_block))
    block_of_row = np.arange(len(b)) * blocks // len(b)
    number = block_of_row * len(group_names) + group_of_row.reshape(-1)
    counts = np.bincount(number, minlength=blocks * len(group_names))
    cells = np.flatnonzero(counts)
    counts = counts[cells]
    parts = np.split(rows[np.argsort(number, kind="stable")], np.cumsum(counts)[:-1])
    if len(parts[0]) < QR_CHUNK_ROWS and (counts == counts[0]).all():
        factors = np.asarray(np.linalg.qr(np.array(parts), mode="r"))  # of all cells in one call
    else:
        factors = np.array([factor_of_rows(part) for part in parts])
    return Statistics(
        layout=layout,
        factors=factors,
        log=np.zeros(len(cells), dtype=np.intp),
        block=cells // len(group_names),
        group=cells % len(group_names),
        samples=counts.astype(np.float64),
        effective_samples=counts.astype(np.float64),
        noise=np.zeros((1, len(group_names), K, K)),
    )
