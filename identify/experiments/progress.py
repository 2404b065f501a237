"""`Progress`: how far a run is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is; what counts as done is on the disk.

    Attributes:
        cells: asked for.
        present: of them, there before the run began.
        done: by this run, failed ones included.
        failed: of those, without an estimate.
        seconds: since the run began.
    """

    cells: int
    present: int
    done: int = 0
    failed: int = 0
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Cells a second."""
        return self.done / self.seconds if self.seconds > 0.0 else 0.0

    @property
    def left(self) -> int:
        """Cells still to do."""
        return self.cells - self.present - self.done

    @property
    def remaining(self) -> float | None:
        """Seconds still to go at this rate; None before anything is done."""
        if self.left == 0:
            return 0.0
        return self.left / self.rate if self.done else None
