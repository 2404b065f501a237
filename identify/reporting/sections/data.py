"""The account of the data: what was read, left out and used of each log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from identify.reporting.content import Cell, Head, Row, Section, Table, numbers, row

if TYPE_CHECKING:
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult
    from identify.signals import PreparedLog

_HEAD = (
    Head("Log"),
    *numbers(
        *("Rows", "Dropped", "Repeated", "Unused", "Rate [Hz]", "Cut-off [Hz]", "Span [s]"),
        *("Used", "Worth"),
    ),
    Head("sha256"),
)


def data(result: FitResult, truth: InertialParameters | None) -> Section:
    """Rows, rates, filters and digests of the logs."""
    return Section(
        "data",
        "Data",
        (
            Table(
                _HEAD,
                tuple(_row(index, log) for index, log in enumerate(result.logs)),
                "Dropped: not finite, cut short or not numbers. Repeated: with the time stamp of "
                "the row before. Unused: in stretches too short to filter, and edges. Used: rows "
                "after the low-pass. Worth: how many independent samples they stand for; "
                "neighbours that went through one filter are not independent.",
            ),
        ),
    )


def _row(index: int, log: PreparedLog) -> Row:
    dropped = log.recording.dropped
    reasons = (
        f"{dropped.not_finite} not finite, {dropped.cut_short} cut short, "
        f"{dropped.not_numbers} not numbers"
    )
    return row(
        f"{index + 1}: {log.name}",
        f"{log.recording.rows}",
        Cell(f"{dropped.total}", title=reasons, tone="warn" if dropped.total else ""),
        f"{log.repeated}",
        f"{log.unused}",
        "still" if log.rate_hz is None else f"{log.rate_hz:.4g}",
        "none" if log.cutoff_hz is None else f"{log.cutoff_hz:.3g}",
        "–" if log.recording.still else f"{log.duration:.4g}",
        f"{len(log.rows)}",
        f"{log.effective:.0f}",
        Cell(log.recording.sha256[:12], title=log.recording.sha256),
    )
