"""The study's report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from experiments.silent_study.clean import CleanScore
from experiments.silent_study.scoring import TELLS, Score
from identify.experiments.rows import Row

_T = TypeVar("_T")

WITHIN = 1.5
"""Half-widths within which every parameter is to be after a correction, and the error of inertia in
that of the clean log."""

_HOW = f"""\
Logs are made wrong one way at a time, fitted, and checked. A log *can tell* where its wrench, as it
was, is likelier than as it was made, by the residuals of the best body without any limit on it:
n (log det Σ′ − log det Σ − log |det C|²) ≥ {TELLS:g}, with n effective samples and C what was done
to the wrench; or where that body has a negative mass. *Silently wrong*: the fit calls its estimate
usable, and a parameter is off by more than its whole interval. *Named*: the first finding of a
cause, or one that it says to be its equal, is what was done. *Misled*: what the finding says is
done, and the estimate, then called usable, is wrong so. *Corrected*: named alone, and done: all
parameters within {WITHIN:g} half-widths; the error of inertia within {WITHIN:g} times that of the
clean log or its interval, the larger of both."""

_CRITERIA = ("what is asked", "asked", "found")


def report(
    scores: Sequence[Score], clean: Sequence[CleanScore], failed: Sequence[Row], seed: int
) -> str:
    """The whole Markdown file."""
    cases = len(scores) + len(clean) + len(failed)
    parts = (
        "# Whether anything is silently wrong",
        f"Written by `make study NAME=silent` (seed {seed}); nothing is entered by hand. "
        f"{cases} cases.",
        _HOW,
        _table(_CRITERIA, _criteria(scores, clean)),
        *_of_faults(scores),
        *_of_clean(clean),
        *_of_failed(failed),
    )
    return "\n\n".join(parts) + "\n"


def _criteria(scores: Sequence[Score], clean: Sequence[CleanScore]) -> list[list[str]]:
    seen = [s for s in scores if s.kind == "observable"]
    told = [s for s in seen if s.tellable]
    corrected = [s for s in told if s.right and s.obeyed]
    harmless = [s for s in scores if s.kind == "harmless"]
    return [
        ["silently wrong, of what the log can tell", "0", _of(told, lambda s: s.silent)],
        ["silently wrong, of what it cannot", "–", _of(_but(seen, told), lambda s: s.silent)],
        ["named, of what the log can tell", "≥ 93 %", _of(told, lambda s: s.right)],
        ["misled", "0", _of(seen, lambda s: s.misled)],
        [
            f"every parameter within {WITHIN:g} half-widths when corrected",
            "≥ 92 %",
            _of(corrected, _within),
        ],
        [
            f"error of inertia within {WITHIN:g} x the clean log's when corrected",
            "–",
            _of(corrected, lambda s: s.inertia_ratio <= WITHIN),
        ],
        ["harmless, and an alarm", "–", _of(harmless, lambda s: bool(s.said))],
        ["clean logs with a warning or an error", "≤ 1 %", _of(clean, lambda s: bool(s.alarms))],
    ]


def _but(all_: Sequence[Score], some: Sequence[Score]) -> list[Score]:
    return [s for s in all_ if not any(s is one for one in some)]


def _within(score: Score) -> bool:
    return bool(score.after_off <= WITHIN)


def _of(scores: Sequence[_T], holds: Callable[[_T], bool]) -> str:
    count = sum(holds(score) for score in scores)
    share = f" ({count / len(scores):.1%})" if scores else ""
    return f"{count} of {len(scores)}{share}"


def _of_faults(scores: Sequence[Score]) -> list[str]:
    if not scores:
        return []
    heads = (
        *("what was done", "logs", "can tell", "named", "silently wrong", "misled"),
        *("corrected", "inertia"),
        "said instead, where the log can tell",
    )
    by_fault = [
        [fault, *_row([s for s in scores if s.fault == fault])]
        for fault in dict.fromkeys(s.fault for s in scores)
    ]
    by_log = [
        [log, *_row([s for s in scores if s.log == log and s.kind == "observable"])]
        for log in dict.fromkeys(s.log for s in scores)
    ]
    return [
        "## What was done",
        "Of force and torque alike, of a single axis and of crosstalk nothing is asked, and of the "
        "last three that nothing is said.",
        _table(heads, by_fault),
        "## The logs",
        _table(("log", *heads[1:]), by_log),
    ]


def _row(scores: Sequence[Score]) -> list[str]:
    told = [s for s in scores if s.tellable]
    named = [s for s in told if s.right]
    corrected = [s for s in named if s.obeyed]
    others = Counter(s.said[0] if s.said else "nothing" for s in told if not s.right)
    return [
        str(len(scores)),
        str(len(told)),
        str(len(named)),
        _some(s.silent for s in scores),
        _some(s.misled for s in scores),
        f"{sum(map(_within, corrected))}/{len(corrected)}" if corrected else "",
        f"{sum(s.inertia_ratio <= WITHIN for s in corrected)}/{len(corrected)}"
        if corrected
        else "",
        ", ".join(f"{code} {count}" for code, count in others.most_common()),
    ]


def _some(found: Iterable[bool]) -> str:
    return str(count) if (count := sum(found)) else ""


def _of_clean(clean: Sequence[CleanScore]) -> list[str]:
    if not clean:
        return []
    offs = np.array([s.off for s in clean])
    shown = Counter(code for s in clean for code in s.shown)
    lines = [
        "## Clean logs",
        f"{len(clean)} logs of random bodies, motions, sensors and rates of 50 Hz to 2 kHz; of the "
        "pose, of pose and twist, or with accelerations. Besides alarms, "
        + (", ".join(f"{code} in {count}" for code, count in shown.most_common()) or "nothing")
        + f". A parameter is off by more than its whole interval in {int(np.sum(offs > 2.0))}.",
    ]
    wrong = [[s.name, ", ".join(s.alarms)] for s in clean if s.alarms]
    return [*lines, *((_table(("log", "alarm"), wrong),) if wrong else ())]


def _of_failed(failed: Sequence[Row]) -> list[str]:
    if not failed:
        return []
    rows = [
        [str(row[name]) for name in ("log", "perturbation", "error_type", "error")]
        for row in failed
    ]
    return ["## Cases that failed", _table(("log", "what was done", "error", "message"), rows)]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---", *["--:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
