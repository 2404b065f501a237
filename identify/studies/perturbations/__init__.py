"""What a study does to logs before they are used: one class and one line each."""

from __future__ import annotations

from collections.abc import Mapping

from identify.studies.perturbations.defects import (
    Decimation,
    Delay,
    DroppedRows,
    Nothing,
    OnlySignals,
    SensorOffset,
)
from identify.studies.perturbations.noise import GaussianNoise, Quantisation, StarsNoise
from identify.studies.perturbations.perturbation import Perturbation

PERTURBATIONS: Mapping[str, type[Perturbation]] = {
    perturbation.kind: perturbation
    for perturbation in (
        Nothing,
        GaussianNoise,
        StarsNoise,
        Quantisation,
        Delay,
        SensorOffset,
        DroppedRows,
        Decimation,
        OnlySignals,
    )
}
"""By the `kind` of a `[[perturbations]]` table or of one of its steps."""
