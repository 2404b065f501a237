"""Verdicts by quantity of simulated logs, compared with the true bodies.

python experiments/verdicts.py -o reports/verdicts.md [--bodies 20] [--only poses] [--rows FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import TypeAlias

import numpy as np

from experiments.reports import numerics_line, study_parser, write_report
from experiments.verdicts_study.cases import ACCURACIES, EXPORTED, Case, Score
from experiments.verdicts_study.logs import MOTIONS
from identify.findings import QUANTITIES
from identify.reporting.content import make_table, markdown_table

Scored: TypeAlias = tuple[Case, Score]

_UNITS = {"mass": (100.0, "%"), "com": (1e3, "mm"), "inertia": (100.0, "%")}

_METHOD_TEXT = """\
Logs of random boxes in twelve kinds of motion, each by two sensors whose errors of gain are drawn
from the `gain_accuracy` of their schema. *Wrong yes*: the estimate is off by more than the bound of
"yes" (mass 2 %, a coordinate of the centre of mass 4 mm, an entry of the inertia about it 20 % of
the largest principal moment). *Narrow no*: "no" although the 95 % half-width is within that bound.
*Unknown*: a number whose half-width is over 50 % of the mass, of the body's size, or of the
largest moment; the setting of a controller has to leave it out or to mark it."""

_COUNTS = ("logs", "yes", "care", "no", "wrong yes", "share of yes", "narrow no")


def main(arguments: list[str] | None = None) -> int:
    """Fit the logs of the study and write its report; returns the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    line = numerics_line("verdicts", parser, options, "bodies", "only", "seed")
    cases = [
        Case(body, motion, accuracy, options.seed)
        for body in range(options.bodies)
        for motion in MOTIONS
        for accuracy in ACCURACIES
        if options.only in motion
    ]
    if not cases:
        raise SystemExit(f"verdicts: no motion has {options.only!r} in its name")
    with ProcessPoolExecutor(options.workers) as pool:
        scores = list(pool.map(Case.score, cases))
    scored = list(zip(cases, scores, strict=True))
    if options.rows is not None:
        rows = (json.dumps({**asdict(case), **asdict(score)}) for case, score in scored)
        options.rows.write_text("\n".join(rows) + "\n", encoding="utf-8")
    write_report(options.output, report(scored, options.seed), line)
    return 0


def report(scored: Sequence[Scored], seed: int) -> str:
    """Return the report as Markdown."""
    seconds = np.nanmedian([score.seconds for _, score in scored])
    codes = (text.partition("(")[0] for _, score in scored for text in score.findings)
    severe = Counter(code for code in codes if not code.startswith("info"))
    case_heads = ("quantity", "case", "verdict", "findings", "error", "half-width")
    parts = (
        "# Verdicts by quantity",
        f"Written by `make study NAME=verdicts` (seed {seed}); nothing is entered by hand. "
        f"{len(scored)} logs; median time of a fit {seconds:.2g} s.",
        _METHOD_TEXT,
        markdown_table(make_table(("criterion", "target", "result"), _criteria(scored))),
        markdown_table(
            make_table(("quantity", "logs of", *_COUNTS), _rows(scored), word_columns=2)
        ),
        '## Wrong "yes" and narrow "no"',
        markdown_table(make_table(case_heads, _wrong_cases(scored), word_columns=4)),
        "Findings of all logs: "
        + ", ".join(f"{code} {n}" for code, n in severe.most_common())
        + ".",
    )
    return "\n\n".join(parts) + "\n"


def _criteria(scored: Sequence[Scored]) -> Iterator[list[str]]:
    verdicts = [(score, quantity) for _, score in scored for quantity in QUANTITIES]
    yes = sum(score.quantities[quantity] == "yes" for score, quantity in verdicts)
    wrong = sum(Score.is_wrong_yes(*verdict) for verdict in verdicts)
    yield [
        '"yes" that is wrong, all quantities',
        "≤ 1 %",
        f"{wrong} of {yes} ({_share(wrong, yes)})",
    ]
    narrow = sum(Score.is_narrow_no(*verdict) for verdict in verdicts)
    yield ['"no" with a narrow interval', "0", str(narrow)]
    usable = [score for _, score in scored if score.usable not in ("no", "raised")]
    for name in EXPORTED:
        numbers = [score.unmarked[name] for score in usable]
        text = f"{sum(numbers)} in {np.count_nonzero(numbers)} of {len(numbers)} settings"
        yield [f"unknown numbers for {name}, unmarked", "0", text]


def _rows(scored: Sequence[Scored]) -> Iterator[list[str]]:
    """Yield rows of all logs, of each sensor, and of each motion, for each quantity."""
    for quantity in QUANTITIES:
        for group in ("all", *ACCURACIES, *MOTIONS):
            scores = [s for case, s in scored if group in ("all", case.accuracy, case.motion)]
            verdicts = Counter(score.quantities[quantity] for score in scores)
            wrong = sum(score.is_wrong_yes(quantity) for score in scores)
            yield [
                quantity,
                group if isinstance(group, str) else f"{100.0 * group:g} % sensor",
                str(len(scores)),
                *(str(verdicts[word] or "") for word in ("yes", "with care", "no")),
                str(wrong or ""),
                _share(wrong, verdicts["yes"]),
                str(sum(score.is_narrow_no(quantity) for score in scores) or ""),
            ]


def _wrong_cases(scored: Sequence[Scored]) -> Iterator[list[str]]:
    for quantity, (factor, unit) in _UNITS.items():
        for case, score in scored:
            if score.is_wrong_yes(quantity) or score.is_narrow_no(quantity):
                name = f"body {case.body}, {case.motion}, {100.0 * case.accuracy:g} % sensor"
                numbers = (values[quantity] for values in (score.errors, score.half_widths))
                yield [
                    *(quantity, name, score.quantities[quantity], ", ".join(score.findings)),
                    *(f"{factor * number:.3g} {unit}" for number in numbers),
                ]


def _share(count: int, total: int) -> str:
    return f"{count / total:.1%}" if total else ""


def _parser() -> argparse.ArgumentParser:
    parser = study_parser("verdicts", __doc__)
    parser.add_argument("--bodies", type=int, default=20, help="24 logs of each")
    parser.add_argument("--only", default="", help="motions with this in their name")
    parser.add_argument("--rows", type=Path, help="JSON lines of all cases with their scores")
    parser.add_argument("--workers", type=int, help="processes; 1 runs in this one")
    parser.add_argument("--seed", type=int, default=6151)
    return parser


if __name__ == "__main__":
    sys.exit(main())
