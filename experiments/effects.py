"""Accuracy of small faults fitted with the body: coverage, width, verdicts and errors.

python experiments/effects.py -o reports/effects.md [--count 40] [--only delay] [--workers 1]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor

from experiments.effects_study.cases import Case, all_cases
from experiments.effects_study.write import Scored, report
from experiments.reports import numerics_line, study_parser, write_report


def main(arguments: list[str] | None = None) -> int:
    """Fit the logs of the study and write its report; returns the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    line = numerics_line("effects", parser, options, "count", "only", "seed")
    cases = list(all_cases(options.count, options.only, options.seed))
    if not cases:
        raise SystemExit(f"effects: no kind of case has {options.only!r} in its name")
    write_report(options.output, report(list(_run(cases, options.workers)), options.seed), line)
    return 0


def _run(cases: list[Case], workers: int | None) -> Iterable[Scored]:
    """Yield the cases with their scores, in order; prints the progress on the terminal."""
    with ProcessPoolExecutor(workers) as pool:
        scores = pool.map(Case.score, cases)
        for number, scored in enumerate(zip(cases, scores, strict=True), start=1):
            print(f"\r{number} of {len(cases)}", end="", file=sys.stderr, flush=True)
            yield scored
    print(file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = study_parser("effects", __doc__)
    parser.add_argument("--count", type=int, help="about how many cases; 400 of all kinds")
    parser.add_argument("--only", default="", help="kinds of cases with this in their name")
    parser.add_argument("--workers", type=int, help="processes; 1 runs in this one")
    parser.add_argument("--seed", type=int, default=977)
    return parser


if __name__ == "__main__":
    sys.exit(main())
