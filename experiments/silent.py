"""Whether anything is silently wrong: logs made wrong in known ways, and clean ones, checked.

python experiments/silent.py -o reports/silent.md [--only delay] [--logs arm,fast-1] [--clean 300]
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from experiments.silent_study.clean import CleanScore, clean_scored
from experiments.silent_study.faults import faults
from experiments.silent_study.scoring import Score, scored
from experiments.silent_study.subjects import makers
from experiments.silent_study.write import report
from identify.files import write_text

Case = tuple[str, str | int, int]
"""Name of the log, what is done to it, and the seed; the number of a clean log without a name."""


def main(arguments: list[str] | None = None) -> int:
    """Run the study and write its report; returns the exit status."""
    options = _parser().parse_args(arguments)
    found: list[Score | CleanScore] = []
    cases, end = list(_cases(options)), time.monotonic() + 60.0 * options.minutes
    random.Random(options.seed).shuffle(cases)  # so that a part of them is like the whole
    for score in _run(cases, options.processes):
        found.append(score)
        print(_line(score), flush=True)
        if time.monotonic() > end:
            break
    order = {name: place for place, name in enumerate(each.name for each in faults())}
    logs = list(makers())
    scores = [s for s in found if isinstance(s, Score)]
    scores.sort(key=lambda s: (order[s.fault], logs.index(s.log)))
    clean = [s for s in found if isinstance(s, CleanScore)]
    text = report(scores, clean, options.seed, len(cases))
    options.output.parent.mkdir(parents=True, exist_ok=True)
    write_text(options.output, text)
    print(text)
    return 0


def _cases(options: argparse.Namespace) -> Iterator[Case]:
    """Those asked for."""
    known = makers()
    for name in options.logs.split(",") if options.logs else known:
        if name not in known:
            raise SystemExit(f"silent: there is no log {name!r}; there are {', '.join(known)}")
        for fault in faults():
            if options.only in fault.name:
                yield name, fault.name, options.seed
    yield from (("", number, options.seed) for number in range(options.clean))


def _run(cases: Sequence[Case], processes: int) -> Iterator[Score | CleanScore]:
    if processes == 1 or len(cases) < 2:
        yield from map(_score, cases)
        return
    with get_context("spawn").Pool(processes) as pool:
        yield from pool.imap_unordered(_score, cases)


def _score(case: Case) -> Score | CleanScore:
    log, done, seed = case
    return clean_scored(done, seed) if isinstance(done, int) else scored(log, done, seed)


def _line(score: Score | CleanScore) -> str:
    if isinstance(score, CleanScore):
        said = ", ".join((*score.alarms, *score.shown)) or "nothing"
        return f"{score.name}: {said}; off by {score.off:.2g}"
    asked = score.kind == "observable"
    marks = {"silently wrong": score.silent and asked, "misled": score.misled and asked}
    after = f"; {score.obeyed}: {score.after_usable}, off by {score.after_off:.2g}"
    after += f", inertia {score.inertia_ratio:.2g}"
    return (
        f"{score.log}: {score.fault}: gain {score.gain:.3g}, "
        f"{'right' if score.right else 'WRONG' if score.tellable and asked else '-'}: "
        f"{', '.join(score.said) or 'nothing'}; {score.usable}, off by {score.off:.2g}"
        f"{after if score.obeyed else ''}"
        + "".join(f" {mark.upper()}" for mark, true in marks.items() if true)
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="silent", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("reports/silent.md"))
    parser.add_argument("--only", default="", help="what is done to logs has this in its name")
    parser.add_argument("--logs", default="", help="names of logs, with commas; all by default")
    parser.add_argument("--clean", type=int, default=300, help="how many clean logs")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=np.inf, help="after which no more is run")
    parser.add_argument("--seed", type=int, default=1)
    return parser


if __name__ == "__main__":
    sys.exit(main())
