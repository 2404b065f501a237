"""Noisy fits of the STARS workshop tools: every tool, level of noise, seed and estimator.

    python experiments/stars.py -o reports/stars.md [--seeds 10] [--workers 2]

The logs are not part of the project: IDENTIFY_SHARED_DATA (or IDENTIFY_DATA) names their folder.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from experiments.stars_study.run import run
from experiments.stars_study.tools import data_folder, load_tool, published_scores, tool_names
from experiments.stars_study.write import Study, report
from identify.errors import DatasetError
from identify.exchange.atomic_write import write_text


def main(arguments: list[str] | None = None) -> int:
    """Run the study and write its report; returns the exit status."""
    options = _parser().parse_args(arguments)
    try:
        folder = data_folder()
    except DatasetError as error:
        print(f"stars: {error}", file=sys.stderr)
        return error.exit_code
    started = time.perf_counter()
    outcomes = []
    for part in run(folder, seeds=options.seeds, workers=options.workers):
        outcomes += part
        failed = sum(bool(outcome.error) for outcome in part)
        print(f"{part[0].tool}: {len(part)} fits, {failed} without an estimate", file=sys.stderr)
    study = Study(
        outcomes=outcomes,
        published=published_scores(folder),
        bodies={name: load_tool(folder, name).phi for name in tool_names(folder)},
        seconds=time.perf_counter() - started,
        workers=options.workers,
    )
    options.output.parent.mkdir(parents=True, exist_ok=True)
    text = report(study)
    write_text(options.output, text)
    print(text.split("## By tool")[0])
    print(options.output)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="stars", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("reports/stars.md"))
    parser.add_argument("--seeds", type=_positive, default=10, help="noises a tool and level")
    parser.add_argument(
        "--workers", type=_positive, default=min(2, os.cpu_count() or 1), help="processes"
    )
    return parser


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of 1 or more, got {text}")
    return value


if __name__ == "__main__":
    sys.exit(main())
