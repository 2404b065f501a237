"""`Estimator`: base class of the estimators of a study, with their input and output."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from identify.arrays import Phi
from identify.inertia.shapes import Mesh, Points
from identify.logs import Recording
from identify.regressors import Statistics, block_statistics
from identify.signals import PreparedLog, prepare
from identify.studies.options import Options


@dataclass(frozen=True)
class TrialData:
    """Data of one perturbed log, shared by all estimators of a study.

    Attributes:
        recording: the perturbed log.
        mass: of the body as if weighed [kg], for options that use it; None if it is not known.
        cutoff_hz: of the low-pass [Hz]; None chooses it from the log.
        shape: of the body in B, a mesh or points with their volumes, for estimators that use it;
            None if it is not known.
    """

    recording: Recording
    mass: float | None = None
    cutoff_hz: float | None = None
    shape: Points | Mesh | None = None

    @cached_property
    def prepared(self) -> PreparedLog:
        """Log on an even clock, differentiated and low-pass filtered."""
        return prepare(self.recording, self.cutoff_hz, wide=True)  # as a fit does

    @cached_property
    def blocks(self) -> Statistics:
        """Sufficient statistics of the regression by blocks of time, from the prepared log."""
        return block_statistics(self.prepared)


@dataclass(frozen=True, slots=True)
class EstimatorOutput:
    """Estimate of the body from one log.

    Attributes:
        phi: the ten parameters about Bo in B, shape (10,).
        n_identifiable: number of identifiable parameters; a default body completes the others.
        intervals: 95 % bounds by name (the ten, cx … cz, Icxx … Iczz, I1 … I3), None if not
            measured.
        solver: name of the solver; "none" for a closed form.
        status: of the solver.
    """

    phi: Phi
    n_identifiable: int = 10
    intervals: Mapping[str, tuple[float, float] | None] = field(default_factory=dict)
    solver: str = "none"
    status: str = "solved"


class Estimator(Options):
    """Base class of the estimators; their options are fields."""

    @abstractmethod
    def estimate(self, data: TrialData) -> EstimatorOutput:
        """Estimate the body from one log.

        Raises:
            IdentifyError: there is no estimate; the row of the trial has the reason.
        """
