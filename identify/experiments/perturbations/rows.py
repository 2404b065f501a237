"""Rows and signals that are lost, thinned out, or all kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from identify.experiments.options import Count
from identify.experiments.perturbations.perturbation import (
    Perturbation,
    require_signals,
    with_rows,
)
from identify.logs import Recording


class Nothing(Perturbation):
    """The log as it is, to stand beside the others."""

    kind: ClassVar[str] = "none"

    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """The recording itself."""
        return recording


class DroppedRows(Perturbation):
    """Rows are missing at random, alone or in bursts; the others keep their times.

    Attributes:
        share: of the rows, on average, at least 0 and below 1.
        burst: rows lost together.
    """

    kind: ClassVar[str] = "dropped_rows"

    share: Annotated[float, Field(strict=True, ge=0.0, lt=1.0)]
    burst: Count = 1

    @property
    def random(self) -> bool:
        """Whether anything is dropped."""
        return self.share > 0.0

    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """Leave the rows out."""
        count = len(recording)
        # A row stays if none of the `burst` bursts that could cover it begins.
        starts = rng.uniform(size=count + self.burst - 1) < 1.0 - (1.0 - self.share) ** (
            1.0 / self.burst
        )
        lost = np.convolve(starts, np.ones(self.burst), mode="valid") > 0.5
        return with_rows(recording, ~lost)


class Decimation(Perturbation):
    """One row of every `every`, nothing filtered: as a slower logger would have written it.

    Attributes:
        every: 1 keeps all rows.
    """

    kind: ClassVar[str] = "decimation"

    every: Count

    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """Keep the first row and every so many after it."""
        return with_rows(recording, slice(None, None, self.every))


class OnlySignals(Perturbation):
    """The log has some of its signals alone: what is left out has to be differentiated.

    Attributes:
        keep: names of the signals beside force and torque.
    """

    kind: ClassVar[str] = "only"

    keep: tuple[str, ...]

    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """Leave the others out.

        Raises:
            LogError: the log has no signal of a name.
        """
        require_signals(recording, self.keep, "a log of these signals alone")
        kept = {*self.keep, "force", "torque"}
        signals = {name: of for name, of in recording.signals.items() if name in kept}
        return replace(recording, signals=signals)
