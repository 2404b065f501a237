"""The motion regenerated from the body and the measured wrench."""

from __future__ import annotations

from typing import TYPE_CHECKING

from identify.reporting.content import Block, Pictures, Section, Text
from identify.reporting.figures.replay import replay_columns

if TYPE_CHECKING:
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult


def replay(result: FitResult, truth: InertialParameters | None) -> Section:
    """Replay errors and path, or why there are none."""
    columns = replay_columns(result)
    reasons = tuple(note for note in result.validation.notes if "replay" in note.lower())
    said: tuple[Block, ...] = tuple(Text(reason, "muted") for reason in reasons)
    if not columns:
        return Section("replay", "Replay", said or (Text("There is no replay.", "muted"),))
    windows = result.validation.replay.windows if result.validation.replay else 0
    caption = (
        f"{windows} stretches of the log, each simulated from its measured first pose and velocity "
        f"with nothing but the body and the measured wrench, bias removed. Replay error: how far "
        f"the simulated pose is from the measured one, over all of them; force noise and small "
        f"errors add up with time. Replayed path: the simulated positions over the measured ones."
    )
    if result.validation.replay and result.validation.replay.band:
        caption += (
            f" The band holds 95 % of the errors of {result.validation.replay.band.samples} bodies "
            f"drawn from the estimate's uncertainty."
        )
    if result.validation.single_shot:
        caption += (
            " In one shot: the longest stretch simulated from its first state to its end without "
            "looking at the measured motion again, so that every error adds up."
        )
    if result.estimate.certificate.solver == "none":
        caption += " The least-squares estimate is a possible body, and so it is the estimate."
    return Section("replay", "Replay", (Pictures(columns, caption), *said))
