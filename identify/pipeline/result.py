"""`FitResult`: an estimate with its data, validation and provenance."""

from __future__ import annotations

from dataclasses import dataclass

from identify.estimation import Estimate
from identify.pipeline.settings import FitSettings
from identify.signals import PreparedLog
from identify.validation import Validation


@dataclass(frozen=True, slots=True, repr=False)
class FitResult:
    """What `fit` returns; reports and plots take it.

    Attributes:
        estimate: the body.
        logs: the prepared logs it was fitted to.
        validation: how it fares out of sample and in simulation.
        settings: the choices made.
        notes: what a person should know before believing it, doubts included.
        doubts: those of the notes that say the body does not explain the data.
    """

    estimate: Estimate
    logs: tuple[PreparedLog, ...]
    validation: Validation
    settings: FitSettings
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    def __repr__(self) -> str:
        logs = ", ".join(log.name for log in self.logs)
        return f"FitResult({self.estimate!r}, logs=[{logs}], notes={len(self.notes)})"
