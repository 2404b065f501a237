"""`Cell` and `NoisyLog`: the least piece of a study, and what the cells of one log share."""

from __future__ import annotations

from dataclasses import dataclass

from identify.experiments.estimators import Estimator
from identify.experiments.options import Scalar
from identify.experiments.perturbations.perturbation import PerturbationSequence
from identify.experiments.sources.source import LogItem


@dataclass(frozen=True, slots=True)
class NamedEstimator:
    """An estimator with its options, under the label that tables show."""

    label: str
    estimator: Estimator

    def identity(self) -> str:
        """Text that is the same for the same settings and label."""
        return f"{self.label}\n{self.estimator.identity()}"


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

    def identity(self) -> str:
        """Text that is the same for the same noisy log and names."""
        seed = f"{self.noise_seed:x}" if self.perturbation.random else "-"
        names = f"{self.log.name}\n{self.perturbation.label}"
        content = f"{self.log.identity} {self.perturbation.identity()} {seed} {self.cutoff_hz}"
        return f"{names}\n{content}"

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
        key: of its row, 32 hexadecimal digits of a sha256 of all that makes it: data, settings,
            labels, metrics, code, versions.
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
