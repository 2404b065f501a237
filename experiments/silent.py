"""Silent errors: findings and estimates of perturbed and of clean logs.

python experiments/silent.py -o reports/silent.md [--only delay] [--logs arm,fast-1] [--clean 400]
    [--several 500] [--cases 600]

A random sample of the cases is run, since a case takes some 10 s; `--cases 0` runs all. Rows are
stored in a folder with the name of the report; an interrupted run resumes from it.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from experiments.reports import numerics_line, study_parser, write_report
from experiments.silent_study.cases import STUDY, Case, all_cases, failed_cases, run_cases, score_of
from experiments.silent_study.clean import CleanScore
from experiments.silent_study.scoring import Score
from experiments.silent_study.subjects import makers
from experiments.silent_study.write import report
from identify.studies.progress import display_progress
from identify.studies.rows import Row
from identify.studies.runner import JobSet, choose_executor, run_work
from identify.studies.store import Store, StoreInfo

_DECIDING = ("only", "logs", "clean", "several", "seed", "cases")
"""Options that decide the measurement."""


def main(arguments: list[str] | None = None) -> int:
    """Run the missing cases of the study and write its report; returns the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    line = numerics_line("silent", parser, options, *_DECIDING)
    logs = options.logs.split(",") if options.logs else list(makers())
    if unknown := [name for name in logs if name not in makers()]:
        raise SystemExit(f"silent: there is no log {unknown[0]!r} among {', '.join(makers())}")
    every = list(all_cases(logs, options.only, options.clean, options.several, options.seed))
    shuffled = random.Random(0).sample(every, len(every))  # any part of it is a random sample
    cases = shuffled[: options.cases or None]
    folder = options.output.with_suffix("")
    try:
        rows = _run(cases, folder, options.workers)
    except KeyboardInterrupt:
        print(
            f"interrupted; results are kept in {folder}; run it again to resume",
            file=sys.stderr,
        )
        return 130
    results = [score_of(row) for row in rows if not row.get("error_type")]
    failed = [row for row in rows if row.get("error_type")]
    scores = [score for score in results if isinstance(score, Score)]
    clean = [score for score in results if isinstance(score, CleanScore)]
    line = f"Incomplete: {len(failed)} cases failed." if failed else line
    write_report(options.output, report(scores, clean, failed, options.seed, len(every)), line)
    return int(bool(failed))


def _run(cases: Sequence[Case], folder: Path, workers: int | None) -> list[Row]:
    """Return the rows of all cases; runs those that the folder lacks."""
    with Store(folder, StoreInfo(STUDY)) as store, display_progress() as progress:
        store.mark_current(case.key for case in cases)
        work = JobSet(
            items=lambda: iter(cases),
            is_missing=lambda case: not store.has_result(case.key, retry_failed=True),
            batches=lambda chunk: ((case,) for case in chunk),
            run=run_cases,
            failed_rows=failed_cases,
            unit_name="cases",
        )
        run_work(work, store, partial(choose_executor, workers), progress)
        return [store.row(case.key) or {} for case in cases]


def _parser() -> argparse.ArgumentParser:
    parser = study_parser("silent", __doc__)
    parser.add_argument("--only", default="", help="perturbations whose name contains this")
    parser.add_argument("--logs", default="", help="comma-separated names of logs; all by default")
    parser.add_argument("--clean", type=int, default=400, help="number of clean logs")
    parser.add_argument("--several", type=int, default=500, help="number of combined perturbations")
    parser.add_argument("--cases", type=int, default=600, help="size of the sample; 0 for all")
    parser.add_argument("--workers", type=int, help="processes; 0 runs in this one")
    parser.add_argument("--seed", type=int, default=102)
    return parser


if __name__ == "__main__":
    sys.exit(main())
