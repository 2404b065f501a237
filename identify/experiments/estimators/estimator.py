"""`Estimator`: from the evidence of a log to an answer; what both are."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from identify.arrays import Phi
from identify.experiments.options import Options
from identify.experiments.sources import KnownBody
from identify.logs import Recording
from identify.pipeline import block_statistics
from identify.regressors import BlockStatistics
from identify.signals import PreparedLog, prepare


@dataclass(frozen=True)
class Evidence:
    """What an estimator may use of one corrupted log; the estimators of a study share it.

    Attributes:
        recording: the log as it was corrupted.
        known: facts of the body that options may ask for.
        cutoff_hz: of the low-pass [Hz]; chosen by the log where None.
    """

    recording: Recording
    known: KnownBody = field(default_factory=KnownBody)
    cutoff_hz: float | None = None

    @cached_property
    def prepared(self) -> PreparedLog:
        """The log on an even clock, differentiated and low-passed."""
        return prepare(self.recording, self.cutoff_hz)

    @cached_property
    def blocks(self) -> BlockStatistics:
        """One-pass statistics of the prepared log, by blocks of time."""
        return block_statistics(self.prepared)


@dataclass(frozen=True, slots=True)
class Answer:
    """What an estimator says of one log.

    Attributes:
        phi: the ten parameters about Bo in B, shape (10,).
        told: how many of them are measured; the others are completed by a default body.
        intervals: 95 % bounds by name (the ten, cx … cz, Icxx … Iczz), None where not measured.
        solver: what solved it; "none" where closed form was enough.
        status: what the solver said.
    """

    phi: Phi
    told: int = 10
    intervals: Mapping[str, tuple[float, float] | None] = field(default_factory=dict)
    solver: str = "none"
    status: str = "solved"


class Estimator(Options):
    """Base of the estimators; the options of one are its fields."""

    @abstractmethod
    def estimate(self, evidence: Evidence) -> Answer:
        """The estimate from one log.

        Raises:
            IdentifyError: there is none; the row of the cell says why.
        """
