"""`Equations`: the model alone, which unknown acts in which column of the statistics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from identify.arrays import Array, Indices
from identify.errors import ProblemError
from identify.regressors.space import ONE_BODY, ParameterSpace
from identify.regressors.statistics import Group, Layout, Statistics, factor_of_rows

Offsets: TypeAlias = Literal["per_log", "shared", "none"]
"""Whose sensor offset is fitted: one a log (sensors are zeroed between logs), one in all, none."""

_BLOCKS = 200
_ROWS_A_BLOCK = 5


class Equations(ABC):
    """Linear equations in the unknowns x: the residual of a row z is r = z · (B0 − B x) − offset.

    Attributes:
        space: of the unknowns.
        offsets: whose offset of the channels is fitted with them; it acts on the constant.
    """

    __slots__ = ()

    space: ParameterSpace
    offsets: Offsets

    @abstractmethod
    def residual(self, log: int, group: int) -> Array:
        """Coefficients [B0 | B] of a log's group.

        Returns:
            Shape (fit, m, 1 + p) for m channels and p unknowns: r = Σ_k z_k (B0_k − B_k x).
        """

    def same_as(self, log: int, group: int) -> object:
        """Equal where the equations are: of all logs here, of each group by themselves."""
        return group

    def check_offsets(self) -> None:
        """Raise `ProblemError` unless `offsets` is one of the choices."""
        if self.offsets not in get_args(Offsets):
            raise ProblemError(
                f"bias: expected one of {', '.join(get_args(Offsets))}, got {self.offsets!r}"
            )


@dataclass(frozen=True, slots=True)
class StackedRows(Equations):
    """Rows of anybody's regressor: r = b − A x, one channel, no offset but what A has."""

    space: ParameterSpace = ONE_BODY
    offsets: Offsets = "none"

    def residual(self, log: int, group: int) -> Array:
        """Coefficients of b − A x over the columns [A | b], shape (p + 1, 1, 1 + p)."""
        p = len(self.space)
        C = np.zeros((p + 1, 1, p + 1))
        C[p, 0, 0] = 1.0
        C[:p, 0, 1:] = np.eye(p)
        return C


def stacked_statistics(
    A: Array, b: Array, groups: Indices | Sequence[object] | None = None
) -> Statistics:
    """Statistics of stacked rows [A | b], in order of time, in blocks.

    Args:
        A: regressor, shape (n, p).
        b: what was measured, shape (n,).
        groups: rows with equal entries share one weight, shape (n,); all where not given.
    """
    labels, group = np.unique(
        np.zeros(len(b), dtype=int) if groups is None else np.asarray(groups), return_inverse=True
    )
    K = A.shape[1] + 1
    layout = Layout(
        columns=(*(f"A{k}" for k in range(K - 1)), "b"),
        groups=tuple(Group(str(label), (f"b of {label}",), ("b",)) for label in labels.tolist()),
        fit=K,
    )
    rows = np.concatenate((A, np.asarray(b)[:, None]), axis=1)
    blocks = max(1, min(_BLOCKS, len(b) // (_ROWS_A_BLOCK * len(labels))))
    block = np.arange(len(b)) * blocks // len(b)
    cells, owner = np.unique(
        np.stack((block, group.reshape(-1)), axis=1), axis=0, return_inverse=True
    )
    owner = owner.reshape(-1)
    counts = np.bincount(owner).astype(np.float64)
    factors = np.array([factor_of_rows(rows[owner == k]) for k in range(len(cells))])
    return Statistics(
        layout=layout,
        factors=factors,
        log=np.zeros(len(cells), dtype=np.intp),
        block=cells[:, 0],
        group=cells[:, 1],
        samples=counts,
        effective_samples=counts,
        noise=np.zeros((1, len(labels), K, K)),
    )
