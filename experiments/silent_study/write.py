"""Report of the study, as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np
from scipy.stats import beta

from experiments.silent_study.clean import CleanScore
from experiments.silent_study.scoring import DETECTABLE_LLR, EXIT_ZERO, Score
from identify.studies.rows import Row

_T = TypeVar("_T")

WITHIN = 1.5
"""Maximum error after a correction: of parameters in half-widths, of the inertia relative to the
clean log."""

_METHOD_TEXT = f"""\
Logs are perturbed in one way, or in two or three ways with random sizes, then fitted and checked. A
perturbation is *detectable* if the log-likelihood ratio between the original and the perturbed
wrench, by the residuals of the best unconstrained body, is large enough:
n (log det Σ′ − log det Σ − log |det C|²) ≥ {DETECTABLE_LLR:g}, with n effective samples and C the
map of the wrench; or if that body has a negative mass. A combination is detectable if each
perturbation is, alone and in the presence of the others. *Silently wrong*: the fit ends with exit
status 0, and a parameter is wrong by more than its whole interval. *Named*: the first finding that
names a cause, or one of its stated equivalents, is the perturbation. *Misled*: after the suggested
correction the fit ends with exit status 0, but is silently wrong. *Corrected*: after the correction
of a unique finding all parameters are within {WITHIN:g} half-widths; the error of inertia is within
{WITHIN:g} times that of the clean log or its interval, whichever is larger. *Upper bound*: one-
sided 95 % bound of the share (Clopper and Pearson 1934); for coverage, the end of the two-sided
interval."""

_CRITERIA = ("criterion", "target", "result", "upper bound")


def report(
    scores: Sequence[Score],
    clean: Sequence[CleanScore],
    failed: Sequence[Row],
    seed: int,
    all_cases: int,
) -> str:
    """Return the report as Markdown.

    Args:
        scores: of logs with one or several perturbations.
        clean: of logs without one.
        failed: rows of cases that raised an error.
        seed: of the study.
        all_cases: number of cases from which these are a random sample.
    """
    cases = len(scores) + len(clean) + len(failed)
    parts = (
        "# Silent errors",
        f"Written by `make study NAME=silent` (seed {seed}); nothing is entered by hand. "
        f"{cases} cases, a random sample of {all_cases}.",
        _METHOD_TEXT,
        _table(_CRITERIA, _criteria(scores, clean)),
        *_perturbation_section(scores),
        *_clean_section(clean),
        *_failed_section(failed),
    )
    return "\n\n".join(parts) + "\n"


def _criteria(scores: Sequence[Score], clean: Sequence[CleanScore]) -> list[list[str]]:
    single = [s for s in scores if s.kind == "observable"]
    detectable = [s for s in single if s.detectable]
    hidden = [s for s in single if not s.detectable]
    several = [s for s in scores if s.kind == "several"]
    combined = [s for s in several if s.detectable]
    corrected = [s for s in detectable if s.names_fault and s.remedy]
    harmless = [s for s in scores if s.kind == "harmless"]
    return [
        ["silently wrong, detectable", "0", *_bound(detectable, lambda s: s.silent)],
        ["silently wrong, not detectable", "–", *_bound(hidden, lambda s: s.silent)],
        ["silently wrong, combined", "0", *_bound(combined, lambda s: s.silent)],
        ["named, detectable", "≥ 95 %", _count(detectable, lambda s: s.names_fault), ""],
        ["misled", "0", *_bound(single, lambda s: s.misled)],
        ["misled, combined", "0", *_bound(combined, lambda s: s.misled)],
        [
            f"every parameter within {WITHIN:g} half-widths when corrected",
            *("≥ 97 %", _count(corrected, _within), ""),
        ],
        [
            f"error of inertia within {WITHIN:g} x that of the clean log when corrected",
            *("–", _count(corrected, lambda s: s.inertia_ratio <= WITHIN), ""),
        ],
        [
            "the ten parameters in their intervals, of logs with a finding and exit status 0",
            *("95 %", *_covered([s for s in (*single, *several, *harmless) if s.codes])),
        ],
        ["harmless, exit status 0", "≥ 95 %", _count(harmless, _succeeds), ""],
        ["harmless, with an alarm", "–", _count(harmless, lambda s: bool(s.codes)), ""],
        [
            "clean logs with a warning or an error",
            *("≤ 1 %", *_bound(clean, lambda s: bool(s.alarms))),
        ],
        ["clean logs with exit status 0", "≥ 99 %", _count(clean, _succeeds), ""],
    ]


def _succeeds(score: Score | CleanScore) -> bool:
    return score.usable in EXIT_ZERO


def _bound(scores: Sequence[_T], holds: Callable[[_T], bool]) -> tuple[str, str]:
    """Format a count with the one-sided bound of its share."""
    count, n = sum(holds(score) for score in scores), len(scores)
    upper = beta.ppf(0.95, count + 1, n - count) if count < n else 1.0
    return _count(scores, holds), f"{upper:.1%}" if n else ""


def _covered(scores: Sequence[Score]) -> tuple[str, str]:
    """Return the coverage, and the upper end of its two-sided 95 % interval."""
    inside, n = sum(s.covered for s in scores), sum(s.reported for s in scores)
    if not n:
        return "0 of 0", ""
    upper = beta.ppf(0.975, inside + 1, n - inside) if inside < n else 1.0
    return f"{inside} of {n} ({inside / n:.1%})", f"{upper:.1%}"


def _within(score: Score) -> bool:
    return bool(score.error_after_remedy <= WITHIN)


def _count(scores: Sequence[_T], holds: Callable[[_T], bool]) -> str:
    count = sum(holds(score) for score in scores)
    share = f" ({count / len(scores):.1%})" if scores else ""
    return f"{count} of {len(scores)}{share}"


def _perturbation_section(scores: Sequence[Score]) -> list[str]:
    wrong = [s for s in scores if s.kind == "several" and (s.silent or s.misled)]
    at_once = [s for s in scores if s.kind == "several"]
    scores = [s for s in scores if s.kind != "several"]
    if not scores:
        return _combined_section(at_once, wrong)
    heads = (
        *("perturbation", "logs", "detectable", "named", "silently wrong", "misled"),
        *("corrected", "inertia"),
        "first finding instead, if detectable",
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
        "## Perturbations",
        "A common gain of force and torque, the gain of a single axis and crosstalk need not be "
        "named; the last three need no finding.",
        _table(heads, by_fault),
        "## Logs",
        _table(("log", *heads[1:]), by_log),
        *_combined_section(at_once, wrong),
    ]


def _combined_section(scores: Sequence[Score], wrong: Sequence[Score]) -> list[str]:
    if not scores:
        return []
    first = Counter(s.codes[0] if s.codes else "nothing" for s in scores)
    zero = sum(map(_succeeds, scores))
    lines = [
        "## Combined perturbations",
        f"{len(scores)} logs, of which {zero} end with exit status 0. First findings: "
        + ", ".join(f"{code} {count}" for code, count in first.most_common())
        + ".",
    ]
    rows = [
        [s.log, s.fault.partition(": ")[2], s.codes[0] if s.codes else "nothing", *_offs(s)]
        for s in wrong
    ]
    heads = ("log", "perturbation", "first finding", "error, half-widths", "error after remedy")
    return [*lines, *((_table(heads, rows),) if rows else ())]


def _offs(score: Score) -> list[str]:
    both = (
        (score.largest_error, score.usable),
        (score.error_after_remedy, score.verdict_after_remedy),
    )
    return ["" if np.isnan(off) else f"{off:.2g} ({usable})" for off, usable in both]


def _row(scores: Sequence[Score]) -> list[str]:
    detectable = [s for s in scores if s.detectable]
    named = [s for s in detectable if s.names_fault]
    corrected = [s for s in named if s.remedy]
    others = Counter(s.codes[0] if s.codes else "nothing" for s in detectable if not s.names_fault)
    return [
        str(len(scores)),
        str(len(detectable)),
        str(len(named)),
        _nonzero(s.silent for s in scores),
        _nonzero(s.misled for s in scores),
        f"{sum(map(_within, corrected))}/{len(corrected)}" if corrected else "",
        f"{sum(s.inertia_ratio <= WITHIN for s in corrected)}/{len(corrected)}"
        if corrected
        else "",
        ", ".join(f"{code} {count}" for code, count in others.most_common()),
    ]


def _nonzero(flags: Iterable[bool]) -> str:
    return str(count) if (count := sum(flags)) else ""


def _clean_section(clean: Sequence[CleanScore]) -> list[str]:
    if not clean:
        return []
    offs = np.array([s.largest_error for s in clean])
    excitation = Counter(code for s in clean for code in s.excitation)
    lines = [
        "## Clean logs",
        f"{len(clean)} logs of random bodies, motions, sensors and rates of 50 Hz to 2 kHz; with "
        "pose, pose and twist, or accelerations too. Findings on excitation: "
        + (", ".join(f"{code} in {count}" for code, count in excitation.most_common()) or "none")
        + f". A parameter is wrong by more than its whole interval in {int(np.sum(offs > 2.0))}.",
    ]
    wrong = [[s.name, ", ".join(s.alarms)] for s in clean if s.alarms]
    return [*lines, *((_table(("log", "alarm"), wrong),) if wrong else ())]


def _failed_section(failed: Sequence[Row]) -> list[str]:
    if not failed:
        return []
    rows = [
        [str(row[name]) for name in ("log", "perturbation", "error_type", "error")]
        for row in failed
    ]
    return ["## Cases that failed", _table(("log", "perturbation", "error", "message"), rows)]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---", *["--:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
