"""What a person should know before believing the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from identify.reporting.content import Points, Section

if TYPE_CHECKING:
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult


def notes(result: FitResult, truth: InertialParameters | None) -> Section | None:
    """Notes of the readers, the checks and the validation, each once; the replay's stand there."""
    said = [note for note in result.validation.notes if "replay" not in note.lower()]
    points = tuple(dict.fromkeys((*result.notes, *said)))
    if not points:
        return None
    return Section("notes", "Notes", (Points(points, "warn"),))
