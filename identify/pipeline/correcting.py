"""Corrections of logs that a person asks for: another reading, spans of time, spikes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from identify.errors import LogError, ProblemError
from identify.estimation import EstimatorSettings
from identify.findings import CORRECTABLE, REPORTED
from identify.pipeline.check_findings import SPLIT_LOG_REMEDY, change_finding, distinct_leaders
from identify.pipeline.diagnose import Checks, run_checks
from identify.pipeline.effect_notes import EFFECT_CODES
from identify.pipeline.explanations import correcting_patch, reread_logs
from identify.pipeline.fitted_effects import fit_sensor_effects
from identify.pipeline.scanned_log import ScannedLog
from identify.pipeline.wrench_delays import settle_delays
from identify.signals import Reading

SPANS = ("contact", "frozen_pose", "frozen_wrench", "saturation", "wrong_rows", "dead_channel")
"""Codes whose spans of time, or rows, can be left out."""

_Corrected: TypeAlias = tuple[list[ScannedLog], dict[str, object]]
"""Logs with something corrected, and the record of it."""


class NotCorrected(ProblemError):
    """What was asked to be corrected was not found, or cannot be told from something else.

    Attributes:
        code: what was asked for.
    """

    def __init__(self, code: str, why: str) -> None:
        self.code = code
        super().__init__(f"{self._asked}: {why}")

    @property
    def _asked(self) -> str:
        return f"apply={self.code!r}, on the command line --apply {self.code}"

    def __reduce__(self) -> tuple[object, ...]:
        """Made anew of what it is made of."""
        why = str(self).removeprefix(f"{self._asked}: ")
        return NotCorrected, (self.code, why)


def apply_corrections(
    logs: Sequence[ScannedLog],
    codes: Sequence[str],
    settings: EstimatorSettings,
) -> tuple[list[ScannedLog], list[dict[str, object]]]:
    """Logs with what was asked for corrected, and the record of it for the provenance.

    Each is looked for in the logs as those before it have left them.

    Args:
        logs: as they were read, those of the carrier alone last.
        codes: of findings, in the order in which they are corrected.
        settings: of the estimate.

    Raises:
        NotCorrected: a code was not found, or is one of several that the logs cannot tell apart.
    """
    now, applied = list(logs), list[dict[str, object]]()
    for number, code in enumerate(codes):
        # Other readings are of the logs as they were read: with a change made they are no more.
        changed = any(log.summary.reading.maps for log in now)
        suspect = not changed and code not in CORRECTABLE
        settled, effects = settle_delays(now, fit_sensor_effects(now, settings), settings)
        checks = run_checks(settled, settings, effects, suspect=suspect, corrected=changed)
        now, record = _correction(now, checks, code, codes[:number])
        applied.append({"code": code, **record})
    return now, applied


def _correction(
    logs: Sequence[ScannedLog], checks: Checks, code: str, before: Sequence[str]
) -> _Corrected:
    if any(s.code == code for of in checks.spans for s in of):
        if code == "bias_step":
            if any(log.summary.recording.still and log.offset_steps for log in logs):
                why = (
                    f"of still poses its size is no better known than the body. {SPLIT_LOG_REMEDY}"
                )
                raise NotCorrected(code, why)
            return subtract_offset_steps(logs)
        return (
            interpolate_spikes(logs, checks)
            if code == "spikes"
            else exclude_spans(logs, checks, code)
        )
    if (reading := checks.better_reading) is not None and checks.ranking is not None:
        alike = distinct_leaders(checks.ranking)
        if (own := next((each for each in alike if each.code == code), None)) is not None:
            if own.counts:
                raise NotCorrected(code, f"the log does not tell the scale. {own.remedy}")
            _require_unambiguous(code, [f'"{each.text}"' for each in alike if each is not own])
            patch = dict(correcting_patch(reading.faults[0], reading.size))
            record = {"meaning": f"read so that {reading.text}", "gain": reading.gain}
            record |= {"patch": patch} if patch else {}
            return reread_logs(logs, reading), record
        if code not in EFFECT_CODES:
            raise NotCorrected(code, f"the likeliest is {reading.code}; correct that first")
    if code in EFFECT_CODES:
        meaning = f"{code.replace('_', ' ')}: always part of the fit, with nothing to correct"
        return list(logs), {"meaning": meaning}
    for change in checks.changes:
        if change.code == code:
            finding = change_finding(change, checks.logs)
            raise NotCorrected(
                code, f"it cannot be corrected. {finding.where}: {finding.text} {finding.remedy}"
            )
    for finding in (f for log in logs for f in log.summary.imu.findings if f.code == code):
        raise NotCorrected(code, f"it cannot be corrected. {finding}")
    codes = dict.fromkeys(f.code for f in checks.findings)
    found = ", ".join([c for c in codes if c not in REPORTED] or codes) or "nothing to be corrected"
    were = "was" if len(before) == 1 else "were"
    once = f" once {', '.join(before)} {were} corrected" if before else ""
    raise NotCorrected(code, f"not found in these logs{once}; found: {found}")


def _require_unambiguous(code: str, others: Iterable[str]) -> None:
    if others := sorted(others):
        raise NotCorrected(
            code,
            f"these logs cannot tell it from {', '.join(others)}, and one corrected in the place "
            "of another gives a wrong body; find out which it is (log for longer, in attitudes all "
            "around, and log again, to tell them apart), and correct it at its source or in the "
            "schema",
        )


def _reread(
    logs: Sequence[ScannedLog], correct: Callable[[int, Reading], Reading]
) -> list[ScannedLog]:
    """Logs by readings that correct those they had."""
    return [log.rescan(correct(number, log.summary.reading)) for number, log in enumerate(logs)]


def exclude_spans(logs: Sequence[ScannedLog], checks: Checks, code: str) -> _Corrected:
    """Logs without the spans of time of a code, and the record of it."""
    own = [[span for span in of_log if span.code == code] for of_log in checks.spans]
    times = [[(span.start, span.stop) for span in of_log] for of_log in own]

    def correct(number: int, reading: Reading) -> Reading:
        return replace(reading, left_out=(*reading.left_out, *times[number]))

    seconds = sum(stop - start for of_log in times for start, stop in of_log)
    much = f"{seconds:.4g} s"
    if code == "wrong_rows":
        rows = sum(span.rows for of_log in own for span in of_log)
        much = f"{rows} row{'s' * (rows != 1)}"
    record = {
        "meaning": f"{code.replace('_', ' ')}: {much} left out",
        "left_out": times,
    }
    try:
        return _reread(logs, correct), record
    except LogError as error:
        why = f"without those {much} too little is left of the log ({error}); log again"
        raise NotCorrected(code, why) from error


def subtract_offset_steps(logs: Sequence[ScannedLog]) -> _Corrected:
    """Logs without the jumps of their sensors' offsets, and the record of them."""
    steps = [[(s.start, s.stop, *s.jump) for s in log.offset_steps] for log in logs]
    meaning = f"bias step: {sum(map(len, steps))} taken off the wrench"
    return [log.without_offset_steps() for log in logs], {"meaning": meaning, "steps": steps}


def interpolate_spikes(logs: Sequence[ScannedLog], checks: Checks) -> _Corrected:
    """Logs whose spikes are put between their neighbours, and the record of it."""
    rows = [sum(s.rows for s in of_log if s.code == "spikes") for of_log in checks.spans]

    def correct(number: int, reading: Reading) -> Reading:
        return replace(reading, without_spikes=reading.without_spikes or bool(rows[number]))

    record = {
        "meaning": f"spikes: {sum(rows)} rows put between their neighbours",
        "rows": rows,
    }
    return _reread(logs, correct), record
