"""No corruption at all, to stand beside the others."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from identify.experiments.corruptions.corruption import Corruption
from identify.logs import Recording


class Nothing(Corruption):
    """The log as it is."""

    kind: ClassVar[str] = "none"

    @property
    def random(self) -> bool:
        """It is not."""
        return False

    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """The recording itself."""
        return recording
