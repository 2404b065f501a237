"""`Study`: logs, perturbations, seeds and estimators; its trials in a fixed order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from math import inf
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from identify.arrays import Phi, Vec3
from identify.errors import StudyError, did_you_mean
from identify.inertia.shapes import Mesh, Points
from identify.logs import Recording
from identify.studies.estimators import Estimator
from identify.studies.keys import code_fingerprint, fields_but, key_of, noise_seed
from identify.studies.options import Scalar
from identify.studies.perturbations.perturbation import PerturbationSequence


@dataclass(frozen=True, slots=True)
class Truth:
    """The true body, for the metrics; an estimator may be told its mass or shape, if it asks.

    Attributes:
        phi: the ten parameters about Bo in B, shape (10,).
        sides: sides of its bounding box along the axes of B [m], shape (3,), where known.
        shape: a mesh, or points with their volumes, in B, where known.
    """

    phi: Phi
    sides: Vec3 | None = None
    shape: Points | Mesh | None = None


@dataclass(frozen=True, slots=True)
class LogItem:
    """One log of a study, small enough to send to a worker, which loads it.

    Attributes:
        name: in the results; no two logs of a study share it.
        data: digest of the log's data, of all its files: the seeds of noise are made of it.
        identity: digest of all that decides what is loaded (data, schema, truth): part of the key.
        load: reads or makes the log, and the true body where it is known; it pickles. It raises
            `LogError` where the log cannot be read as its schema says.
        options: columns of the results that describe the log.
    """

    name: str
    data: str
    identity: str
    load: Callable[[], tuple[Recording, Truth | None]]
    options: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NamedEstimator:
    """An estimator with its options, under the label that tables show."""

    label: str
    estimator: Estimator


@dataclass(frozen=True, slots=True)
class NoisyLog:
    """One log with one perturbation and one seed: all estimators work on the same.

    The noise has its number in the study and the seed made of it; `cutoff_hz` is of the low-pass
    [Hz], or None.
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
        """Columns of the results that all its trials share."""
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
class Trial:
    """One estimator on one noisy log: a row of the results.

    `key` is made of all that makes the row: data, settings, labels, metrics, code, versions.
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


class Target(BaseModel):
    """What the mean of a metric, or of another column of the results, is to keep to.

    Attributes:
        estimator: its label.
        metric: name of the column.
        perturbation: its label; all together where not given.
        least, most: the limits, in the unit of the column.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    estimator: str
    metric: str
    perturbation: str | None = None
    least: float = -inf
    most: float = inf


class Published(BaseModel):
    """Scores of others, which stand beside those of a study.

    Attributes:
        dataset: name of the data set that has them.
        file: the CSV in it, a row for each perturbation and estimator.
        perturbation, estimator: its columns of their labels.
        metrics: its column for each metric.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    dataset: str
    file: str
    perturbation: str
    estimator: str
    metrics: dict[str, str]


_NOT_OF_A_TRIAL = (
    *("name", "seed", "seeds", "logs", "perturbations", "estimators"),
    *("timeout", "note", "path", "targets", "published"),
)
"""Fields of a study that are no part of each trial's key: a trial has one log, perturbation, seed
and estimator, and the same study may get more of them. All other fields count."""


@dataclass(frozen=True, slots=True)
class Study:
    """A study: every log with every perturbation and seed, through every estimator.

    Attributes:
        name: of the study.
        seed: from which all that is random is made.
        seeds: numbers of the noises; a perturbation that draws nothing uses the first alone.
        logs, perturbations, estimators: in the order of the file.
        metrics: names.
        cutoff_hz: of the low-pass [Hz], or None.
        timeout: seconds that a trial may take, or None; no part of what a trial is.
        note: stands below the scores in the summary; no part of what a trial is.
        path: the study file, where there is one.
        targets: what its scores are to keep to; no part of what a trial is.
        published: scores of others to show beside, where there are some; likewise.
    """

    name: str
    seed: int
    seeds: tuple[int, ...]
    logs: tuple[LogItem, ...]
    perturbations: tuple[PerturbationSequence, ...]
    estimators: tuple[NamedEstimator, ...]
    metrics: tuple[str, ...]
    cutoff_hz: float | None = None
    timeout: float | None = None
    note: str = ""
    path: Path | None = None
    targets: tuple[Target, ...] = ()
    published: Published | None = None

    def noisy_logs(self) -> Iterator[NoisyLog]:
        """Every log with every perturbation and seed; one log's come together."""
        for log in self.logs:
            for perturbation in self.perturbations:
                identity = perturbation.identity()
                for index in self.seeds if perturbation.random else self.seeds[:1]:
                    yield NoisyLog(
                        log=log,
                        perturbation=perturbation,
                        seed_index=index,
                        noise_seed=noise_seed(self.seed, log.data, identity, index),
                        cutoff_hz=self.cutoff_hz,
                    )

    def trials(self, only: Sequence[str] = ()) -> Iterator[Trial]:
        """The trials that are asked for; those of one noisy log come together.

        Args:
            only: `choice=pattern`, as in `estimator=psd` or `log=stars/H*`; a trial must match one
                pattern of each choice that is named.

        Raises:
            StudyError: a choice that does not exist, or a pattern that matches nothing: at the
                call, before the first is taken.
        """
        return filter(self._selected(only), self._all_trials())

    def _all_trials(self) -> Iterator[Trial]:
        made_by = key_of(fields_but(self, *_NOT_OF_A_TRIAL), code_fingerprint().short)
        estimators = [(estimator, key_of(estimator)) for estimator in self.estimators]
        for noisy in self.noisy_logs():
            shared = noisy.key()
            for estimator, key in estimators:
                yield Trial(key_of(shared, key, made_by), noisy, estimator)

    def labels(self) -> dict[str, list[str]]:
        """Names of the logs, perturbations and estimators, by their column of the results."""
        return {
            "log": [log.name for log in self.logs],
            "perturbation": [perturbation.label for perturbation in self.perturbations],
            "estimator": [estimator.label for estimator in self.estimators],
        }

    def _selected(self, only: Sequence[str]) -> Callable[[Trial], bool]:
        """The test of whether a trial is asked for; `only` and errors as of `trials`."""
        known = self.labels()
        admitted: dict[str, set[str]] = {choice: set() for choice in known}
        for text in only:
            choice, _, pattern = text.partition("=")
            if not pattern:
                expected = " or ".join(f"{each}=NAME" for each in known)
                raise StudyError(f"only {text!r}: expected {expected}")
            if choice not in known:
                hint = did_you_mean(choice, known) or f"; expected one of {', '.join(known)}"
                raise StudyError(f"only {text!r}: unknown {choice!r}{hint}")
            names = known[choice]
            found = {name for name in names if name == pattern or fnmatchcase(name, pattern)}
            if not found:
                hint = did_you_mean(pattern, names) or "; `identify study check` lists them"
                raise StudyError(f"only {choice}={pattern}: the study has no such {choice}{hint}")
            admitted[choice] |= found
        asked = {choice: names for choice, names in admitted.items() if names}

        def test(trial: Trial) -> bool:
            labels = trial.labels()
            return all(labels[choice] in names for choice, names in asked.items())

        return test

    def __len__(self) -> int:
        """How many trials there are."""
        noises = sum(len(self.seeds) if each.random else 1 for each in self.perturbations)
        return len(self.logs) * noises * len(self.estimators)
