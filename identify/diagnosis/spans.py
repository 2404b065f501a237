"""Spans of time in which a signal cannot be what it says: frozen, at its end, with spikes."""

from __future__ import annotations

from dataclasses import dataclass

from identify.logs import Recording


@dataclass(frozen=True, slots=True)
class Span:
    """A span of time of a log, and what is wrong there.

    Attributes:
        code: of the finding: "contact", "saturation", "spikes", "frozen_pose", "frozen_wrench".
        start, stop: time in the log [s]; of spikes those of the first and the last.
        rows: of the log, or of the series, that are in it.
        size: how far beyond what is expected, as the code has it.
    """

    code: str
    start: float
    stop: float
    rows: int
    size: float = 0.0


def signal_spans(recording: Recording) -> tuple[Span, ...]:
    """What the signals of a recording show by themselves, before any low-pass."""
    raise NotImplementedError
