"""A lower rate: every so many rows."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from identify.experiments.corruptions.corruption import Corruption, with_rows
from identify.experiments.options import Count
from identify.logs import Recording


class Decimation(Corruption):
    """One row of every `every`, nothing filtered: as a slower logger would have written it.

    Attributes:
        every: 1 keeps all rows.
    """

    kind: ClassVar[str] = "decimation"

    every: Count

    @property
    def random(self) -> bool:
        """It is not."""
        return False

    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """Keep the first row and every so many after it."""
        return with_rows(recording, slice(None, None, self.every))
