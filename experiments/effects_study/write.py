"""Report of the study, as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from experiments.effects_study.cases import CASES_BY_KIND, CLEAN, SMALL_KINDS, Case, Score
from experiments.effects_study.faults import DISTURBANCES
from experiments.effects_study.subjects import SLOW, STILL
from identify.reporting.content import make_table, markdown_table

Scored: TypeAlias = tuple[Case, Score]

EFFECT_CODES = (
    *("gain", "wrench_calibration", "wrench_misaligned", "gravity_tilted", "kinematic_offset"),
    *("delay", "sensor_lag", "clock_rate", "drift"),
)
"""Codes of findings that report a sensor effect."""

MAX_LISTED_CASES = 40
"""Maximum number of listed cases, those without an estimate first."""

_METHOD_TEXT = """\
Logs of variations of four bodies in random motions, short segments and static poses: clean, with
small faults of random size (one, two or three at a time), and with disturbances outside the fault
model. *Coverage*: share of the ten parameters within their 95 % intervals, including the scale of
the sensor, over all estimates, whatever the verdict. Parameters decided by the data, a constraint
or a prior are counted, those of the default body are not (their number: *default*). *Width*: ratio
of the interval widths to those of a fit without effects, median over parameters, then over logs;
*repeatability* is that ratio without the scale of the sensor. *Off*: largest error of a counted
parameter in half-widths of its interval. Any note of an effect on a clean log is false, whatever
its severity."""

_HEADS = (
    *("kind", "logs", "yes", "care", "no", "raised", "coverage", "default", "width"),
    *("mass %", "90 %", "CoM mm", "90 %", "notes of effects"),
)
_CASE_HEADS = (
    *("case", "motion", "body", "change", "usable", "findings"),
    *("off", "mass %", "CoM mm"),
)


def report(scores: Sequence[Scored], seed: int) -> str:
    """Return the report as Markdown."""
    worst = sorted((pair for pair in scores if not pair[1].largest_error <= 1.0), key=_count_wrong)[
        :MAX_LISTED_CASES
    ]
    seconds = _median(score.seconds for _, score in scores)
    parts = (
        "# Small faults as random effects",
        f"Written by `make study NAME=effects` (seed {seed}); nothing is entered by hand. "
        f"{len(scores)} cases; median time of a fit {seconds} s.",
        _METHOD_TEXT,
        markdown_table(make_table(("criterion", "target", "result"), _criteria(scores))),
        "## Logs in motion",
        markdown_table(
            make_table(_HEADS, _rows(_scores_of_kinds(scores, lambda case: case.motion != STILL)))
        ),
        "## Static poses",
        markdown_table(
            make_table(_HEADS, _rows(_scores_of_kinds(scores, lambda case: case.motion == STILL)))
        ),
        "## Cases without an estimate, or with the largest errors relative to their intervals",
        markdown_table(make_table(_CASE_HEADS, [_line(*pair) for pair in worst], word_columns=6)),
    )
    return "\n\n".join(parts) + "\n"


def _criteria(scores: Sequence[Scored]) -> Iterator[list[str]]:
    clean = _scores_of_kinds(scores, lambda case: case.kind == CLEAN)
    small = _scores_of_kinds(scores, lambda case: case.kind in SMALL_KINDS)
    kinds = [
        (_coverage(_scores_of_kinds(scores, lambda c, k=kind: c.kind == k)), kind)
        for kind in CASES_BY_KIND
    ]
    lowest, kind = min((pair for pair in kinds if pair[0] >= 0.0), default=(np.nan, ""))
    yield ["coverage, all", "94 to 98.5 %", _percent(_coverage(scores))]
    yield ["coverage, clean and small faults", "–", _percent(_coverage([*clean, *small]))]
    yield ["lowest coverage of a kind", "≥ 90 %", f"{_percent(lowest)} ({kind})"]
    for label, slow, limit in (("except slow ones", False, 1.35), ("slow ones", True, 1.6)):
        logs = [score for case, score in clean if (case.motion == SLOW) == slow]
        width = _median(score.width_ratio for score in logs)
        yield [f"width of clean logs, {label}", f"≤ {limit:g}", width]
        width = _median(score.repeatability_ratio for score in logs)
        yield [f"repeatability of clean logs, {label}", "–", width]
    noted = _share(clean, lambda score: bool(set(score.codes) & set(EFFECT_CODES)))
    yield ["clean logs with a false note", "≤ 1 %", noted]
    usable = _share(small, lambda score: score.usable in ("yes", "with care"))
    yield ["small faults with yes or with care", "≥ 95 %", usable]


def _rows(scores: Sequence[Scored]) -> Iterator[list[str]]:
    """Yield a row for each kind, then for groups of kinds."""
    groups = {kind: (kind,) for kind in CASES_BY_KIND}
    groups |= {
        "all small faults": SMALL_KINDS,
        "all disturbances": tuple(DISTURBANCES),
        "all": (*CASES_BY_KIND,),
    }
    for name, kinds in groups.items():
        if chosen := _scores_of_kinds(scores, lambda case, kinds=kinds: case.kind in kinds):
            yield _row(name, chosen)


def _row(name: str, scored: Sequence[Scored]) -> list[str]:
    scores = [score for _, score in scored]
    verdicts = Counter(score.usable for score in scores)
    notes = Counter(code for score in scores for code in score.codes if code in EFFECT_CODES)
    mass = [100.0 * score.mass_error for score in scores]
    com = [1e3 * score.com_error for score in scores]
    return [
        name,
        str(len(scores)),
        *(str(verdicts[word] or "") for word in ("yes", "with care", "no", "raised")),
        _percent(_coverage(scored)),
        str(sum(score.defaults for score in scores) or ""),
        _median(score.width_ratio for score in scores),
        *(_median(mass), _median(mass, 90.0), _median(com), _median(com, 90.0)),
        ", ".join(f"{code} {count}" for code, count in notes.most_common()),
    ]


def _count_wrong(scored: Scored) -> float:
    return -np.nan_to_num(scored[1].largest_error, nan=np.inf)


def _line(case: Case, score: Score) -> list[str]:
    name, numbers = (
        f"{case.kind} {case.number}",
        (score.largest_error, 100 * score.mass_error, 1e3 * score.com_error),
    )
    words = [name, case.motion, case.body, score.change, score.usable, ", ".join(score.codes)]
    return words + ["" if np.isnan(number) else f"{number:.2g}" for number in numbers]


def _scores_of_kinds(scores: Sequence[Scored], chosen: Callable[[Case], bool]) -> list[Scored]:
    return [pair for pair in scores if chosen(pair[0])]


def _coverage(scores: Sequence[Scored]) -> float:
    counted = sum(score.counted for _, score in scores)
    return sum(score.covered for _, score in scores) / counted if counted else np.nan


def _median(values: Iterable[float], percent: float = 50.0) -> str:
    finite = [value for value in values if np.isfinite(value)]
    return f"{np.percentile(finite, percent):.2g}" if finite else ""


def _percent(share: float) -> str:
    return "" if np.isnan(share) else f"{share:.1%}"


def _share(scores: Sequence[Scored], holds: Callable[[Score], bool]) -> str:
    count, n = sum(holds(score) for _, score in scores), len(scores)
    return f"{count} of {n}" + (f" ({count / n:.1%})" if n else "")
