"""`Study`: logs, perturbations, seeds and estimators; their combinations are its trials."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from math import inf
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from identify.arrays import Phi, Vec3
from identify.errors import StudyError, did_you_mean
from identify.inertia.shapes import Mesh, PointMasses
from identify.studies.estimator import Estimator
from identify.studies.keys import code_fingerprint, fields_except, noise_seed, result_key
from identify.studies.options import Scalar
from identify.studies.perturbations.perturbation import PerturbationSequence
from identify.studies.study_log import StudyLog


@dataclass(frozen=True, slots=True)
class Truth:
    """True body of a log, for metrics and for estimators that know its mass or shape.

    Attributes:
        phi: the ten parameters about Bo in B, shape (10,).
        sides: sides of its bounding box along the axes of B [m], shape (3,), or None.
        shape: a mesh, or points with their volumes, in B, or None.
    """

    phi: Phi
    sides: Vec3 | None = None
    shape: PointMasses | Mesh | None = None


@dataclass(frozen=True, slots=True)
class LogItem:
    """Log of a study by name and digest; a worker loads its content.

    Attributes:
        name: in the results, unique in a study.
        data_digest: digest of all files of the log, from which the seeds of noise follow.
        identity_digest: digest of all that affects the loaded log (data, schema, truth), for keys.
        load: reads or simulates the log, and the true body if it is known; it can be pickled. It
            raises `LogError` if the log cannot be read by its schema.
        options: columns of the results that describe the log.
    """

    name: str
    data_digest: str
    identity_digest: str
    load: Callable[[], tuple[StudyLog, Truth | None]]
    options: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NamedEstimator:
    """Estimator with its options, and its label in tables."""

    label: str
    estimator: Estimator


@dataclass(frozen=True, slots=True)
class NoisyLog:
    """Log with one perturbation and one seed, on which all estimators are run.

    `seed_index` is the number of the noise in the study, `noise_seed` the seed derived from it, and
    `cutoff_hz` that of the low-pass [Hz], or None.
    """

    log: LogItem
    perturbation: PerturbationSequence
    seed_index: int
    noise_seed: int
    cutoff_hz: float | None

    def key(self) -> str:
        """Return the cache key of the noisy log, from its data, names and noise seed."""
        shared = fields_except(self, "log", "seed_index", "noise_seed")
        seed = self.noise_seed if self.perturbation.random else None
        return result_key(shared, self.log.name, self.log.identity_digest, seed)

    def columns(self) -> dict[str, Scalar]:
        """Return the result columns that all trials of the noisy log share."""
        return {
            "log": self.log.name,
            "log_data": self.log.data_digest,
            "perturbation": self.perturbation.label,
            "seed": self.seed_index,
            "noise_seed": f"{self.noise_seed:032x}",
            **self.log.options,
            **self.perturbation.columns(),
        }


@dataclass(frozen=True, slots=True)
class Trial:
    """One estimator on one noisy log, which gives one row of results.

    `key` depends on everything that affects the row: data, settings, labels, metrics, code,
    versions.
    """

    key: str
    noisy: NoisyLog
    estimator: NamedEstimator

    def labels(self) -> dict[str, str]:
        """Return the names of log, perturbation and estimator of the trial, by result column."""
        return {
            "log": self.noisy.log.name,
            "perturbation": self.noisy.perturbation.label,
            "estimator": self.estimator.label,
        }


class Target(BaseModel):
    """Limits on the mean of a metric, or of another result column.

    Attributes:
        estimator: its label.
        metric: name of the column.
        perturbation: its label; by default all together.
        least, most: lower and upper limit, in the unit of the column.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    estimator: str
    metric: str
    perturbation: str | None = None
    least: float = -inf
    most: float = inf


class Published(BaseModel):
    """Table of published scores, for comparison with the scores of a study.

    Attributes:
        dataset: name of the data set with the scores.
        file: CSV file in the data set, a row for each perturbation and estimator.
        perturbation, estimator: columns of their labels.
        metrics: column of each metric.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    dataset: str
    file: str
    perturbation: str
    estimator: str
    metrics: dict[str, str]


_FIELDS_OUTSIDE_KEYS = (
    *("name", "seed", "seeds", "logs", "perturbations", "estimators"),
    *("timeout", "note", "path", "targets", "published"),
)
"""Fields of a study that do not affect the cache keys of its trials.

A trial has one log, perturbation, seed and estimator, and the study may get more of them."""


@dataclass(frozen=True, slots=True)
class Study:
    """Study that runs every estimator on every log with every perturbation and seed.

    Timeout, note, path, targets and published scores do not affect the keys of trials.

    Attributes:
        name: of the study.
        seed: of all random numbers of the study.
        seeds: numbers of the noise realisations; a perturbation without noise uses only the first.
        logs, perturbations, estimators: in the order of the file.
        metrics: names.
        cutoff_hz: of the low-pass [Hz], or None.
        timeout: longest time for a trial [s], or None.
        note: text below the scores in the summary.
        path: the study file, or None.
        targets: limits of the scores.
        published: published scores for comparison, or None.
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
        """Yield every log with every perturbation and seed, grouped by log."""
        for log in self.logs:
            for perturbation in self.perturbations:
                key_text = perturbation.key_text()
                for index in self.seeds if perturbation.random else self.seeds[:1]:
                    yield NoisyLog(
                        log=log,
                        perturbation=perturbation,
                        seed_index=index,
                        noise_seed=noise_seed(self.seed, log.data_digest, key_text, index),
                        cutoff_hz=self.cutoff_hz,
                    )

    def trials(self, only: Sequence[str] = ()) -> Iterator[Trial]:
        """Return an iterator over the selected trials, grouped by noisy log.

        Args:
            only: `choice=pattern`, as in `estimator=psd` or `log=stars/H*`; a trial must match one
                pattern of each choice.

        Raises:
            StudyError: a choice that does not exist, or a pattern that matches nothing; raised by
                the call, before the iteration.
        """
        return filter(self._trial_filter(only), self._all_trials())

    def _all_trials(self) -> Iterator[Trial]:
        settings = result_key(fields_except(self, *_FIELDS_OUTSIDE_KEYS), code_fingerprint().short)
        estimators = [(estimator, result_key(estimator)) for estimator in self.estimators]
        for noisy in self.noisy_logs():
            shared = noisy.key()
            for estimator, key in estimators:
                yield Trial(result_key(shared, key, settings), noisy, estimator)

    def labels(self) -> dict[str, list[str]]:
        """Return the names of logs, perturbations and estimators of the study, by result column."""
        return {
            "log": [log.name for log in self.logs],
            "perturbation": [perturbation.label for perturbation in self.perturbations],
            "estimator": [estimator.label for estimator in self.estimators],
        }

    def _trial_filter(self, only: Sequence[str]) -> Callable[[Trial], bool]:
        """Return a function that selects trials by patterns, as in the argument of `trials`."""
        known = self.labels()
        selected: dict[str, set[str]] = {choice: set() for choice in known}
        for text in only:
            choice, _, pattern = text.partition("=")
            if not pattern:
                expected = " or ".join(f"{name}=NAME" for name in known)
                raise StudyError(f"only {text!r}: expected {expected}")
            if choice not in known:
                hint = did_you_mean(choice, known) or f"; expected one of {', '.join(known)}"
                raise StudyError(f"only {text!r}: unknown {choice!r}{hint}")
            names = known[choice]
            matches = {name for name in names if name == pattern or fnmatchcase(name, pattern)}
            if not matches:
                hint = did_you_mean(pattern, names) or "; `identify study check` lists them"
                raise StudyError(f"only {choice}={pattern}: the study has no such {choice}{hint}")
            selected[choice] |= matches
        restricted = {choice: names for choice, names in selected.items() if names}

        def is_selected(trial: Trial) -> bool:
            labels = trial.labels()
            return all(labels[choice] in names for choice, names in restricted.items())

        return is_selected

    def __len__(self) -> int:
        """Return the number of trials."""
        per_log = sum(len(self.seeds) if step.random else 1 for step in self.perturbations)
        return len(self.logs) * per_log * len(self.estimators)
