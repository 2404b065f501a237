"""Spans of time in which a signal cannot be what it says: frozen, at its end, with spikes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from identify.arrays import Array, Flags, Indices
from identify.logs import Recording

FROZEN_SECONDS = 0.3
"""A signal that does not change for so long while it moves elsewhere is frozen …"""

_FROZEN_HOLDS = 8.0
"""… unless its samples are held nearly that long throughout: so many times as long as usual."""

SATURATED_ROWS = 4
"""Rows in a row at a channel's extreme that are an end of its range: clean signals have one or two,
where they are turning; those that are held have as many as they are held for."""

SPIKE = 12.0
"""Second differences, in their median size, that no noise has …"""

SPIKE_SHARE = 1e-3
"""… and least share of the rows that has them: edges of a contact or a freeze are a few."""

_PASSES = 4
"""Rounds in which spikes are taken out: of two beside each other the second shows in the next."""

_FEWEST_SPIKES = 5
_FEWEST_ROWS = 50


@dataclass(frozen=True, slots=True)
class Span:
    """A span of time of a log, and what is wrong there.

    Attributes:
        code: of the finding: "contact", "saturation", "spikes", "frozen_pose", "frozen_wrench".
        start, stop: time in the log [s]; of spikes those of the first and the last.
        rows: of the log, or of the series, that are in it.
        size: how far beyond what is expected, as the code has it: of a contact the residual's
            energy over that of noise; of a saturation the extreme [N or N m]; of spikes the largest
            in the median size; of a freeze its length over the longest hold elsewhere.
        channel: which, where it is one: "fx" … "tz"; else empty.
    """

    code: str
    start: float
    stop: float
    rows: int
    size: float = 0.0
    channel: str = ""


def signal_spans(recording: Recording) -> tuple[Span, ...]:
    """What the signals of a recording show by themselves, before any low-pass.

    Args:
        recording: on one clock; of one with streams the rows of the wrench are looked at.

    Returns:
        In order of time. Nothing for still poses.
    """
    if recording.time is None or len(recording.time) < _FEWEST_ROWS:
        return ()
    time, signals = recording.time, recording.signals
    wrench = np.concatenate((signals["force"], signals["torque"]), axis=1)
    spans = _frozen(time, wrench, "frozen_wrench")
    pose = [signals[name] for name in ("position", "quaternion") if name in signals]
    if pose:
        spans += _frozen(time, np.concatenate(pose, axis=1), "frozen_pose")
    frozen = np.zeros(len(time), dtype=np.bool_)
    for span in spans:
        if span.code == "frozen_wrench":
            frozen |= (time >= span.start) & (time <= span.stop)
    spans += _saturated(time, wrench, frozen)
    spans += _spikes(time, wrench)
    return tuple(sorted(spans, key=lambda span: span.start))


def runs(flags: Flags) -> Indices:
    """First and one past the last index of each run of true flags, shape (runs, 2)."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    return edges.reshape(-1, 2)


def _frozen(time: Array, columns: Array, code: str) -> list[Span]:
    """Runs of rows that are all the same, far longer than such runs are elsewhere."""
    held = runs((np.diff(columns, axis=0) == 0.0).all(axis=1))
    if not len(held):
        return []
    length = time[held[:, 1]] - time[held[:, 0]]
    step = float(np.median(np.diff(time)))
    usual = max(float(np.median(length)) if len(held) > 0.01 * len(time) else step, step)
    spans = []
    for (start, stop), lasts in zip(held.tolist(), length.tolist(), strict=True):
        if lasts >= FROZEN_SECONDS and lasts > _FROZEN_HOLDS * usual:
            span = Span(
                code, float(time[start]), float(time[stop]), stop - start + 1, lasts / usual
            )
            spans.append(span)
    moved = float(sum(span.stop - span.start for span in spans))
    return spans if moved < 0.5 * (time[-1] - time[0]) else []


def _saturated(time: Array, wrench: Array, frozen: Flags) -> list[Span]:
    """Runs of a channel at its largest or smallest value, as an end of range makes them."""
    spans = []
    for column, channel in zip(wrench.T, ("fx", "fy", "fz", "tx", "ty", "tz"), strict=True):
        changes = np.flatnonzero(np.diff(column) != 0.0)
        if len(changes) < _FEWEST_ROWS:
            continue
        hold = max(1, int(np.percentile(np.diff(changes), 90)))
        for end in (column.max(), column.min()):
            at = runs((column == end) & ~frozen)
            at = at[at[:, 1] - at[:, 0] >= SATURATED_ROWS * hold]
            # One run may be chance of a coarse resolution; an end of range is met again, or stays.
            rows = int((at[:, 1] - at[:, 0]).sum())
            if rows < 2 * SATURATED_ROWS * hold:
                continue
            first, last = float(time[at[0, 0]]), float(time[at[-1, 1] - 1])
            spans.append(Span("saturation", first, last, rows, float(abs(end)), channel))
    return spans


def _spikes(time: Array, wrench: Array) -> list[Span]:
    """Single rows that stand far out of their neighbours."""
    found, sizes = _spiked_rows(wrench)
    if len(found) < max(_FEWEST_SPIKES, SPIKE_SHARE * len(wrench)):
        return []
    at = time[found]
    return [Span("spikes", float(at[0]), float(at[-1]), len(found), float(sizes.max()))]


def _spiked_rows(wrench: Array) -> tuple[Indices, Array]:
    """Which rows are spikes, and their second differences in the median size."""
    fresh = (np.diff(wrench, axis=0) != 0.0).any(axis=1)
    taken = np.flatnonzero(np.concatenate(([True], fresh)))  # each held sample once
    columns = wrench[taken]
    if len(columns) < _FEWEST_ROWS:
        return taken[:0], np.zeros(0)
    usual = np.median(np.abs(columns[:-2] - 2.0 * columns[1:-1] + columns[2:]), axis=0)
    columns = columns / np.where(usual > 0.0, usual, np.inf)
    second = np.abs(columns[:-2] - 2.0 * columns[1:-1] + columns[2:]).max(axis=1)
    # A spike goes out and comes back; a step, as at the edge of a contact, goes out and stays.
    out = np.abs(np.diff(columns, axis=0)).max(axis=1)[:-1]
    back = np.abs(columns[2:] - columns[:-2]).max(axis=1)
    found = np.flatnonzero((second > SPIKE) & (back < 0.5 * out))
    return taken[found + 1], second[found]


def without_spikes(recording: Recording) -> tuple[Recording, int]:
    """A recording whose spiked rows of the wrench are between their neighbours.

    A low-pass would smear a spike over its whole length, so this comes before it.

    Args:
        recording: any but still poses.

    Returns:
        The recording, and how many rows were changed.
    """
    wrench = np.concatenate((recording.signals["force"], recording.signals["torque"]), axis=1)
    changed = np.zeros(len(wrench), dtype=np.bool_)
    for _ in range(_PASSES):
        rows, _ = _spiked_rows(wrench)
        if not len(rows):
            break
        changed[rows] = True
        good = np.flatnonzero(~changed)
        for column in wrench.T:
            column[changed] = np.interp(np.flatnonzero(changed), good, column[good])
    repaired = {"force": wrench[:, :3], "torque": wrench[:, 3:]}
    signals = {**recording.signals, **repaired}
    return replace(recording, signals=signals), int(changed.sum())
