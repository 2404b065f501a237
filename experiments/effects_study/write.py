"""The report of the study as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from experiments.effects_study.cases import CLEAN, KINDS, SMALL_KINDS, Case, Score
from experiments.effects_study.faults import OTHER
from experiments.effects_study.subjects import SLOW, STILL
from identify.reporting.content import make_table, markdown_table

Scored: TypeAlias = tuple[Case, Score]

EFFECT_CODES = (
    *("gain", "wrench_calibration", "wrench_misaligned", "gravity_tilted", "kinematic_offset"),
    *("delay", "sensor_lag", "clock_rate", "drift"),
)
"""Codes of findings that name an effect."""

LISTED = 40
"""Largest number of cases that are listed, those without an estimate first."""

_HOW = """\
Logs of bodies like four on random motions, in short segments and in still poses: clean, with small
faults of drawn sizes (one at a time, two and three), and with disturbances that no fault describes.
*Coverage*: share of the ten parameters within their 95 % intervals, the sensor's scale included,
over all estimates whatever their verdict. Parameters that the data, a constraint or a prior decided
are counted, those of the default body are not (*default* says how many). *Width*: of the intervals
over that of the same log fitted without effects, the median over the parameters, then over logs;
*repeatability* is the same without the sensor's scale. *Off*: largest error of a counted parameter
in half-widths of its interval. A note that names an effect of a clean log is false, of whatever
severity."""

_HEADS = (
    *("kind", "logs", "yes", "care", "no", "raised", "coverage", "default", "width"),
    *("mass %", "90 %", "CoM mm", "90 %", "notes of effects"),
)
_CASE_HEADS = (
    *("case", "motion", "body", "what was done", "usable", "findings"),
    *("off", "mass %", "CoM mm"),
)


def report(scores: Sequence[Scored], seed: int) -> str:
    """The whole Markdown file."""
    worst = sorted((each for each in scores if not each[1].off <= 1.0), key=_off)[:LISTED]
    seconds = _median(score.seconds for _, score in scores)
    parts = (
        "# Small faults as random effects",
        f"Written by `make study NAME=effects` (seed {seed}); nothing is entered by hand. "
        f"{len(scores)} cases; median time of a fit {seconds} s.",
        _HOW,
        markdown_table(make_table(("what is asked", "asked", "found"), _criteria(scores))),
        "## Logs that move",
        markdown_table(make_table(_HEADS, _rows(_of(scores, lambda case: case.motion != STILL)))),
        "## Still poses",
        markdown_table(make_table(_HEADS, _rows(_of(scores, lambda case: case.motion == STILL)))),
        "## Without an estimate, or farthest outside an interval",
        markdown_table(make_table(_CASE_HEADS, [_line(*each) for each in worst], words=6)),
    )
    return "\n\n".join(parts) + "\n"


def _criteria(scores: Sequence[Scored]) -> Iterator[list[str]]:
    clean = _of(scores, lambda case: case.kind == CLEAN)
    small = _of(scores, lambda case: case.kind in SMALL_KINDS)
    kinds = [(_coverage(_of(scores, lambda c, k=kind: c.kind == k)), kind) for kind in KINDS]
    least, where = min((each for each in kinds if each[0] >= 0.0), default=(np.nan, ""))
    yield ["coverage, all", "94 to 98.5 %", _percent(_coverage(scores))]
    yield ["coverage, clean and small faults", "–", _percent(_coverage([*clean, *small]))]
    yield ["least coverage of a kind", "≥ 90 %", f"{_percent(least)} ({where})"]
    for words, most in (("but slow ones", 1.35), ("slow ones", 1.6)):
        logs = [score for case, score in clean if (case.motion == SLOW) == (most == 1.6)]
        width = _median(score.width for score in logs)
        yield [f"width of clean logs, {words}", f"≤ {most:g}", width]
        width = _median(score.repeatability for score in logs)
        yield [f"repeatability of clean logs, {words}", "–", width]
    noted = _share(clean, lambda score: bool(set(score.said) & set(EFFECT_CODES)))
    yield ["clean logs with a false note", "≤ 1 %", noted]
    usable = _share(small, lambda score: score.usable in ("yes", "with care"))
    yield ["small faults with yes or with care", "≥ 95 %", usable]


def _rows(scores: Sequence[Scored]) -> Iterator[list[str]]:
    """A row for each kind, then for kinds together."""
    groups = {kind: (kind,) for kind in KINDS}
    groups |= {"all small faults": SMALL_KINDS, "all disturbances": tuple(OTHER), "all": (*KINDS,)}
    for name, kinds in groups.items():
        if chosen := _of(scores, lambda case, kinds=kinds: case.kind in kinds):
            yield _row(name, chosen)


def _row(name: str, scored: Sequence[Scored]) -> list[str]:
    scores = [score for _, score in scored]
    verdicts = Counter(score.usable for score in scores)
    notes = Counter(code for score in scores for code in score.said if code in EFFECT_CODES)
    mass = [100.0 * score.mass for score in scores]
    com = [1e3 * score.com for score in scores]
    return [
        name,
        str(len(scores)),
        *(str(verdicts[word] or "") for word in ("yes", "with care", "no", "raised")),
        _percent(_coverage(scored)),
        str(sum(score.defaults for score in scores) or ""),
        _median(score.width for score in scores),
        *(_median(mass), _median(mass, 90.0), _median(com), _median(com, 90.0)),
        ", ".join(f"{code} {count}" for code, count in notes.most_common()),
    ]


def _off(scored: Scored) -> float:
    return -np.nan_to_num(scored[1].off, nan=np.inf)


def _line(case: Case, score: Score) -> list[str]:
    name, numbers = f"{case.kind} {case.number}", (score.off, 100 * score.mass, 1e3 * score.com)
    words = [name, case.motion, case.body, score.done, score.usable, ", ".join(score.said)]
    return words + ["" if np.isnan(number) else f"{number:.2g}" for number in numbers]


def _of(scores: Sequence[Scored], chosen: Callable[[Case], bool]) -> list[Scored]:
    return [each for each in scores if chosen(each[0])]


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
