"""`Perturbation`, a reproducible degradation of a log, and sequences of perturbations."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from identify.arrays import Array, Flags, seal
from identify.errors import LogError
from identify.logs import Recording
from identify.sensors import SENSORS
from identify.studies.options import Options, Scalar, canonical_json
from identify.studies.study_log import StudyLog


class Perturbation(Options):
    """Base class of the perturbations of a recording."""

    sensor: ClassVar[str] = "wrench"
    """Name of the sensor whose logs it perturbs, of `identify.sensors.SENSORS`."""

    @property
    def random(self) -> bool:
        """Whether the perturbation is random; otherwise one seed is enough."""
        return False

    @abstractmethod
    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """Return the perturbed recording; raises `LogError` if it lacks what is needed."""

    def apply_to_log(self, log: StudyLog, seed: np.random.SeedSequence) -> StudyLog:
        """Return the log with each of its recordings perturbed by the same random numbers.

        The recordings are of one sensor, whose errors, such as gains, they have in common.
        Raises `LogError`: the log is of another sensor, or lacks what the perturbation needs.
        """
        if log.sensor != self.sensor:
            known = {name: sensor.title for name, sensor in SENSORS.items()}
            perturbed, got = known[self.sensor], known.get(log.sensor, log.sensor)
            raise LogError(
                f"{log.name}: {self.kind} is a perturbation of {perturbed}, not of {got}"
            )
        return log.map(lambda recording: self.apply(recording, np.random.default_rng(seed)))


@dataclass(frozen=True, slots=True)
class PerturbationSequence:
    """Perturbations applied one after the other; an empty sequence leaves the log unchanged.

    Attributes:
        label: in tables and in the column `perturbation`.
        steps: in order.
    """

    label: str
    steps: tuple[Perturbation, ...]

    @property
    def random(self) -> bool:
        """Whether the perturbed log depends on the seed."""
        return any(step.random for step in self.steps)

    def key_text(self) -> str:
        """Return a text that identifies the steps, independent of their label."""
        return canonical_json([step.key_text() for step in self.steps])

    def columns(self) -> dict[str, Scalar]:
        """Return the options of the steps as `kind_option`, for repeated kinds `kind2_option`."""
        columns: dict[str, Scalar] = {}
        kinds: list[str] = []
        for step in self.steps:
            kinds.append(step.kind)
            times = kinds.count(step.kind)
            columns |= step.columns(step.kind if times == 1 else f"{step.kind}{times}")
        return columns

    def apply(self, log: StudyLog, seed: int) -> StudyLog:
        """Apply all steps, each with independent random numbers.

        Raises `LogError`: the log lacks what a step needs.
        """
        seeds = np.random.SeedSequence(seed).spawn(len(self.steps))
        for step, step_seed in zip(self.steps, seeds, strict=True):
            log = step.apply_to_log(log, step_seed)
        return log


def with_signals(recording: Recording, signals: Mapping[str, Array]) -> Recording:
    """Return the recording with some of its signals replaced."""
    sealed = {name: seal(values, name, (None, None)) for name, values in signals.items()}
    return replace(recording, signals={**recording.signals, **sealed})


def with_rows(recording: Recording, rows: Flags | slice) -> Recording:
    """Return a recording with only some rows, and with time from zero."""
    subset = np.arange(len(recording))[rows]
    time = recording.time
    if time is not None and len(subset):
        time = seal(time[subset] - time[subset[0]], "time", (None,))
    signals = {
        name: seal(values[subset], name, (None, None)) for name, values in recording.signals.items()
    }
    return replace(recording, time=time, signals=signals)


def require_signals(recording: Recording, names: Sequence[str], purpose: str) -> None:
    """Raise unless the log has the named signals.

    Raises `LogError`: a signal is missing; `purpose` is the subject of the message.
    """
    missing = [name for name in names if name not in recording.signals]
    if missing:
        raise LogError(
            f"{recording.name}: {purpose} needs {', '.join(missing)}, which the log does not have "
            f"(it has {', '.join(sorted(recording.signals))})"
        )
