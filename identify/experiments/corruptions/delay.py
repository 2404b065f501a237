"""A wrench that comes late."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from identify.arrays import Array
from identify.errors import LogError
from identify.experiments.corruptions.corruption import Corruption, require_time, with_rows
from identify.experiments.corruptions.sensor_axes import change_wrench
from identify.experiments.options import Number
from identify.logs import Recording


class Delay(Corruption):
    """The wrench of each row is that of `wrench` seconds before, interpolated in sensor axes.

    Rows for which the log does not hold that time are left out.

    Attributes:
        wrench: how much later than the motion it comes [s]; negative: earlier.
    """

    kind: ClassVar[str] = "delay"

    wrench: Number

    @property
    def random(self) -> bool:
        """It is not."""
        return False

    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """Shift the wrench in time.

        Raises:
            LogError: still poses, or a delay longer than the log.
        """
        time = require_time(recording, "a delay")
        wanted = time - self.wrench
        held = (wanted >= time[0]) & (wanted <= time[-1])
        if not held.any():
            raise LogError(
                f"{recording.name}: a delay of {self.wrench:g} s is longer than the log "
                f"({time[-1] - time[0]:g} s)"
            )

        def late(name: str, values: Array) -> Array:
            return np.stack([np.interp(wanted, time, column) for column in values.T], axis=1)

        return with_rows(change_wrench(recording, late, "a delay"), held)
