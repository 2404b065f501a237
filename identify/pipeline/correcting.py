"""What was found of logs, corrected where a person asks for it: never by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from identify.arrays import Array
from identify.diagnosis import Cause, Drift, without_drift
from identify.errors import ProblemError
from identify.pipeline.checking import Checks
from identify.pipeline.explanations import Explanation, merged_reading
from identify.pipeline.scanned_log import ScannedLog
from identify.regressors import WIDE_LAYOUT, LogSummary, scan
from identify.regressors.wrench import DDW, DW, W

SPANS = ("contact", "frozen_pose", "frozen_wrench", "saturation")
"""Codes whose spans of time can be left out."""


class NotCorrected(ProblemError):
    """What was asked to be corrected was not found, or cannot be told from something else.

    Attributes:
        code: what was asked for.
    """

    def __init__(self, code: str, why: str) -> None:
        self.code = code
        super().__init__(f"--apply {code}: {why}")


def corrected(
    logs: Sequence[ScannedLog], checks: Checks, codes: Sequence[str]
) -> tuple[list[ScannedLog], list[dict[str, Any]]]:
    """Logs with what was asked for corrected, and the record of it for the provenance.

    Args:
        logs: as they were read.
        checks: of them, with a ranking.
        codes: of findings, in the order in which they are corrected.

    Raises:
        NotCorrected: a code was not found, or is one of a pair that the log cannot tell apart.
    """
    now, applied = list(logs), []
    for code in codes:
        correct, record = _correction(checks, code)
        now = [correct(number, log) for number, log in enumerate(now)]
        applied.append({"code": code, **record})
    return now, applied


_Correct = Callable[[int, ScannedLog], ScannedLog]


def _correction(checks: Checks, code: str) -> tuple[_Correct, dict[str, Any]]:
    if code in SPANS:
        return _without_spans(checks, code)
    ranking = checks.ranking
    if ranking is not None and ranking.best.alternative is not None and not ranking.as_read:
        if code == ranking.best.code:
            others = {each.code for each in ranking.tied} - {code}
            _require_alone(code, others)
            return _read_otherwise(ranking.best)
        why = f"the likeliest is {ranking.best.code}; correct that first"
        raise NotCorrected(code, why)
    for cause in () if checks.diagnosis is None else checks.diagnosis.causes:
        if cause.code == code:
            _require_alone(code, cause.equivalent)
            return _without_cause(cause)
    if checks.drift is not None and checks.drift.code == code:
        return _steady(checks.drift)
    found = ", ".join(dict.fromkeys(f.code for f in checks.findings)) or "nothing"
    raise NotCorrected(code, f"not found in these logs; found: {found}")


def _require_alone(code: str, others: Iterable[str]) -> None:
    if others := sorted(others):
        raise NotCorrected(
            code, f"these logs cannot tell it from {', '.join(others)}; find out which it is"
        )


def _read_otherwise(best: Explanation) -> tuple[_Correct, dict[str, Any]]:
    alternative = best.alternative
    assert alternative is not None

    def correct(number: int, log: ScannedLog) -> ScannedLog:
        if alternative.reading is not None:
            log = log.again(merged_reading(log.summary.reading, alternative))
        return log if alternative.change is None else _mapped(log, _whole(alternative.change))

    return correct, {"meaning": alternative.text, "gain": best.gain}


def _without_cause(cause: Cause) -> tuple[_Correct, dict[str, Any]]:
    def correct(number: int, log: ScannedLog) -> ScannedLog:
        if cause.hypothesis.name != "delay":
            return _mapped(log, cause.maps[number])
        delay = log.summary.recording.wrench_delay + float(cause.size[0])
        return log.again(replace(log.summary.reading, wrench_delay=delay))

    low, high = cause.interval
    return correct, {
        "size": cause.size.tolist(),
        "interval": np.stack((low, high), axis=-1).tolist(),
    }


def _steady(drift: Drift) -> tuple[_Correct, dict[str, Any]]:
    if drift.refused:
        raise NotCorrected(drift.code, drift.refused)

    def correct(number: int, log: ScannedLog) -> ScannedLog:
        if drift.log not in (-1, number):
            return log
        steady = without_drift(
            log.summary.statistics, drift.kind, strength=drift.strength, block=drift.block
        )
        return log._replace(summary=replace(log.summary, statistics=steady))

    return correct, {"kind": drift.kind, "strength": drift.strength, "block": drift.block}


def _without_spans(checks: Checks, code: str) -> tuple[_Correct, dict[str, Any]]:
    spans = [
        [(span.start, span.stop) for span in of_log if span.code == code] for of_log in checks.spans
    ]
    if not any(spans):
        raise NotCorrected(code, "not found in these logs")

    def correct(number: int, log: ScannedLog) -> ScannedLog:
        if not spans[number]:
            return log
        reading = log.summary.reading
        return log.again(replace(reading, left_out=(*reading.left_out, *spans[number])))

    return correct, {"left_out": spans}


def _mapped(log: ScannedLog, M: Array) -> ScannedLog:
    """The log as a linear map of its wide columns makes it; its full-rate states go."""
    summary: LogSummary = log.summary
    if summary.statistics.layout != WIDE_LAYOUT:
        reading = replace(summary.reading, cutoff_hz=summary.cutoff_hz)
        summary = scan(log.source, reading, wide=True)
    return log._replace(
        summary=replace(
            summary,
            statistics=summary.statistics.mapped(M),
            folds=summary.folds.mapped(M),
            rows=summary.rows @ M,
            segments=(),
        )
    )


def _whole(change: Array) -> Array:
    """M of all wide columns of a map of those that a fit reads."""
    M = np.eye(len(change))
    M[:, : change.shape[1]] = change
    M[DW, DW] = M[DDW, DDW] = change[W, W]
    return M
