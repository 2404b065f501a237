"""What was looked at of logs, as findings: what, how big, how sure, and what to change."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from identify.diagnosis import Change, Explanation, Ranking, Span
from identify.diagnosis.ranking import UNITS
from identify.findings import Finding
from identify.logs.sensors import effect_table
from identify.regressors import LogSummary

MOST_EXPLANATIONS_NAMED = 4
"""Explanations that a finding of several names."""


def of_ranking(ranking: Ranking) -> Finding | None:
    """The finding of a ranking; None where the log as read is among the best."""
    if ranking.as_read:
        return None
    best, tied = ranking.best, distinct(ranking)
    evidence = {"gain": best.gain, "lead": ranking.lead, "mass": best.mass}
    if len(tied) == 1:
        text = f"{best.text}: so read, the log is explained clearly better, and the mass is "
        text += "told by the calibration alone." if best.counts else f"{best.mass:.4g} kg."
        return Finding(best.code, best.severity, text, remedy_alone(best), evidence)
    shown = tied[:MOST_EXPLANATIONS_NAMED]
    said = "; or ".join(f"{each.text} (mass {each.mass:.4g} kg)" for each in shown)
    return Finding(
        best.code,
        "error",
        f"several readings explain the log clearly better, and one as well as another: {said}.",
        "Find out which it is. " + " Or: ".join(each.remedy for each in shown),
        evidence | {"equivalent": [each.code for each in tied[1:]]},
    )


def of_likelier(best: Explanation, effects: Sequence[str]) -> Finding:
    """The finding of a reading that is likelier than the logs as read, but not clearly so.

    Args:
        best: the reading.
        effects: codes of the notes on small faults, which explain the logs nearly as well.
    """
    return Finding(
        best.code,
        "warning",
        f"it may be that {best.text} (mass {best.mass:.4g} kg): the log does not tell it from "
        "small faults of the sensor, and the intervals hold both.",
        f"Find out whether it is so. {best.remedy}",
        {"gain": best.gain, "mass": best.mass, "equivalent": list(effects)},
    )


def remedy_alone(best: Explanation) -> str:
    """What to do where it leads alone: with no line of the schema for it, a fit can correct it."""
    schema = "In the schema" in best.remedy
    alone = schema or best.counts
    return best.remedy if alone else f"{best.remedy} Or fit with --apply {best.code}."


def distinct(ranking: Ranking) -> list[Explanation]:
    """The likeliest of each code among those that lead together, of units and axes each."""
    several = (*UNITS, "wrench_axes")  # of still poses a torque of the other sign is as likely
    tied = {e.text if e.code in several else e.code: e for e in reversed(ranking.tied)}
    return list(tied.values())[::-1]


TWO_PARTS = (
    "Cut the log there, and give both parts to one fit: each has an offset of its own. Or zero the "
    "sensor once, before the first pose, and log again."
)
"""What to do where a sensor was zeroed among still poses."""

_SPANS = {
    "bias_step": (
        "the sensor was zeroed, or its offset jumped, by {size:.3g} N",
        "Zero it before it is logged",
    ),
    "contact": ("something touched or pulled at the body", "Leave the time out"),
    "saturation": ("the sensor is at the end of its range", "Use a sensor of a larger range"),
    "spikes": ("single rows stand out of the wrench", "Find where they come from"),
    "frozen_pose": ("the pose stands still while the wrench goes on", "Leave the time out"),
    "frozen_wrench": ("the wrench stands still while the pose goes on", "Leave the time out"),
    "dead_channel": (
        "a channel stands still while others of its sensor go on",
        "Leave the time out",
    ),
    "wrong_rows": (
        "the body that explains the other poses does not explain",
        "Leave such rows out",
    ),
}


def of_spans(log: LogSummary, spans: Sequence[Span], *, touched: bool = False) -> list[Finding]:
    """The findings of spans of time of a log, one of each kind.

    Args:
        log: its summary.
        spans: what is wrong when.
        touched: whether nothing but contacts explains the logs: they are an error.
    """
    found = []
    for code, (what, remedy) in _SPANS.items():
        own = [span for span in spans if span.code == code]
        if own:
            times = [[span.start, span.stop] for span in own]
            if code == "wrong_rows":
                found.append(_of_rows(own, log))
                continue
            said = ", ".join(
                f"{start:.4g}-{stop:.4g} s" for start, stop in times[:MOST_EXPLANATIONS_NAMED]
            )
            more = (
                f" and {len(own) - MOST_EXPLANATIONS_NAMED} more"
                if len(own) > MOST_EXPLANATIONS_NAMED
                else ""
            )
            remedy = f"{remedy}, fit with --apply {code}, or log again."
            if code == "dead_channel" and of_most(log, own):
                remedy = "Mend the channel or name its column in the schema, and log again."
            if log.recording.still:
                said = "all poses"
                if code == "bias_step":
                    said = f"between poses {own[0].start + 1:.0f} and {own[0].stop + 1:.0f}"
                    remedy = TWO_PARTS
            channels = dict.fromkeys(span.channel for span in own if span.channel)
            of = f" ({', '.join(channels)})" if channels else ""
            rows = sum(span.rows for span in own)
            many = f"{rows} row{'s' * (rows != 1)} in " if code == "spikes" else ""
            wrong = code in ("bias_step", "dead_channel") or (touched and code == "contact")
            what = what.format(size=max(span.size for span in own))
            found.append(
                Finding(
                    code,
                    "error" if wrong else "warning",
                    f"{what}{of}: {many}{said}{more}.",
                    remedy,
                    {"spans": times, "rows": rows},
                    log.name,
                )
            )
    return found


def of_most(log: LogSummary, spans: Sequence[Span]) -> bool:
    """Whether one of some spans takes more than half of a log, which is not left then."""
    return log.recording.still or any(s.stop - s.start > 0.5 * log.duration for s in spans)


def _of_rows(spans: Sequence[Span], log: LogSummary) -> Finding:
    """The finding of still poses that the body of the others does not explain."""
    numbers = [n for span in spans for n in range(int(span.start) + 1, int(span.stop) + 2)]
    rows = f"row{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"
    what, remedy = _SPANS["wrong_rows"]
    return Finding(
        "wrong_rows",
        "error",
        f"{what} {rows} of {log.rows_kept} (the first is 1): the attitude or the wrench there may "
        "be another pose's, or the body moved.",
        f"{remedy} with --apply wrong_rows, or log their poses again.",
        {"rows": numbers},
        log.name,
    )


def of_unexplained(left: float, ranking: Ranking | None, logs: Sequence[LogSummary]) -> Finding:
    """The finding of logs that nothing explains, with the best of what was tried.

    Args:
        left: share of the wrench's signal that it leaves.
        ranking: of all explanations, where they were compared.
        logs: whose schemas may leave small faults out of the fit.
    """
    tried = ""
    if ranking is not None and not ranking.as_read:
        tried = f" The best of the readings that were tried is no better: {ranking.best.text}."
    return Finding(
        "unexplained",
        "error",
        f"nothing that was tried explains the measured wrench: {100.0 * left:.0f} % of the "
        f"variance of its forces or torques is left, far above their noise.{tried}{left_out(logs)}",
        "Check that nothing touched the body, that what is mounted is rigid, and the whole schema; "
        "then log again.",
        {"left": left},
    )


def left_out(logs: Sequence[LogSummary]) -> str:
    """A sentence on small faults that schemas leave out of the fit; empty where none."""
    tables = [effect_table(log.recording) for log in logs]
    names = sorted({key for table in tables for key, size in table.items() if size is False})
    return f" By [effects] the fit is without {', '.join(names)}." if names else ""


def of_change(change: Change, logs: Sequence[LogSummary]) -> Finding:
    """The finding of parts of the data that are of different bodies, or may be."""
    log = logs[change.log]
    first, second = float(change.first[0]), float(change.second[0])
    evidence = {
        "p_value": change.p_value,
        "first": change.first.tolist(),
        "second": change.second.tolist(),
    }
    masses = f"{first:.5g} kg and {second:.5g} kg"
    if change.code == "bodies_differ":
        text = f"it is of another body than the other logs: they are of {masses}."
        remedy = "Leave it out, or fit it by itself (fit --each)."
    else:
        start, when, stop = _times(log, (change.between[0], change.at, change.between[1]))
        evidence |= {"time": when, "between": [start, stop]}
        times = _outward(start, stop)
        text = f"the body changes between {times}: before and after it are {masses}."
        remedy = "Find out when it was, cut the log there, and fit each part by itself."
    if change.sure:
        return Finding(change.code, "error", text, remedy, evidence, log.name)
    text = f"it may be chance (p = {change.p_value:.1g}), and the intervals cover it: {text}"
    remedy = f"If nothing was changed there, leave it at that. Else: {remedy}"
    return Finding(change.code, "info", text, remedy, evidence, log.name)


def _times(log: LogSummary, shares: Sequence[float]) -> list[float]:
    """The times before which there are such shares of a log's rows [s]."""
    numbers, times = np.append(log.numbers, log.points), np.append(log.time, log.span[1])
    return np.interp(np.array(shares) * log.points, numbers, times).tolist()


def _outward(start: float, stop: float) -> str:
    """Two times, rounded away from one another to a tenth of what is between them or less."""
    decimals = 1 - math.floor(math.log10(max(stop - start, 1e-9)))
    low = math.floor(round(start * 10.0**decimals, 6)) / 10.0**decimals
    high = math.ceil(round(stop * 10.0**decimals, 6)) / 10.0**decimals
    return " s and ".join(f"{time:.{max(0, decimals)}f}" for time in (low, high)) + " s"
