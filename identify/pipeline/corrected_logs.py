"""Logs as they are read without a fault: another reading, or with rows left out or corrected."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from identify.diagnosis import BodyChange, Explanation, Span
from identify.errors import LogError, ProblemError
from identify.estimation import FittedEffects
from identify.pipeline.check_findings import SPLIT_LOG_REMEDY, times_of_change
from identify.pipeline.explanations import (
    RankingScope,
    correcting_patch,
    rescan_under_explanation,
)
from identify.pipeline.scanned_log import ScannedLog
from identify.regressors import FEATURE_TENSOR
from identify.signals import Interpretation
from identify.signals.predicted_wrench import PredictedWrench

if TYPE_CHECKING:
    from identify.diagnosis.hysteresis import Hysteresis
    from identify.diagnosis.resonance import Resonance

_PLAY_WIDTH_RATIO = 1.35
"""Largest ratio of the width of a dead zone to its estimate, which motion between rows makes small:
1.0 to 1.35 in logs of known play."""


_RESONANT_PART_RATIO = 1.2
"""Largest ratio of the part that moves at a resonance to its estimate."""


class CorrectedLogs(NamedTuple):
    """Logs that were read without a fault, and the record of the correction for the provenance."""

    logs: list[ScannedLog]
    record: dict[str, object]


class NotCorrected(ProblemError):
    """A requested correction does not apply: the fault is absent or cannot be distinguished.

    Attributes:
        code: the requested code.
    """

    def __init__(self, code: str, why: str) -> None:
        self.code = code
        super().__init__(f"{self._requested_option}: {why}")

    @property
    def _requested_option(self) -> str:
        return f"--apply {self.code} (in Python, apply={self.code!r})"

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by the arguments of the constructor."""
        why = str(self).removeprefix(f"{self._requested_option}: ")
        return NotCorrected, (self.code, why)


def exclude_spans(
    logs: Sequence[ScannedLog], spans: Sequence[Sequence[Span]], code: str
) -> CorrectedLogs:
    """Read logs without the time of faulty spans, those of one finding code of each log.

    Raises `NotCorrected`: the rest of a log is too short.
    """
    times = [tuple((span.start, span.stop) for span in of_log) for of_log in spans]
    amount = f"{sum(stop - start for of_log in times for start, stop in of_log):.4g} s"
    if code == "wrong_rows":
        rows = sum(span.rows for of_log in spans for span in of_log)
        amount = f"{rows} row{'s' * (rows != 1)}"
    return _without_times(logs, times, code, amount)


def keep_longest_part(logs: Sequence[ScannedLog], changes: Sequence[BodyChange]) -> CorrectedLogs:
    """Read of each log the longest part before, between or after the changes of its body.

    Raises `NotCorrected`: this part is too short.
    """
    code = "body_changed"
    others = list[tuple[tuple[float, float], ...]]()
    kept = list[str]()
    for number, log in enumerate(logs):
        first, last = log.summary.span
        edges = [first]
        for change in sorted(
            (change for change in changes if (change.code, change.log) == (code, number)),
            key=lambda change: change.fraction_before,
        ):
            earliest, _, latest = times_of_change(change, log.summary)
            edges += [earliest, latest]
        # Parts of one body alternate with times at which it may have changed.
        of_one_body = list(pairwise([*edges, last]))[::2]
        start, stop = max(of_one_body, key=lambda part: part[1] - part[0])
        others.append(tuple(part for part in ((first, start), (stop, last)) if part[0] < part[1]))
        unit = "" if log.summary.recording.still else " s"
        kept.append(f"{start:.4g} to {stop:.4g}{unit}")
    amount = f"all but {', '.join(kept)}"
    return _without_times(logs, others, code, amount)


def interpolate_spikes(
    logs: Sequence[ScannedLog], spikes: Sequence[Sequence[Span]]
) -> CorrectedLogs:
    """Read logs with their spikes interpolated from the neighbours, by the spikes of each."""
    rows = [sum(span.rows for span in of_log) for of_log in spikes]

    def with_interpolation(log_index: int, interpretation: Interpretation) -> Interpretation:
        return replace(
            interpretation, without_spikes=interpretation.without_spikes or bool(rows[log_index])
        )

    count = sum(rows)
    record = {"meaning": f"spikes: {count} row{'s' * (count != 1)} interpolated", "rows": rows}
    return CorrectedLogs(_rescan_each(logs, with_interpolation), record)


def subtract_offset_steps(logs: Sequence[ScannedLog]) -> CorrectedLogs:
    """Read logs with the jumps of their sensors' offsets subtracted.

    Raises `NotCorrected`: a log is of static poses.
    """
    if any(log.summary.recording.still and log.offset_steps for log in logs):
        raise NotCorrected(
            "bias_step",
            "in static poses the size of the jump cannot be separated from the body. "
            f"{SPLIT_LOG_REMEDY}",
        )
    steps = [[(s.start, s.stop, *s.jump) for s in log.offset_steps] for log in logs]
    meaning = f"bias step: {sum(map(len, steps))} subtracted from the wrench"
    record: dict[str, object] = {"meaning": meaning, "steps": steps}
    return CorrectedLogs([log.without_offset_steps() for log in logs], record)


def subtract_play(
    logs: Sequence[ScannedLog],
    effects: FittedEffects,
    hysteresis_by_sensor: Mapping[int, Hysteresis],
) -> CorrectedLogs:
    """Read logs of one body without the error of their sensors' play at its wrench.

    `effects`: fit of the logs, in their order.
    """
    corrected = list[ScannedLog]()
    for sensor, log in zip(effects.model.sensors, logs, strict=True):
        if sensor not in hysteresis_by_sensor:
            corrected.append(log)
            continue
        # A constant changes nothing of what play adds.
        body = PredictedWrench.of(
            FEATURE_TENSOR, effects.fit.x[:10], np.zeros(6), log.summary.cutoff_hz
        )
        from identify.signals.wrench_play import WrenchPlay  # few logs need it

        removed = WrenchPlay(tuple(hysteresis_by_sensor[sensor].widths.tolist()), body)
        corrected.append(log.rescan(replace(log.summary.reading, play=removed)))
    widths = [zones.widths.tolist() for zones in hysteresis_by_sensor.values()]
    meaning = "hysteresis: play of the channels subtracted"
    return CorrectedLogs(corrected, {"meaning": meaning, "widths": widths})


def subtract_more_play(logs: Sequence[ScannedLog]) -> CorrectedLogs:
    """Read logs whose play was subtracted with the largest widths that the estimated ones allow."""
    corrected = list[ScannedLog]()
    for log in logs:
        removed = log.summary.reading.play
        if removed is not None:
            widths = tuple(_PLAY_WIDTH_RATIO * width for width in removed.widths)
            reading = replace(log.summary.reading, play=replace(removed, widths=widths))
            log = log.rescan(reading)
        corrected.append(log)
    return CorrectedLogs(corrected, {"meaning": "hysteresis: more play subtracted"})


def subtract_resonance(logs: Sequence[ScannedLog], resonance: Resonance) -> CorrectedLogs:
    """Read logs of one body without the wrench that a resonance of it adds."""
    from identify.signals.wrench_resonance import WrenchResonance  # few logs need it

    corrected = list[ScannedLog]()
    for log in logs:
        removed = WrenchResonance(
            resonance.frequency_hz,
            resonance.damping,
            tuple(resonance.part.tolist()),
            resonance.in_world,
            log.summary.cutoff_hz,
        )
        reading = replace(log.summary.reading, resonance=removed)
        # Rows at the edges are unchanged: there the signals would seem to jump.
        corrected.append(log.rescan(reading, check_signals=False))
    meaning = f"resonance: what swings at {resonance.frequency_hz:.3g} Hz subtracted"
    return CorrectedLogs(corrected, {"meaning": meaning, "part": resonance.part.tolist()})


def subtract_more_resonance(logs: Sequence[ScannedLog]) -> CorrectedLogs:
    """Read logs whose resonance was subtracted with the largest part that its fit allows."""
    corrected = list[ScannedLog]()
    for log in logs:
        removed = log.summary.reading.resonance
        if removed is not None:
            part = tuple(_RESONANT_PART_RATIO * value for value in removed.part)
            reading = replace(log.summary.reading, resonance=replace(removed, part=part))
            log = log.rescan(reading, check_signals=False)
        corrected.append(log)
    return CorrectedLogs(corrected, {"meaning": "resonance: more subtracted"})


def read_under_explanation(
    logs: Sequence[ScannedLog], explanation: Explanation, scope: RankingScope
) -> CorrectedLogs:
    """Read the logs that an explanation is of without its fault."""
    patch = dict(correcting_patch(explanation.faults[0], explanation.fault_size))
    only = f" (only in {scope.where})" if scope.where else ""
    record: dict[str, object] = {
        "meaning": f"corrected: {explanation.text}{only}",
        "gain": explanation.log_likelihood_ratio,
    }
    record |= {"patch": patch} if patch else {}
    return CorrectedLogs(rescan_under_explanation(logs, explanation, scope), record)


def _without_times(
    logs: Sequence[ScannedLog],
    times: Sequence[Sequence[tuple[float, float]]],
    code: str,
    amount: str,
) -> CorrectedLogs:
    """Read logs without some time of each. Raises `NotCorrected`: the rest is too short."""

    def with_exclusions(log_index: int, interpretation: Interpretation) -> Interpretation:
        return replace(
            interpretation, excluded_spans=(*interpretation.excluded_spans, *times[log_index])
        )

    record = {
        "meaning": f"{code.replace('_', ' ')}: {amount} excluded",
        "left_out": [list(of_log) for of_log in times],
    }
    try:
        return CorrectedLogs(_rescan_each(logs, with_exclusions), record)
    except LogError as error:
        why = f"without {amount} the log is too short ({error}); log again"
        raise NotCorrected(code, why) from error


def _rescan_each(
    logs: Sequence[ScannedLog], correct: Callable[[int, Interpretation], Interpretation]
) -> list[ScannedLog]:
    """Scan each log again under an interpretation that a function corrects."""
    return [log.rescan(correct(number, log.summary.reading)) for number, log in enumerate(logs)]
