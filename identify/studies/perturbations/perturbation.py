"""`Perturbation`: one way a log is made worse, and sequences of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from identify.arrays import Array, Flags, seal
from identify.errors import LogError
from identify.logs import Recording
from identify.studies.options import Options, Scalar, canonical


class Perturbation(Options):
    """Base of the perturbations: a recording in, a worse one out."""

    @property
    def random(self) -> bool:
        """Whether it draws anything: one seed is enough for what does not."""
        return False

    @abstractmethod
    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """The perturbed recording.

        Args:
            recording: is not changed.
            rng: all that is drawn comes from here.

        Raises:
            LogError: the log lacks what the perturbation needs.
        """


@dataclass(frozen=True, slots=True)
class PerturbationSequence:
    """Perturbations one after the other; none at all leave the log as it is.

    Attributes:
        label: in tables and in the column `perturbation`.
        steps: in order.
    """

    label: str
    steps: tuple[Perturbation, ...]

    @property
    def random(self) -> bool:
        """Whether another seed gives another log."""
        return any(step.random for step in self.steps)

    def identity(self) -> str:
        """Text that is the same for the same steps, whatever the label."""
        return canonical([step.identity() for step in self.steps])

    def columns(self) -> dict[str, Scalar]:
        """Options of the steps as `kind_option`; a kind's second use counts as `kind2_option`."""
        columns: dict[str, Scalar] = {}
        kinds: list[str] = []
        for step in self.steps:
            kinds.append(step.kind)
            times = kinds.count(step.kind)
            columns |= step.columns(step.kind if times == 1 else f"{step.kind}{times}")
        return columns

    def apply(self, recording: Recording, seed: int) -> Recording:
        """The recording after all steps, each with random numbers of its own.

        Raises:
            LogError: the log lacks what a step needs.
        """
        seeds = np.random.SeedSequence(seed).spawn(len(self.steps))
        for step, own in zip(self.steps, seeds, strict=True):
            recording = step.apply(recording, np.random.default_rng(own))
        return recording


def with_signals(recording: Recording, signals: Mapping[str, Array]) -> Recording:
    """The recording with some of its signals replaced."""
    sealed = {name: seal(values, name, (None, None)) for name, values in signals.items()}
    return replace(recording, signals={**recording.signals, **sealed})


def with_rows(recording: Recording, rows: Flags | slice) -> Recording:
    """Some rows of the recording, its time beginning at zero again."""
    subset = np.arange(len(recording))[rows]
    time = recording.time
    if time is not None and len(subset):
        time = seal(time[subset] - time[subset[0]], "time", (None,))
    signals = {
        name: seal(values[subset], name, (None, None)) for name, values in recording.signals.items()
    }
    return replace(recording, time=time, signals=signals)


def require_signals(recording: Recording, names: Sequence[str], what: str) -> None:
    """Raise unless the log has the signals.

    Raises:
        LogError: one is missing.
    """
    missing = [name for name in names if name not in recording.signals]
    if missing:
        raise LogError(
            f"{recording.name}: {what} needs {', '.join(missing)}, which the log does not have "
            f"(it has {', '.join(sorted(recording.signals))})"
        )
