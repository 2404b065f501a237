"""Perturbations of the logs of a study: noise, quantisation and defects."""

from __future__ import annotations

from collections.abc import Mapping

from identify.studies.perturbations.defects import (
    Decimation,
    Delay,
    RowDropout,
    RowsAlone,
    SensorOffset,
    SignalSubset,
    Unperturbed,
    WrenchMap,
)
from identify.studies.perturbations.joint_torques import TorqueGains
from identify.studies.perturbations.noise import GaussianNoise, Quantisation, StarsNoise
from identify.studies.perturbations.perturbation import Perturbation

PERTURBATIONS: Mapping[str, type[Perturbation]] = {
    perturbation.kind: perturbation
    for perturbation in (
        Unperturbed,
        GaussianNoise,
        StarsNoise,
        Quantisation,
        Delay,
        SensorOffset,
        WrenchMap,
        RowDropout,
        Decimation,
        SignalSubset,
        TorqueGains,
        RowsAlone,
    )
}
"""Perturbations by the `kind` of a `[[perturbations]]` table or of one of its steps."""
