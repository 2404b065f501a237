"""Perturbations by name: one class and one line each."""

from __future__ import annotations

from collections.abc import Mapping

from identify.experiments.perturbations.noise import StarsNoise, WhiteNoise
from identify.experiments.perturbations.perturbation import Perturbation
from identify.experiments.perturbations.rows import Decimation, DroppedRows, Nothing
from identify.experiments.perturbations.sensor import Delay, SensorOffset

PERTURBATIONS: Mapping[str, type[Perturbation]] = {
    perturbation.kind: perturbation
    for perturbation in (
        Nothing,
        WhiteNoise,
        StarsNoise,
        Delay,
        SensorOffset,
        DroppedRows,
        Decimation,
    )
}
"""By the `kind` of a `[[perturbations]]` table or of one of its steps."""
