"""Compare two revisions bit for bit, for a refactoring that must not change any number.

    make frozen BASE=REV [ARGS='--cases stars,ur10e --jobs 2 --working-tree']

Each case of `cases.py` runs with the code of BASE and of the last commit, or of the working tree as
it is. Compared are exit status, printed text, the documents of `--json`, and all files written (of
result.npz the report that `identify report` makes of it). What differs is printed; then the exit
status is 1.

Revisions are copies of their files, found by PYTHONPATH. Those with the lock file of the working
tree share the environment of this process, which is much cheaper than one each; the Makefile of
another revision makes its own. `build/frozen/` keeps the inputs, which the first BASE wrote, these
environments, and the results of commits, by the steps and inputs of a case.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from itertools import chain
from pathlib import Path
from string import Template
from typing import Any

from experiments.frozen.cases import CASES
from experiments.frozen.compare import differences
from experiments.revisions import BUILD, commit_of, environment_of, python_of, source_tree
from identify.files import write_text

RUNNER, WRITER = (Path(__file__).with_name(name) for name in ("run_case.py", "inputs.py"))
SHARED = os.environ.get("IDENTIFY_SHARED_DATA", "")
SHOWN = 20
"""Differences of a case that are printed; `differences.txt` has all."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the missing cases of both revisions and print what differs; returns the exit status."""
    options = _parser().parse_args(arguments)
    BUILD.mkdir(parents=True, exist_ok=True)
    cases = [name for name in CASES if any(text in name for text in options.cases.split(","))]
    if not SHARED:
        lacking = [name for name in cases if "$shared" in " ".join(CASES[name])]
        cases = [name for name in cases if name not in lacking]
        print(f"IDENTIFY_SHARED_DATA is not set; skipped: {', '.join(lacking)}")
    commits = commit_of(options.base), "" if options.working_tree else commit_of("HEAD")
    made = write_inputs(commits[0])
    before, after = (results(commit, cases, made, options.jobs) for commit in commits)
    texts = {name: [*map(str, differences(before[name], after[name], (name,)))] for name in cases}
    for name, lines in texts.items():
        hidden = [f"{name}: {len(lines) - SHOWN} more"] * (len(lines) > SHOWN)
        for line in (*lines[:SHOWN], *hidden):
            print(line)
    write_text(BUILD / "differences.txt", "\n".join(chain.from_iterable(texts.values())))
    count = sum(map(bool, texts.values()))
    print(
        f"{options.base} and {commits[1] or 'working tree'}: {count} of {len(cases)} cases differ"
    )
    return int(bool(count))


def results(commit: str, cases: Sequence[str], made: Path, jobs: int) -> dict[str, Any]:
    """Return the result of each case; runs those that are not kept, of the working tree all."""
    began = os.times()
    kept = {name: BUILD / commit / f"{case_key(name, made)}.json" for name in cases}
    missing = [name for name in cases if not commit or not kept[name].is_file()]
    texts = {name: kept[name].read_text("utf-8") for name in cases if name not in missing}
    if missing:
        with source_tree(commit) as tree, ThreadPoolExecutor(jobs) as pool:
            run = partial(run_case, made=made, tree=tree, python=python_of(tree))
            for name, text in zip(missing, pool.map(run, missing), strict=True):
                texts[name] = text
                if commit:
                    write_text(kept[name], text)
    ended = os.times()
    seconds = ended.elapsed - began.elapsed, ended.children_user - began.children_user
    times = f"{seconds[0]:.0f} s, {seconds[1]:.0f} s of the processor"
    print(f"{commit or 'working tree'}: {len(missing)} cases in {times}; others kept")
    return {name: json.loads(texts[name]) for name in cases}


def run_case(name: str, *, made: Path, tree: Path, python: str) -> str:
    """Run a case in a process and a folder of its own, and return its result as JSON."""
    began = time.perf_counter()
    words = [python, str(RUNNER), str(tree), str(made), SHARED]
    with tempfile.TemporaryDirectory(dir=BUILD, prefix="case-") as folder:
        process = subprocess.run(
            words, input=json.dumps(CASES[name]), cwd=folder, env=environment_of(tree),
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    print(f"  {name}: {time.perf_counter() - began:.1f} s", flush=True)
    failure = {"status": process.returncode, "stderr": process.stderr}
    return json.dumps(failure) if process.returncode else process.stdout


def case_key(name: str, made: Path) -> str:
    """Digest of the steps of a case, of what runs them, and of the files they name."""
    words = (word for step in CASES[name] for word in step.split() if word.startswith("$"))
    paths = {Path(Template(word).substitute(made=made, shared=SHARED)) for word in words}
    digests = [_digest(path) for path in (*sorted(paths), RUNNER)]
    return hashlib.sha256(json.dumps([CASES[name], digests]).encode()).hexdigest()[:16]


def write_inputs(base: str) -> Path:
    """Return the folder of the inputs; the base revision writes it, if it is not there."""
    folder = BUILD / "inputs" / _digest(WRITER)[:16]
    if not folder.is_dir():
        with source_tree(base) as tree, tempfile.TemporaryDirectory(dir=BUILD) as scratch:
            words = [python_of(tree), str(WRITER), f"{scratch}/inputs"]
            subprocess.run(words, env=environment_of(tree), check=True)
            folder.parent.mkdir(exist_ok=True)
            Path(scratch, "inputs").rename(folder)
    return folder


@cache
def _digest(path: Path) -> str:
    """Digest of a file, or of all files of a folder."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    digests = [hashlib.sha256(each.read_bytes()).digest() for each in files if each.is_file()]
    return hashlib.sha256(b"".join(digests)).hexdigest()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="frozen", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("base", help="revision to compare with")
    parser.add_argument("--cases", default="", help="parts of names, with commas; all by default")
    parser.add_argument("--jobs", type=int, default=2, help="number of processes")
    parser.add_argument("--working-tree", action="store_true", help="take the files as they are")
    return parser


if __name__ == "__main__":
    sys.exit(main())
