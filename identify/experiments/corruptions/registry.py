"""Corruptions by name: one file and one line each."""

from __future__ import annotations

from collections.abc import Mapping

from identify.experiments.corruptions.bias import Bias
from identify.experiments.corruptions.corruption import Corruption
from identify.experiments.corruptions.decimation import Decimation
from identify.experiments.corruptions.delay import Delay
from identify.experiments.corruptions.dropped_rows import DroppedRows
from identify.experiments.corruptions.noise import Noise
from identify.experiments.corruptions.nothing import Nothing
from identify.experiments.corruptions.stars_noise import StarsNoise

CORRUPTIONS: Mapping[str, type[Corruption]] = {
    corruption.kind: corruption
    for corruption in (
        Nothing,
        Noise,
        StarsNoise,
        Delay,
        Bias,
        DroppedRows,
        Decimation,
    )
}
"""By the `kind` of a `[[corruptions]]` table or of one of its steps."""
