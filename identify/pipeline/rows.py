"""Rows of a user's regressor: read in the order of phi, in units of their noise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Indices, as_real, seal
from identify.errors import ProblemError
from identify.inertia.conventions import ColumnOrder
from identify.regressors import ParameterSpace

Noise: TypeAlias = ArrayLike | Mapping[object, ArrayLike]
"""Standard error of all rows, of each row, or of each group by its name; or the covariance of k
successive rows of a group, shape (k, k)."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows A x = b of a regressor in the order of phi, in order of time.

    Attributes:
        A: shape (n, p).
        b: shape (n,).
        groups: name of each row's group, shape (n,).
        numbers: number of each row as it was given, shape (n,).
    """

    A: Array
    b: Array
    groups: np.ndarray
    numbers: Indices

    @classmethod
    def of(
        cls,
        A: ArrayLike,
        b: ArrayLike,
        space: ParameterSpace,
        groups: Indices | Sequence[object] | None,
        order: str | Sequence[str],
    ) -> Rows:
        """Return rows in the order of phi.

        Raises `ProblemError`: lengths differ; `ModelError`: an unknown order.
        """
        columns = ColumnOrder.of(order, len(space.bodies), len(space.scalars))
        rows, measured = seal(A, "A", (None, len(space))), seal(b, "b", (None,))
        if len(rows) != len(measured):
            raise ProblemError(
                f"A has {len(rows)} rows and b {len(measured)}: expected one measured number a row"
            )
        if groups is not None and len(groups) != len(rows):
            raise ProblemError(
                f"groups: expected {len(rows)} entries, one a row, got {len(groups)}"
            )
        names = np.zeros(len(rows), dtype=int) if groups is None else np.asarray(groups)
        return cls(columns.to_phi(rows), measured, names, np.arange(len(rows)))

    def without_repeats(self) -> Rows:
        """Return the rows without those that repeat an earlier one in every digit."""
        if len(np.unique(self.b)) == len(self.b):
            return self
        whole = np.ascontiguousarray(np.column_stack((self.A, self.b)))
        keys = whole.view(np.dtype((np.void, whole.strides[0]))).ravel()
        kept = np.sort(np.unique(keys, return_index=True)[1])
        return Rows(self.A[kept], self.b[kept], self.groups[kept], self.numbers[kept])

    def whitened(self, noise: Noise) -> Rows:
        """Return the rows in units of their noise.

        Raises `ProblemError`: noise that is not positive, or of other lengths or groups.
        """
        A, b = self.A.copy(), self.b.copy()
        for rows, value, text in self._noise_by_group(noise):
            if value.ndim < 2:
                if not (np.isfinite(value) & (value > 0.0)).all():
                    raise ProblemError(f"{text}: expected standard errors above zero")
                A[rows] /= np.broadcast_to(value, len(rows))[:, None]
                b[rows] /= value
                continue
            k = len(value)
            if value.shape != (k, k) or len(rows) % k:
                raise ProblemError(
                    f"{text}: expected a covariance of k successive rows, shape (k, k), and a "
                    f"multiple of k rows, got shape {value.shape} and {len(rows)} rows"
                )
            try:
                root = np.linalg.cholesky(value)
            except np.linalg.LinAlgError as error:
                raise ProblemError(f"{text}: the covariance is not positive definite") from error
            if not np.allclose(value, value.T, rtol=1e-9, atol=0.0):
                raise ProblemError(f"{text}: the covariance is not symmetric")
            together = np.column_stack((A[rows], b[rows])).reshape(-1, k, A.shape[1] + 1)
            together = np.linalg.solve(root, together).reshape(len(rows), -1)
            A[rows], b[rows] = together[:, :-1], together[:, -1]
        return replace(self, A=A, b=b)

    def _noise_by_group(self, noise: Noise) -> Iterator[tuple[Indices, Array, str]]:
        """Yield numbers of rows, their noise, and its name for messages."""
        if not isinstance(noise, Mapping):
            value = _numbers(noise, "noise")
            if value.ndim > 1 or (value.ndim and len(value) <= self.numbers[-1]):
                raise ProblemError(
                    "noise: expected one number a row, a number, or a mapping of groups to numbers "
                    f"or covariances, got shape {value.shape}"
                )
            value = value[self.numbers] if value.ndim else value
            yield np.arange(len(self.b)), value, "noise"
            return
        names = np.unique(self.groups).tolist()
        if set(names) != set(noise):
            raise ProblemError(
                f"noise: expected the groups {', '.join(map(str, names))}, got "
                f"{', '.join(map(str, noise))}"
            )
        for name, value in noise.items():
            rows = np.flatnonzero(self.groups == name)
            text = f"noise of group {name!r}"
            yield rows, _numbers(value, text), text


def sets_of_rows(A: ArrayLike, b: ArrayLike) -> Iterator[tuple[Array, Array]]:
    """Return each b of shape (n, k) with the one A, or the pairs of a stack (k, n, p) and (k, n).

    Raises `ProblemError`: other shapes.
    """
    regressors, measured = as_real(A, "A", ProblemError), as_real(b, "b", ProblemError)
    if regressors.ndim == 2 and measured.ndim == 2:
        measured = measured.T
        regressors = np.broadcast_to(regressors, (len(measured), *regressors.shape))
    if regressors.ndim != 3 or measured.shape != regressors.shape[:2]:
        raise ProblemError(
            "A and b: expected shapes (n, p) and (n,), (n, p) and (n, k), or (k, n, p) and "
            f"(k, n), got {np.shape(A)} and {np.shape(b)}"
        )
    return zip(regressors, measured, strict=True)


def _numbers(values: object, name: str) -> Array:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ProblemError(f"{name}: expected numbers, got {values!r}") from error
