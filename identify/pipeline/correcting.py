"""What was found of logs, corrected where a person asks for it: never by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from identify.arrays import Array
from identify.diagnosis import Cause, Drift, LogFacts
from identify.errors import ProblemError
from identify.estimation import EstimatorSettings
from identify.pipeline.diagnose import Checks, look_at
from identify.pipeline.explanations import Explanation, in_words, merged_reading
from identify.pipeline.messages import of_change
from identify.pipeline.scanned_log import ScannedLog
from identify.regressors.wrench import DDW, DW, W

SPANS = ("contact", "frozen_pose", "frozen_wrench", "saturation")
"""Codes whose spans of time can be left out."""

_ROUNDS = 3
"""Times that a cause is corrected: a delay is found by derivatives, and read exactly."""

_SETTLED = 0.1
"""Share of its interval below which what is left of a cause is not corrected again."""


class NotCorrected(ProblemError):
    """What was asked to be corrected was not found, or cannot be told from something else.

    Attributes:
        code: what was asked for.
    """

    def __init__(self, code: str, why: str) -> None:
        self.code = code
        super().__init__(f"--apply {code}: {why}")

    def __reduce__(self) -> tuple[object, ...]:
        """Made anew of what it is made of."""
        why = str(self).removeprefix(f"--apply {self.code}: ")
        return NotCorrected, (self.code, why)


def corrected(
    logs: Sequence[ScannedLog],
    codes: Sequence[str],
    settings: EstimatorSettings,
    progress: Callable[[str], None],
) -> tuple[list[ScannedLog], list[dict[str, Any]]]:
    """Logs with what was asked for corrected, and the record of it for the provenance.

    Each is looked for in the logs as those before it have left them.

    Args:
        logs: as they were read, those of the carrier alone last.
        codes: of findings, in the order in which they are corrected.
        settings: of the estimate.
        progress: called with a line of text.

    Raises:
        NotCorrected: a code was not found, or is one of a pair that the logs cannot tell apart.
    """
    now, applied = list(logs), []
    for number, code in enumerate(codes):
        # Other readings are of the logs as they were read: with a change made they are no more.
        changed = any(log.changes for log in now)
        suspect = not changed and code not in (*SPANS, "spikes")
        checks = look_at(now, settings, suspect=suspect, corrected=changed, progress=progress)
        cause = _cause(checks, code, codes[:number])
        if cause is not None:
            now, record = _settled(now, cause, settings, progress)
        else:
            correct, record = _correction(checks, code, codes[:number])
            now = [correct(place, log) for place, log in enumerate(now)]
        applied.append({"code": code, **record})
    return now, applied


_Correct = Callable[[int, ScannedLog], ScannedLog]


def _cause(checks: Checks, code: str, before: Sequence[str]) -> Cause | None:
    """The continuous cause of that code, if the logs are not more likely misread."""
    found = () if checks.diagnosis is None else checks.diagnosis.causes
    cause = next((cause for cause in found if cause.code == code), None)
    if cause is None or _misread(checks):
        return None
    _require_alone(code, cause.equivalent)
    if cause.undecided:
        raise NotCorrected(code, f"{cause.undecided}; find out which, and correct it there")
    return cause


def _misread(checks: Checks) -> Explanation | None:
    """Another reading that explains the logs better, if there is one."""
    ranking = checks.ranking
    if ranking is None or ranking.as_read or ranking.best.alternative is None:
        return None
    return ranking.best


def _correction(
    checks: Checks, code: str, before: Sequence[str]
) -> tuple[_Correct, dict[str, Any]]:
    if code in (*SPANS, "spikes") and any(s.code == code for of in checks.spans for s in of):
        return _without_spikes(checks) if code == "spikes" else _without_spans(checks, code)
    if (misread := _misread(checks)) is not None and checks.ranking is not None:
        if code == misread.code:
            _require_alone(code, {each.code for each in checks.ranking.tied} - {code})
            return _read_otherwise(misread)
        raise NotCorrected(code, f"the likeliest is {misread.code}; correct that first")
    if checks.drift is not None and checks.drift.code == code:
        return _steady(checks.drift)
    if checks.calibration is not None and code == checks.calibration.code:
        raise NotCorrected(code, "it is reported, not corrected: calibrate the sensor again")
    for change in checks.changes:
        if change.code == code:
            finding = of_change(change, checks.logs)
            raise NotCorrected(
                code, f"it cannot be corrected. {finding.where}: {finding.text} {finding.remedy}"
            )
    found = ", ".join(dict.fromkeys(f.code for f in checks.findings)) or "nothing"
    were = "was" if len(before) == 1 else "were"
    once = f" once {', '.join(before)} {were} corrected" if before else ""
    raise NotCorrected(code, f"not found in these logs{once}; found: {found}")


def _require_alone(code: str, others: Iterable[str]) -> None:
    if others := sorted(others):
        raise NotCorrected(
            code,
            f"these logs cannot tell it from {', '.join(others)}, and one corrected in the place "
            "of another gives a wrong body; find out which it is, and correct it at its source or "
            "in the schema",
        )


def _read_otherwise(best: Explanation) -> tuple[_Correct, dict[str, Any]]:
    alternative = best.alternative
    assert alternative is not None

    def correct(number: int, log: ScannedLog) -> ScannedLog:
        # The rate, the cut-off and the noise of another unit are others too.
        if alternative.clock != 1.0 and (again := log.timed(alternative.clock)) is not None:
            return again
        if alternative.reading is not None:
            log = log.again(merged_reading(log.summary.reading, alternative))
        return log if alternative.change is None else log.mapped(_whole(alternative.change))

    return correct, {"meaning": f"read so that {alternative.text}", "gain": best.gain}


def _settled(
    logs: Sequence[ScannedLog],
    cause: Cause,
    settings: EstimatorSettings,
    progress: Callable[[str], None],
) -> tuple[list[ScannedLog], dict[str, Any]]:
    """Logs with a cause corrected until nothing is left of it, and the record of that."""
    now, total, step = list(logs), np.zeros_like(cause.size), cause.size
    rounds = 0
    while True:
        now = [_without_cause(log, cause, step) for log in now]
        total, rounds = total + step, rounds + 1
        if rounds == _ROUNDS:
            break
        again = look_at(now, settings, suspect=False, corrected=True, progress=progress).diagnosis
        if again is None:
            break
        found = {each.hypothesis.name: each.size for each in again.causes}
        # Where something else is wrong besides, a test of this cause alone is of both.
        left = found or {test.hypothesis.name: test.size for test in again.tests}
        step = left.get(cause.hypothesis.name, np.zeros_like(total))
        if (np.abs(step) <= _SETTLED * cause.half_width).all():
            break
    whole = replace(cause, size=total)
    return now, {
        "meaning": in_words(whole),
        "size": total.tolist(),
        "interval": np.stack(whole.interval, axis=-1).tolist(),
        "rounds": rounds,
    }


def _without_cause(log: ScannedLog, cause: Cause, size: Array) -> ScannedLog:
    recording = log.summary.recording
    if cause.hypothesis.name == "delay":
        delay = recording.wrench_delay + float(size[0])
        return log.again(replace(log.summary.reading, wrench_delay=delay))
    return log.mapped(cause.hypothesis.map_of(size, LogFacts.of(recording)))


def _steady(drift: Drift) -> tuple[_Correct, dict[str, Any]]:
    if drift.refused:
        raise NotCorrected(drift.code, drift.refused)

    def correct(number: int, log: ScannedLog) -> ScannedLog:
        offset = tuple(map(tuple, drift.offsets[number].tolist()))
        reading = log.summary.reading
        if not offset:
            return log
        return log.again(replace(reading, wrench_drift=(*reading.wrench_drift, offset)))

    return correct, {
        "meaning": f"{drift.code.replace('_', ' ')} taken off the offset",
        "kind": drift.kind,
        "offset": [offset.tolist() for offset in drift.offsets],
    }


def _without_spans(checks: Checks, code: str) -> tuple[_Correct, dict[str, Any]]:
    own = [[span for span in of_log if span.code == code] for of_log in checks.spans]
    times = [[(span.start, span.stop) for span in of_log] for of_log in own]

    def correct(number: int, log: ScannedLog) -> ScannedLog:
        reading = log.summary.reading
        if not times[number]:
            return log
        return log.again(replace(reading, left_out=(*reading.left_out, *times[number])))

    seconds = sum(stop - start for of_log in times for start, stop in of_log)
    return correct, {
        "meaning": f"{code.replace('_', ' ')}: {seconds:.4g} s left out",
        "left_out": times,
    }


def _without_spikes(checks: Checks) -> tuple[_Correct, dict[str, Any]]:
    rows = [sum(s.rows for s in of_log if s.code == "spikes") for of_log in checks.spans]

    def correct(number: int, log: ScannedLog) -> ScannedLog:
        if not rows[number]:
            return log
        return log.again(replace(log.summary.reading, without_spikes=True))

    return correct, {
        "meaning": f"spikes: {sum(rows)} rows put between their neighbours",
        "rows": rows,
    }


def _whole(change: Array) -> Array:
    """M of all wide columns of a map of those that a fit reads."""
    M = np.eye(len(change))
    M[:, : change.shape[1]] = change
    M[DW, DW] = M[DDW, DDW] = change[W, W]
    return M
