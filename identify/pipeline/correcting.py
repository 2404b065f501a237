"""What was found of logs, corrected where a person asks for it: never by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from identify.arrays import Array
from identify.diagnosis import (
    Diagnosis,
    Drift,
    Explanation,
    LogFacts,
    find_faults,
    sized_faults,
)
from identify.diagnosis.search import with_maps
from identify.errors import LogError, ProblemError
from identify.estimation import EstimatorSettings
from identify.estimation.intervals import covariance_of
from identify.estimation.least_squares import LeastSquaresFit
from identify.estimation.widened import of_shift, of_size
from identify.findings import REPORTED
from identify.pipeline.diagnose import Checks, least_squares_of, look_at
from identify.pipeline.explanations import read_otherwise, with_fault_corrected
from identify.pipeline.messages import distinct, of_change
from identify.pipeline.scanned_log import ScannedLog
from identify.signals import Reading

SPANS = ("contact", "frozen_pose", "frozen_wrench", "saturation")
"""Codes whose spans of time can be left out."""

_ROUNDS = 3
"""Times that a fault is corrected: a delay is found by derivatives, and read exactly."""

_SETTLED = 0.1
"""Share of its interval below which what is left of a fault is not corrected again."""

_Corrected: TypeAlias = tuple[list[ScannedLog], dict[str, Any], list[Array]]
"""Logs with something corrected, the record of it, and covariances of what its size leaves open."""


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
) -> tuple[list[ScannedLog], list[dict[str, Any]], list[Array]]:
    """Logs with what was asked for corrected, the record of it for the provenance, and covariances.

    Each is looked for in the logs as those before it have left them. The covariances are of what
    the errors of their sizes move of all parameters, shape (10 n, 10 n) each.

    Args:
        logs: as they were read, those of the carrier alone last.
        codes: of findings, in the order in which they are corrected.
        settings: of the estimate.

    Raises:
        NotCorrected: a code was not found, or is one of a pair that the logs cannot tell apart.
    """
    now, applied, open_ = list(logs), [], list[Array]()
    for number, code in enumerate(codes):
        # Other readings are of the logs as they were read: with a change made they are no more.
        changed = any(log.summary.reading.maps for log in now)
        suspect = not changed and code not in (*SPANS, "spikes")
        checks = look_at(now, settings, suspect=suspect, corrected=changed)
        found = _found(now, checks, code, settings)
        if found is not None:
            now, record, moved = _settled(now, found, settings)
        else:
            now, record, moved = _correction(now, checks, code, codes[:number], settings)
        applied.append({"code": code, **record})
        open_ += moved
    return now, applied, open_


def _found(
    logs: Sequence[ScannedLog], checks: Checks, code: str, settings: EstimatorSettings
) -> Explanation | None:
    """The fault with a size of that code, if the logs are not more likely misread.

    Of several that explain the logs as well, the one that is named.
    """
    found = () if checks.diagnosis is None else checks.diagnosis.found
    fault = next((each for each in found if code in (each.code, *each.equivalent)), None)
    if fault is None or checks.misread:
        return None
    alike = {fault.code, *fault.equivalent}
    if not fault.choosable:
        _require_alone(code, alike - {code}, fault)
    if fault.undecided:
        raise NotCorrected(code, f"{fault.undecided}; find out which, and correct it there")
    if code == fault.code:
        return fault
    for other in rivals(logs, fault, settings):
        if (named := other.found[0]).code == code:
            return replace(named, equivalent=tuple(sorted(alike - {code})))
    return None


def rivals(
    logs: Sequence[ScannedLog], found: Explanation, settings: EstimatorSettings
) -> Iterator[Diagnosis]:
    """Logs with each of the faults corrected that explain them as well as one."""
    fit = least_squares_of(logs, settings) if found.equivalent else None
    if fit is None:
        return
    facts = [LogFacts.of(log.summary.recording) for log in logs]
    for fault, *_ in sized_faults(facts):
        if fault.code in found.equivalent and fault.code != found.code:
            again = find_faults(fit, facts, settings.all_terms, (fault.name,))
            if again.found:
                yield again


def _correction(
    logs: Sequence[ScannedLog],
    checks: Checks,
    code: str,
    before: Sequence[str],
    settings: EstimatorSettings,
) -> _Corrected:
    if code in (*SPANS, "spikes") and any(s.code == code for of in checks.spans for s in of):
        return take_out_spikes(logs, checks) if code == "spikes" else leave_out(logs, checks, code)
    if (misread := checks.misread) is not None and checks.ranking is not None:
        alike = distinct(checks.ranking)
        if (own := next((each for each in alike if each.code == code), None)) is not None:
            _require_alone(code, [f'"{each.text}"' for each in alike if each is not own])
            record = {"meaning": f"read so that {misread.text}", "gain": misread.gain}
            return read_otherwise(logs, misread), record, []
        raise NotCorrected(code, f"the likeliest is {misread.code}; correct that first")
    if checks.drift is not None and checks.drift.code == code:
        return _steady(logs, checks.drift, settings)
    if checks.calibration is not None and code == checks.calibration.code:
        raise NotCorrected(code, "it is reported, not corrected: calibrate the sensor again")
    for change in checks.changes:
        if change.code == code:
            finding = of_change(change, checks.logs)
            raise NotCorrected(
                code, f"it cannot be corrected. {finding.where}: {finding.text} {finding.remedy}"
            )
    codes = dict.fromkeys(f.code for f in checks.findings)
    found = ", ".join([c for c in codes if c not in REPORTED] or codes) or "nothing to be corrected"
    were = "was" if len(before) == 1 else "were"
    once = f" once {', '.join(before)} {were} corrected" if before else ""
    raise NotCorrected(code, f"not found in these logs{once}; found: {found}")


def _require_alone(code: str, others: Iterable[str], fault: Explanation | None = None) -> None:
    if others := sorted(others):
        motion = fault.tells_apart if fault else "log for longer, in attitudes all around"
        tells = f" ({motion}, and log again, to tell them apart)" if motion else ""
        raise NotCorrected(
            code,
            f"these logs cannot tell it from {', '.join(others)}, and one corrected in the place "
            f"of another gives a wrong body; find out which it is{tells}, and correct it at its "
            "source or in the schema",
        )


def _read(
    logs: Sequence[ScannedLog], correct: Callable[[int, Reading], Reading]
) -> list[ScannedLog]:
    """Logs by readings that correct those they had."""
    return [log.again(correct(number, log.summary.reading)) for number, log in enumerate(logs)]


def _settled(
    logs: Sequence[ScannedLog],
    found: Explanation,
    settings: EstimatorSettings,
) -> _Corrected:
    """Logs with a fault corrected until nothing is left of it, and the record of that."""
    name, now = found.faults[0].name, list(logs)
    others = [each.fit for each in rivals(logs, found, settings)]
    total, step, rounds = np.zeros_like(found.size), found.size, 0
    while True:
        facts = [LogFacts.of(log.summary.recording) for log in now]
        (faults,) = sized_faults(facts, [name])
        now = [
            log.again(with_fault_corrected(log.summary.reading, fault, step))
            for log, fault in zip(now, faults, strict=True)
        ]
        total, rounds = total + step, rounds + 1
        if rounds == _ROUNDS:
            break
        again = look_at(now, settings, suspect=False, corrected=True).diagnosis
        if again is None:
            break
        sizes = {each.faults[0].name: each.size for each in again.found}
        # Where something else is wrong besides, a test of this fault alone is of both.
        left = sizes or {test.fault.name: test.size for test in again.tests}
        step = left.get(name, np.zeros_like(total))
        if (np.abs(step) <= _SETTLED * found.half_width).all():
            break
    whole = replace(found, size=total)
    record = {
        "meaning": whole.text,
        "size": total.tolist(),
        "interval": np.stack(whole.interval, axis=-1).tolist(),
        "rounds": rounds,
    }
    return now, record, _left_open(now, whole, others, settings)


def _left_open(
    now: Sequence[ScannedLog],
    found: Explanation,
    others: Sequence[LeastSquaresFit],
    settings: EstimatorSettings,
) -> list[Array]:
    """Covariances of what the error of a size moves, and of the others that may be in its place."""
    fit = least_squares_of(now, settings)
    if fit is None:
        return []
    facts = [LogFacts.of(log.summary.recording) for log in now]
    (faults,) = sized_faults(facts, [found.faults[0].name])
    open_ = []
    for step in np.diag(found.half_width):
        ends = [
            with_maps(fit, np.array([fault.map_at(end) for fault in faults]), settings.all_terms)
            for end in (step, -step)
        ]
        open_.append(of_size(0.5 * (ends[0].x - ends[1].x)))
    open_ += [of_shift(other.x - fit.x, covariance_of(other)) for other in others]
    return open_


def _steady(logs: Sequence[ScannedLog], drift: Drift, settings: EstimatorSettings) -> _Corrected:
    _require_alone(drift.code, drift.equivalent)
    if drift.refused:
        raise NotCorrected(drift.code, drift.refused)

    def correct(number: int, reading: Reading) -> Reading:
        offset = tuple(map(tuple, drift.offsets[number].tolist()))
        added = (offset,) if offset else ()
        return replace(reading, wrench_drift=(*reading.wrench_drift, *added))

    now = _read(logs, correct)
    record = {
        "meaning": f"{drift.code.replace('_', ' ')} taken off the offset",
        "kind": drift.kind,
        "offset": [offset.tolist() for offset in drift.offsets],
    }
    fit = least_squares_of(now, settings)
    if fit is None:
        return now, record, []
    # The fit beside the drift knows of its sizes, that of the corrected logs does not.
    values, vectors = np.linalg.eigh(covariance_of(drift.fit) - covariance_of(fit))
    return now, record, [(vectors * np.maximum(values, 0.0)) @ vectors.T]


def leave_out(logs: Sequence[ScannedLog], checks: Checks, code: str) -> _Corrected:
    """Logs without the spans of time of a code, and the record of it."""
    own = [[span for span in of_log if span.code == code] for of_log in checks.spans]
    times = [[(span.start, span.stop) for span in of_log] for of_log in own]

    def correct(number: int, reading: Reading) -> Reading:
        return replace(reading, left_out=(*reading.left_out, *times[number]))

    seconds = sum(stop - start for of_log in times for start, stop in of_log)
    record = {
        "meaning": f"{code.replace('_', ' ')}: {seconds:.4g} s left out",
        "left_out": times,
    }
    try:
        return _read(logs, correct), record, []
    except LogError as error:
        why = f"without those {seconds:.4g} s too little is left of the log ({error}); log again"
        raise NotCorrected(code, why) from error


def take_out_spikes(logs: Sequence[ScannedLog], checks: Checks) -> _Corrected:
    """Logs whose spikes are put between their neighbours, and the record of it."""
    rows = [sum(s.rows for s in of_log if s.code == "spikes") for of_log in checks.spans]

    def correct(number: int, reading: Reading) -> Reading:
        return replace(reading, without_spikes=reading.without_spikes or bool(rows[number]))

    record = {
        "meaning": f"spikes: {sum(rows)} rows put between their neighbours",
        "rows": rows,
    }
    return _read(logs, correct), record, []
