"""`Cell` and `NoisyLog`: the least piece of a study, and what the cells of one log share."""

from __future__ import annotations

from dataclasses import dataclass

from identify.experiments.estimators import Estimator
from identify.experiments.keys import fields_but, key_of
from identify.experiments.options import Scalar
from identify.experiments.perturbations.perturbation import PerturbationSequence
from identify.experiments.sources.source import LogItem


@dataclass(frozen=True, slots=True)
class NamedEstimator:
    """An estimator with its options, under the label that tables show."""

    label: str
    estimator: Estimator


@dataclass(frozen=True, slots=True)
class NoisyLog:
    """One log with one perturbation and one seed: all estimators work on the same.

    Attributes:
        log: which.
        perturbation: which.
        seed_index: number of the noise.
        noise_seed: the seed itself.
        cutoff_hz: of the low-pass [Hz], or None.
    """

    log: LogItem
    perturbation: PerturbationSequence
    seed_index: int
    noise_seed: int
    cutoff_hz: float | None

    def key(self) -> str:
        """The same for the same noisy log and names; of seeds the one that noise is made of."""
        shared = fields_but(self, "log", "seed_index", "noise_seed")
        seed = self.noise_seed if self.perturbation.random else None
        return key_of(shared, self.log.name, self.log.identity, seed)

    def columns(self) -> dict[str, Scalar]:
        """Columns of the results that all its cells share."""
        return {
            "log": self.log.name,
            "log_data": self.log.data,
            "perturbation": self.perturbation.label,
            "seed": self.seed_index,
            "noise_seed": f"{self.noise_seed:032x}",
            **self.log.options,
            **self.perturbation.columns(),
        }


@dataclass(frozen=True, slots=True)
class Cell:
    """One estimator on one noisy log: a row of the results.

    Attributes:
        key: of its row, made of all that makes it: data, settings, labels, metrics, code, versions.
        noisy: the log.
        estimator: the estimator.
    """

    key: str
    noisy: NoisyLog
    estimator: NamedEstimator

    def labels(self) -> dict[str, str]:
        """Its log, perturbation and estimator, by their column of the results."""
        return {
            "log": self.noisy.log.name,
            "perturbation": self.noisy.perturbation.label,
            "estimator": self.estimator.label,
        }
