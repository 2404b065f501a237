"""The study's report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np
from scipy.stats import beta

from experiments.silent_study.clean import CleanScore
from experiments.silent_study.scoring import EXIT_ZERO, TELLS, Score
from identify.studies.rows import Row

_T = TypeVar("_T")

WITHIN = 1.5
"""Half-widths within which every parameter is to be after a correction, and the error of inertia in
that of the clean log."""

_HOW = f"""\
Logs are made wrong one way at a time, and in two or three ways at once, of sizes that are drawn;
then fitted, and checked. A log *can tell* where its wrench, as it was, is likelier than as it was
made, by the residuals of the best body without any limit on it:
n (log det Σ′ − log det Σ − log |det C|²) ≥ {TELLS:g}, with n effective samples and C what was done
to the wrench; or where that body has a negative mass. It can tell several where it can tell each
of them beside the others. *Silently wrong*: the fit ends with exit
status 0, and a parameter is off by more than its whole interval. *Named*: the first finding of a
cause, or one that it says to be its equal, is what was done. *Misled*: what the finding says is
done, the fit ends with exit status 0, and its estimate is wrong so. *Corrected*: named alone, and
done: all parameters within {WITHIN:g} half-widths; the error of inertia within {WITHIN:g} times
that of the clean log or its interval, the larger of both. *At most*: the one-sided 95 % bound of a
share (Clopper and Pearson 1934); of intervals that hold, the end of the two-sided one."""

_CRITERIA = ("what is asked", "asked", "found", "at most")


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
    several = [s for s in scores if s.kind == "several"]
    both = [s for s in several if s.tellable]
    corrected = [s for s in told if s.right and s.obeyed]
    harmless = [s for s in scores if s.kind == "harmless"]
    return [
        ["silently wrong, of what the log can tell", "0", *_bound(told, lambda s: s.silent)],
        ["silently wrong, of what it cannot", "–", *_bound(_but(seen, told), lambda s: s.silent)],
        ["silently wrong, several at once", "0", *_bound(both, lambda s: s.silent)],
        ["named, of what the log can tell", "≥ 95 %", _of(told, lambda s: s.right), ""],
        ["misled", "0", *_bound(seen, lambda s: s.misled)],
        ["misled, several at once", "0", *_bound(both, lambda s: s.misled)],
        [
            f"every parameter within {WITHIN:g} half-widths when corrected",
            *("≥ 97 %", _of(corrected, _within), ""),
        ],
        [
            f"error of inertia within {WITHIN:g} x the clean log's when corrected",
            *("–", _of(corrected, lambda s: s.inertia_ratio <= WITHIN), ""),
        ],
        [
            "the ten parameters in their intervals, of logs with a finding and exit status 0",
            *("95 %", *_covered([s for s in (*seen, *several, *harmless) if s.said])),
        ],
        ["harmless, and exit status 0", "≥ 95 %", _of(harmless, _succeeds), ""],
        ["harmless, and an alarm", "–", _of(harmless, lambda s: bool(s.said)), ""],
        [
            "clean logs with a warning or an error",
            *("≤ 1 %", *_bound(clean, lambda s: bool(s.alarms))),
        ],
        ["clean logs with exit status 0", "≥ 99 %", _of(clean, _succeeds), ""],
    ]


def _succeeds(score: Score | CleanScore) -> bool:
    return score.usable in EXIT_ZERO


def _bound(scores: Sequence[_T], holds: Callable[[_T], bool]) -> tuple[str, str]:
    """Format a count with the one-sided bound of its share."""
    count, n = sum(holds(score) for score in scores), len(scores)
    most = beta.ppf(0.95, count + 1, n - count) if count < n else 1.0
    return _of(scores, holds), f"{most:.1%}" if n else ""


def _covered(scores: Sequence[Score]) -> tuple[str, str]:
    """Share of intervals that hold, and the upper end of its two-sided 95 % interval."""
    inside, n = sum(s.covered for s in scores), sum(s.reported for s in scores)
    if not n:
        return "0 of 0", ""
    most = beta.ppf(0.975, inside + 1, n - inside) if inside < n else 1.0
    return f"{inside} of {n} ({inside / n:.1%})", f"{most:.1%}"


def _but(all_: Sequence[Score], some: Sequence[Score]) -> list[Score]:
    return [s for s in all_ if not any(s is one for one in some)]


def _within(score: Score) -> bool:
    return bool(score.after_off <= WITHIN)


def _of(scores: Sequence[_T], holds: Callable[[_T], bool]) -> str:
    count = sum(holds(score) for score in scores)
    share = f" ({count / len(scores):.1%})" if scores else ""
    return f"{count} of {len(scores)}{share}"


def _of_faults(scores: Sequence[Score]) -> list[str]:
    wrong = [s for s in scores if s.kind == "several" and (s.silent or s.misled)]
    at_once = [s for s in scores if s.kind == "several"]
    scores = [s for s in scores if s.kind != "several"]
    if not scores:
        return _of_several(at_once, wrong)
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
        *_of_several(at_once, wrong),
    ]


def _of_several(scores: Sequence[Score], wrong: Sequence[Score]) -> list[str]:
    if not scores:
        return []
    first = Counter(s.said[0] if s.said else "nothing" for s in scores)
    zero = sum(map(_succeeds, scores))
    lines = [
        "## Several at once",
        f"{len(scores)} logs, of which {zero} end with exit status 0. First said of them: "
        + ", ".join(f"{code} {count}" for code, count in first.most_common())
        + ".",
    ]
    rows = [
        [s.log, s.fault.partition(": ")[2], s.said[0] if s.said else "nothing", *_offs(s)]
        for s in wrong
    ]
    heads = ("log", "what was done", "first said", "off, half-widths", "off when obeyed")
    return [*lines, *((_table(heads, rows),) if rows else ())]


def _offs(score: Score) -> list[str]:
    both = (score.off, score.usable), (score.after_off, score.after_usable)
    return ["" if np.isnan(off) else f"{off:.2g} ({usable})" for off, usable in both]


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
