"""`StackedEstimates`: estimates of many sets of rows, made by one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from identify.arrays import Array
from identify.errors import IdentifyError
from identify.estimation import Estimate


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class StackedEstimates(Sequence[Estimate]):
    """Estimates of k sets of rows, as a sequence; each is that of a call of its own.

    An item of a set that has no estimate raises its error.

    Attributes:
        results: estimate of each set, or the error that a call of its own raises.
    """

    results: tuple[Estimate | IdentifyError, ...]

    @classmethod
    def of(cls, fits: Iterable[Callable[[], Estimate]]) -> StackedEstimates:
        """Make all estimates; raise the first error if none has one."""
        results: list[Estimate | IdentifyError] = []
        for fit in fits:
            try:
                results.append(fit())
            except IdentifyError as error:
                results.append(error)
        if results and all(isinstance(each, IdentifyError) for each in results):
            raise results[0]  # pyright: ignore[reportGeneralTypeIssues]
        return cls(tuple(results))

    def __len__(self) -> int:
        return len(self.results)

    @overload
    def __getitem__(self, index: int) -> Estimate: ...
    @overload
    def __getitem__(self, index: slice) -> StackedEstimates: ...
    def __getitem__(self, index: int | slice) -> Estimate | StackedEstimates:
        result = self.results[index]
        if isinstance(result, tuple):
            return StackedEstimates(result)
        if isinstance(result, IdentifyError):
            raise result
        return result

    def __repr__(self) -> str:
        return f"StackedEstimates({len(self) - len(self.errors)} of {len(self)} estimated)"

    @property
    def errors(self) -> Mapping[int, IdentifyError]:
        """Errors of the sets without estimate, by number."""
        return {k: each for k, each in enumerate(self.results) if isinstance(each, IdentifyError)}

    @property
    def phi(self) -> Array:
        """Ten parameters of the first body, NaN where there is no estimate, shape (k, 10)."""
        nothing = np.full(10, np.nan)
        return np.array(
            [nothing if isinstance(e, IdentifyError) else e.parameters.phi for e in self.results]
        )

    def intervals(self, name: str) -> Array:
        """Return the 95 % intervals of a quantity of the first body, NaN without, shape (k, 2)."""
        nothing = (np.nan, np.nan)
        return np.array(
            [
                nothing if isinstance(e, IdentifyError) else e.intervals[name] or nothing
                for e in self.results
            ]
        )
