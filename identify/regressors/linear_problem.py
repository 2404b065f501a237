"""`LinearProblem`: all an estimator sees of a log."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, seal
from identify.inertia import PHI
from identify.regressors.triangular import triangle


@dataclass(frozen=True, slots=True)
class LinearProblem:
    """Least squares min ‖A x − b‖² in reduced rows, in units of the noise where it was weighted.

    The sum of squared residuals of the whole log is ‖A x − b‖² + floor², for any x.

    Attributes:
        A: upper triangular, shape (p, p).
        b: shape (p,).
        floor: norm of the part of the data that no parameters reach.
        equations: how many independent scalar equations the data are.
        nuisances: how many further parameters (sensor offsets) were fitted and eliminated.
        names: names of the p parameters.
    """

    A: Array
    b: Array
    floor: float
    equations: float
    nuisances: int = 0
    names: tuple[str, ...] = PHI

    def __post_init__(self) -> None:
        p = len(self.names)
        object.__setattr__(self, "A", seal(self.A, "A", (p, p)))
        object.__setattr__(self, "b", seal(self.b, "b", (p,)))

    @classmethod
    def from_rows(
        cls,
        rows: Array,
        equations: float,
        *,
        nuisances: int = 0,
        names: tuple[str, ...] = PHI,
    ) -> LinearProblem:
        """Reduce rows [A | b] of any number to the p rows that matter, by QR.

        Args:
            rows: shape (n, p + 1).
            equations: effective number of independent equations among them.
            nuisances: parameters already eliminated from the rows.
            names: names of the p parameters.
        """
        p = len(names)
        reduced = triangle(rows)
        return cls(
            A=reduced[:p, :p],
            b=reduced[:p, p],
            floor=float(abs(reduced[p, p])),
            equations=equations,
            nuisances=nuisances,
            names=names,
        )

    @property
    def degrees_of_freedom(self) -> float:
        """Equations less parameters, at least one."""
        return max(self.equations - len(self.names) - self.nuisances, 1.0)

    def residual_norm(self, x: Array) -> float:
        """Norm of the residuals of the whole log at parameters x."""
        return float(np.hypot(np.linalg.norm(self.A @ x - self.b), self.floor))
