"""What was found of logs, corrected where a person asks for it: never by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from identify.arrays import Array
from identify.diagnosis import Drift, Explanation, Fault, LogFacts, sized_faults
from identify.errors import ProblemError
from identify.estimation import EstimatorSettings
from identify.findings import REPORTED
from identify.pipeline.diagnose import Checks, look_at
from identify.pipeline.messages import distinct, of_change
from identify.pipeline.scanned_log import ScannedLog
from identify.signals import Reading

SPANS = ("contact", "frozen_pose", "frozen_wrench", "saturation")
"""Codes whose spans of time can be left out."""

_ROUNDS = 3
"""Times that a fault is corrected: a delay is found by derivatives, and read exactly."""

_SETTLED = 0.1
"""Share of its interval below which what is left of a fault is not corrected again."""

_Corrected: TypeAlias = tuple[list[ScannedLog], dict[str, Any]]
"""Logs with something corrected, and the record of it."""


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
        changed = any(log.summary.reading.maps for log in now)
        suspect = not changed and code not in (*SPANS, "spikes")
        checks = look_at(now, settings, suspect=suspect, corrected=changed, progress=progress)
        found = _found(checks, code)
        if found is not None:
            now, record = _settled(now, found, settings, progress)
        else:
            now, record = _correction(now, checks, code, codes[:number])
        applied.append({"code": code, **record})
    return now, applied


def _found(checks: Checks, code: str) -> Explanation | None:
    """The fault with a size of that code, if the logs are not more likely misread."""
    found = () if checks.diagnosis is None else checks.diagnosis.found
    fault = next((each for each in found if each.code == code), None)
    if fault is None or _misread(checks):
        return None
    _require_alone(code, fault.equivalent)
    if fault.undecided:
        raise NotCorrected(code, f"{fault.undecided}; find out which, and correct it there")
    return fault


def _misread(checks: Checks) -> Explanation | None:
    """A fault of the schema that explains the logs better, if there is one."""
    ranking = checks.ranking
    if ranking is None or ranking.as_read or ranking.best.sized:
        return None
    return ranking.best


def _correction(
    logs: Sequence[ScannedLog], checks: Checks, code: str, before: Sequence[str]
) -> _Corrected:
    if code in (*SPANS, "spikes") and any(s.code == code for of in checks.spans for s in of):
        return _without_spikes(logs, checks) if code == "spikes" else _cut(logs, checks, code)
    if (misread := _misread(checks)) is not None and checks.ranking is not None:
        alike = distinct(checks.ranking)
        if (own := next((each for each in alike if each.code == code), None)) is not None:
            _require_alone(code, [f'"{each.text}"' for each in alike if each is not own])
            return _read_otherwise(logs, misread)
        raise NotCorrected(code, f"the likeliest is {misread.code}; correct that first")
    if checks.drift is not None and checks.drift.code == code:
        return _steady(logs, checks.drift)
    if checks.calibration is not None and code == checks.calibration.code:
        raise NotCorrected(code, "it is reported, not corrected: calibrate the sensor again")
    for change in checks.changes:
        if change.code == code:
            finding = of_change(change, checks.logs)
            raise NotCorrected(
                code, f"it cannot be corrected. {finding.where}: {finding.text} {finding.remedy}"
            )
    codes = dict.fromkeys(f.code for f in checks.findings)
    found = ", ".join(each for each in codes if each not in REPORTED) or "nothing to be corrected"
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


def _read(
    logs: Sequence[ScannedLog], correct: Callable[[int, Reading], Reading]
) -> list[ScannedLog]:
    """Logs by readings that correct those they had."""
    return [log.again(correct(number, log.summary.reading)) for number, log in enumerate(logs)]


def _with_fault_corrected(reading: Reading, fault: Fault, size: Array) -> Reading:
    """By the patch of the schema, where there is one, or by the map."""
    if fault.patch is not None and fault.clock == 1.0 and (patch := fault.patch(size)):
        return reading.with_patch(patch)
    return reading.with_map(fault.map_at(size))


def _read_otherwise(logs: Sequence[ScannedLog], best: Explanation) -> _Corrected:
    now = []
    carriers = len(logs) - len(best.faults)  # what loaded logs mean, those without the payload do
    faults = (*best.faults, *best.faults[:1] * carriers)
    for log, fault in zip(logs, faults, strict=True):
        # The rate, the cut-off and the noise of another unit are others too.
        again = log.timed(fault.clock) if fault.clock != 1.0 else None
        reading = _with_fault_corrected(log.summary.reading, fault, best.size)
        now.append(again or log.again(reading))
    return now, {"meaning": f"read so that {best.text}", "gain": best.gain}


def _settled(
    logs: Sequence[ScannedLog],
    found: Explanation,
    settings: EstimatorSettings,
    progress: Callable[[str], None],
) -> _Corrected:
    """Logs with a fault corrected until nothing is left of it, and the record of that."""
    name, now = found.faults[0].name, list(logs)
    total, step, rounds = np.zeros_like(found.size), found.size, 0
    while True:
        facts = [LogFacts.of(log.summary.recording) for log in now]
        (faults,) = sized_faults(facts, [name])
        now = [
            log.again(_with_fault_corrected(log.summary.reading, fault, step))
            for log, fault in zip(now, faults, strict=True)
        ]
        total, rounds = total + step, rounds + 1
        if rounds == _ROUNDS:
            break
        again = look_at(now, settings, suspect=False, corrected=True, progress=progress).diagnosis
        if again is None:
            break
        sizes = {each.faults[0].name: each.size for each in again.found}
        # Where something else is wrong besides, a test of this fault alone is of both.
        left = sizes or {test.fault.name: test.size for test in again.tests}
        step = left.get(name, np.zeros_like(total))
        if (np.abs(step) <= _SETTLED * found.half_width).all():
            break
    whole = replace(found, size=total)
    return now, {
        "meaning": whole.text,
        "size": total.tolist(),
        "interval": np.stack(whole.interval, axis=-1).tolist(),
        "rounds": rounds,
    }


def _steady(logs: Sequence[ScannedLog], drift: Drift) -> _Corrected:
    if drift.refused:
        raise NotCorrected(drift.code, drift.refused)

    def correct(number: int, reading: Reading) -> Reading:
        offset = tuple(map(tuple, drift.offsets[number].tolist()))
        added = (offset,) if offset else ()
        return replace(reading, wrench_drift=(*reading.wrench_drift, *added))

    return _read(logs, correct), {
        "meaning": f"{drift.code.replace('_', ' ')} taken off the offset",
        "kind": drift.kind,
        "offset": [offset.tolist() for offset in drift.offsets],
    }


def _cut(logs: Sequence[ScannedLog], checks: Checks, code: str) -> _Corrected:
    own = [[span for span in of_log if span.code == code] for of_log in checks.spans]
    times = [[(span.start, span.stop) for span in of_log] for of_log in own]

    def correct(number: int, reading: Reading) -> Reading:
        return replace(reading, left_out=(*reading.left_out, *times[number]))

    seconds = sum(stop - start for of_log in times for start, stop in of_log)
    return _read(logs, correct), {
        "meaning": f"{code.replace('_', ' ')}: {seconds:.4g} s left out",
        "left_out": times,
    }


def _without_spikes(logs: Sequence[ScannedLog], checks: Checks) -> _Corrected:
    rows = [sum(s.rows for s in of_log if s.code == "spikes") for of_log in checks.spans]

    def correct(number: int, reading: Reading) -> Reading:
        return replace(reading, without_spikes=reading.without_spikes or bool(rows[number]))

    return _read(logs, correct), {
        "meaning": f"spikes: {sum(rows)} rows put between their neighbours",
        "rows": rows,
    }
