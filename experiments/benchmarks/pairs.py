"""Pairs of processes of two revisions: what people wait for.

    make bench BASE=REV [ARGS='--only check --pairs 5']

Both revisions run the same commands on the same files, in turn, each on one thread and with its
modules compiled before; BASE has an environment of its own where its lock file differs. The table
is printed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from string import Template

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from experiments.benchmarks.fit_command import write_log_of
from experiments.benchmarks.groups_and_logs import log_of
from experiments.benchmarks.long_logs import write_parquet
from experiments.benchmarks.measure import Spread
from experiments.benchmarks.processes import PEAK_MEMORY, with_bytecode
from experiments.benchmarks.run import machine
from experiments.revisions import ROOT, commit_of, environment_of, python_of, source_tree
from identify.logs.log_writing import write_log

WORKS = {
    "fit of the shipped log, with report": "fit $shipped/payload_arm.parquet "
    "--schema $shipped/schema.toml -o out --quiet",
    "check of 30 000 rows": "check $made/short.parquet --schema $made/short.toml",
    "check of 1 000 000 rows": "check $made/log.parquet --schema $made/part.toml",
    "fit of 1 000 000 rows, with report": "fit $made/log.parquet --schema $made/part.toml "
    "-o out --quiet",
    "fit of 16 logs of 10 s": "fit $sixteen --schema $made/log_0.toml -o out --quiet",
    "fit of 64 logs of 10 s": "fit $sixtyfour --schema $made/log_0.toml -o out --quiet",
    "load of an arm, with report": "fit $arms/six_axes/loaded.parquet "
    "--unloaded $arms/six_axes/empty.parquet --schema $arms/six_axes/schema.toml "
    "--robot $arms/six_axes/arm.urdf --frame tool0 -o out --quiet",
    "an arm itself, 900 000 rows": "fit-arm $made/joints.parquet "
    "--schema $arms/six_axes/schema.toml --robot $arms/six_axes/arm.urdf -o out --quiet",
    "motion of seven axes, one start": "design --robot $arms/seven_axes/arm.urdf --starts 1 "
    "-o motion.csv",
    "study of 40 quick trials, two workers": "study run $made/study.toml -o out --workers 2 "
    "--quiet",
}
"""Arguments of `identify` by what they do."""

_STUDY = """
name = "quick"
seed = 7
seeds = 5
metrics = ["mass_error", "relative_inertia_error", "consistent"]
estimators = ["wls", "psd"]
perturbations = [{ kind = "noise", force = [0.05, 0.2] }]

[[logs]]
kind = "synthetic"
number = 2
duration = 8.0
rate_hz = 200.0
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the works in pairs and print the table; returns 1 if one failed."""
    options = _parser().parse_args(arguments)
    works = {name: words for name, words in WORKS.items() if options.only in name}
    with tempfile.TemporaryDirectory() as folder, source_tree(commit_of(options.base)) as base:
        names = write_inputs(Path(folder), works.values())
        print("| work | time before / now | wall | now | memory before → now |")
        print("| --- | --- | --- | --- | --- |")
        lines = []
        for name, words in works.items():
            lines.append(_line(name, Template(words).substitute(names), base, options.pairs))
            print(lines[-1], flush=True)
    print(f"\nProcessor time, median (lowest … highest) of {options.pairs} pairs. {machine()}")
    return int(any("failed" in line for line in lines))


def _line(name: str, words: str, base: Path, pairs: int) -> str:
    """Run the pairs of one work after one that compiles, and return its line of the table."""
    taken: dict[Path, list[dict[str, float]]] = {base: [], ROOT: []}
    for pair in range(-1, pairs):
        for tree in (base, ROOT) if pair % 2 else (ROOT, base):
            run = _run(words, tree)
            if pair >= 0:  # the first compiles
                taken[tree].append(run)
    if failed := {run["exit"] for runs in taken.values() for run in runs} - {0, 4}:
        return f"| {name} | failed: exit status {failed} | | | |"
    processor, wall, peak = (
        np.array([[run[key] for run in taken[tree]] for tree in (base, ROOT)])
        for key in ("processor_seconds", "seconds", "peak_bytes")
    )
    ratios = (Spread.of(before / now).text("×") for before, now in (processor, wall))
    megabytes = " → ".join(f"{1e-6 * np.median(each):.0f} MB" for each in peak)
    return f"| {name} | {' | '.join(ratios)} | {np.median(processor[1]):.2f} s | {megabytes} |"


def _run(words: str, tree: Path) -> dict[str, float]:
    """Run a command of a revision in a folder of its own; return what it took."""
    command = [sys.executable, str(PEAK_MEMORY), python_of(tree), "-m", "identify", *words.split()]
    environment = with_bytecode(environment_of(tree))
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            command, cwd=folder, env=environment, check=True, capture_output=True, text=True
        )
    return json.loads(done.stdout.splitlines()[-1])


def write_inputs(folder: Path, works: Sequence[str]) -> dict[str, str]:
    """Write the files that the works name; return what their names stand for."""
    wanted, arms = " ".join(works), ROOT / "datasets" / "arms"
    write_log_of(folder / "short.parquet", 30_000, 500.0)
    for number in range(64 if "$six" in wanted else 0):
        write_log(log_of(number), folder / f"log_{number}.parquet")
    if "$made/log.parquet" in wanted:
        write_log_of(folder / "part.parquet", 500_000, 1000.0)
        write_parquet(folder, 1_000_000)
    if "$made/joints.parquet" in wanted:
        _repeat_rows(arms / "six_axes" / "empty.parquet", folder / "joints.parquet", 900_000)
    (folder / "study.toml").write_text(_STUDY, encoding="utf-8")
    logs = [str(folder / f"log_{number}.parquet") for number in range(64)]
    return {
        "made": str(folder),
        "shipped": str(ROOT / "datasets" / "payload_arm"),
        "arms": str(arms),
        "sixteen": " ".join(logs[:16]),
        "sixtyfour": " ".join(logs),
    }


def _repeat_rows(log: Path, longer: Path, count: int) -> None:
    """Write a log of joints that repeats another one, which ends as it begins, on one clock."""
    table = pq.read_table(log)
    rows = np.arange(count) % len(table)
    time = np.arange(count) * float(np.median(np.diff(table["t"].to_numpy())))
    repeated = table.take(pa.array(rows)).combine_chunks()
    pq.write_table(repeated.set_column(0, "t", pa.array(time)), longer)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("base", help="revision to compare with")
    parser.add_argument("--only", default="", help="works with this in their name")
    parser.add_argument("--pairs", type=int, default=3)
    return parser


if __name__ == "__main__":
    sys.exit(main())
