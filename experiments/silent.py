"""Whether anything is silently wrong: logs made wrong in known ways, and clean ones, checked.

python experiments/silent.py -o reports/silent.md [--only delay] [--logs arm,fast-1] [--clean 400]
    [--several 500]

Rows are kept in a folder beside the report, of its name: what was interrupted goes on there.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from experiments.reports import numerics_line, write_report
from experiments.silent_study.cases import STUDY, Case, all_cases, failed_cases, run_cases, score_of
from experiments.silent_study.clean import CleanScore
from experiments.silent_study.scoring import Score
from experiments.silent_study.subjects import makers
from experiments.silent_study.write import report
from identify.studies.progress import display_progress
from identify.studies.rows import Row
from identify.studies.runner import JobSet, choose_executor, run_work
from identify.studies.store import Store, StoreInfo


def main(arguments: list[str] | None = None) -> int:
    """Run what is missing of the study and write its report; returns the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    line = numerics_line("silent", parser, options, "only", "logs", "clean", "several", "seed")
    logs = options.logs.split(",") if options.logs else list(makers())
    if unknown := [name for name in logs if name not in makers()]:
        raise SystemExit(f"silent: there is no log {unknown[0]!r}; there are {', '.join(makers())}")
    cases = list(all_cases(logs, options.only, options.clean, options.several, options.seed))
    folder = options.output.with_suffix("")
    try:
        rows = _run(cases, folder, options.workers)
    except KeyboardInterrupt:
        print(f"interrupted; {folder} keeps what was done: run it again", file=sys.stderr)
        return 130
    found = [score_of(row) for row in rows if not row.get("error_type")]
    failed = [row for row in rows if row.get("error_type")]
    scores = [score for score in found if isinstance(score, Score)]
    clean = [score for score in found if isinstance(score, CleanScore)]
    line = f"Not the whole study: {len(failed)} cases failed." if failed else line
    write_report(options.output, report(scores, clean, failed, options.seed), line)
    return int(bool(failed))


def _run(cases: Sequence[Case], folder: Path, workers: int | None) -> list[Row]:
    """The rows of the cases, those that the folder lacks made now."""
    shuffled = random.Random(0).sample(cases, len(cases))  # so that the time left is foretold well
    with Store(folder, StoreInfo(STUDY)) as store, display_progress() as progress:
        store.mark_current(case.key for case in cases)
        work = JobSet(
            items=lambda: iter(shuffled),
            is_missing=lambda case: not store.has(case.key, retry_failed=True),
            batches=lambda some: ((case,) for case in some),
            run=run_cases,
            failed_rows=failed_cases,
            unit_name="cases",
        )
        run_work(work, store, partial(choose_executor, workers), progress)
        return [store.row(case.key) or {} for case in cases]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="silent", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("reports/silent.md"))
    parser.add_argument("--only", default="", help="what is done to logs has this in its name")
    parser.add_argument("--logs", default="", help="names of logs, with commas; all by default")
    parser.add_argument("--clean", type=int, default=400, help="how many clean logs")
    parser.add_argument("--several", type=int, default=500, help="how many of several at once")
    parser.add_argument("--workers", type=int, help="processes; 0 runs in this one")
    parser.add_argument("--seed", type=int, default=102)
    return parser


if __name__ == "__main__":
    sys.exit(main())
