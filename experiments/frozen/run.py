"""Compare two revisions bit for bit, for a refactoring that must not change any number.

    make frozen BASE=REV [ARGS='--cases stars,ur10e --jobs 2 --working-tree']

All cases of `cases.py` run under both revisions on this machine: commands as a user types them, and
functions of the Python interface. Compared exactly are exit status, printed text, documents of
`--json` and all files that the commands write (of result.npz only the report that `identify report`
makes of it). Differences are printed, and the exit status is 1 if there are any.

Revisions run from copies of their committed files, by PYTHONPATH. Where both have the lock file of
the working tree they share the environment of this process, which is the cheapest; a revision with
another lock file gets an environment of its own, by its own Makefile. `build/frozen/` keeps the
inputs, which the first base revision wrote, these environments, and the results of each commit, by
steps and inputs of a case. Results of the working tree are never kept.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from io import BytesIO
from itertools import chain
from pathlib import Path
from string import Template
from typing import Any

from experiments.frozen.cases import CASES
from experiments.frozen.compare import differences
from identify.files import write_text

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "frozen"
RUNNER, WRITER = (Path(__file__).with_name(name) for name in ("run_case.py", "inputs.py"))
LOCK = "requirements.lock"
TIMEOUT = 900.0
"""Longest time of a case [s]."""

SHOWN = 20
"""Differences of a case that are printed; `differences.txt` has all."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A commit, or the working tree as it is.

    Attributes:
        commit: its hash; empty for the working tree.
    """

    commit: str

    @property
    def name(self) -> str:
        """Short name of the revision."""
        return self.commit[:10] or "working tree"

    @contextmanager
    def tree(self) -> Iterator[Path]:
        """Give a folder with the files of the revision."""
        if not self.commit:
            yield ROOT
            return
        with tempfile.TemporaryDirectory(dir=BUILD, prefix="tree-") as folder:
            archive = subprocess.run(
                ["git", "archive", self.commit], cwd=ROOT, capture_output=True, check=True
            )
            with tarfile.open(fileobj=BytesIO(archive.stdout)) as files:
                files.extractall(folder, filter="data")
            yield Path(folder)


@dataclass(frozen=True, slots=True)
class Inputs:
    """Folders of the logs: those that `inputs.py` made, and those of others, if at hand."""

    made: Path
    shared: str

    def lack(self, case: str) -> bool:
        """Whether a case needs logs of others that are not at hand."""
        return not self.shared and any("$shared" in step for step in CASES[case])

    def key(self, case: str) -> str:
        """Digest of the steps of a case, of what runs them, and of the files they name."""
        folders = {"made": str(self.made), "shared": self.shared}
        words = (word for step in CASES[case] for word in step.split() if word.startswith("$"))
        paths = {Path(Template(word).substitute(folders)) for word in words}
        digests = [_digest(path) for path in (*sorted(paths), RUNNER)]
        return hashlib.sha256(json.dumps([CASES[case], digests]).encode()).hexdigest()[:16]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the missing cases of both revisions and print what differs; returns the exit status."""
    options = _parser().parse_args(arguments)
    BUILD.mkdir(parents=True, exist_ok=True)
    base = Revision(_commit(options.base))
    present = Revision("" if options.working_tree else _commit("HEAD"))
    inputs = Inputs(write_inputs(base), os.environ.get("IDENTIFY_SHARED_DATA", ""))
    chosen = [name for name in CASES if any(text in name for text in options.cases.split(","))]
    cases = [name for name in chosen if not inputs.lack(name)]
    if skipped := [name for name in chosen if name not in cases]:
        print(f"IDENTIFY_SHARED_DATA is not set; skipped: {', '.join(skipped)}")
    before, after = (results(each, cases, inputs, options.jobs) for each in (base, present))
    texts = {
        name: [str(each) for each in differences(before[name], after[name], (name,))]
        for name in cases
    }
    for name in cases:
        for text in texts[name][:SHOWN]:
            print(text)
        if len(texts[name]) > SHOWN:
            print(f"{name}: {len(texts[name]) - SHOWN} more")
    write_text(BUILD / "differences.txt", "\n".join(chain.from_iterable(texts.values())))
    count = sum(map(bool, texts.values()))
    print(f"{base.name} and {present.name}: {count} of {len(cases)} cases differ")
    return int(bool(count))


def write_inputs(base: Revision) -> Path:
    """Return the folder of the inputs; the base revision writes it, if it is not there."""
    folder = BUILD / "inputs" / _digest(WRITER)[:16]
    if not folder.is_dir():
        with base.tree() as tree, tempfile.TemporaryDirectory(dir=BUILD) as scratch:
            words = [_python(tree), str(WRITER), f"{scratch}/inputs"]
            subprocess.run(words, env=_environment(tree), check=True)
            folder.parent.mkdir(exist_ok=True)
            (Path(scratch) / "inputs").rename(folder)
    return folder


def results(
    revision: Revision, cases: Sequence[str], inputs: Inputs, processes: int
) -> Mapping[str, Any]:
    """Return the result of each case; runs those that are not kept."""
    texts: dict[str, str] = {}
    kept = {name: BUILD / revision.commit / f"{inputs.key(name)}.json" for name in cases}
    if revision.commit:
        texts = {name: path.read_text("utf-8") for name, path in kept.items() if path.is_file()}
    missing = [name for name in cases if name not in texts]
    if missing:
        began = time.perf_counter()
        with revision.tree() as tree, ThreadPoolExecutor(processes) as pool:
            run = partial(run_case, inputs=inputs, tree=tree, python=_python(tree))
            for name, text in zip(missing, pool.map(run, missing), strict=True):
                texts[name] = text
                if revision.commit:
                    write_text(kept[name], text)
        print(f"{revision.name}: {len(missing)} cases in {time.perf_counter() - began:.0f} s")
    return {name: json.loads(text) for name, text in texts.items()}


def run_case(name: str, *, inputs: Inputs, tree: Path, python: str) -> str:
    """Run a case in a process of its own, and return its result as JSON."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=BUILD, prefix="case-") as folder:
        process = subprocess.run(
            [python, str(RUNNER), str(tree), str(inputs.made), inputs.shared],
            input=json.dumps(CASES[name]),
            cwd=folder,
            env=_environment(tree),
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
    print(f"  {name}: {time.perf_counter() - began:.1f} s", flush=True)
    if process.returncode:
        return json.dumps({"crashed": process.returncode, "stderr": process.stderr})
    return process.stdout


def _python(tree: Path) -> str:
    """Return the Python for a revision: this one, or that of an environment of its lock file."""
    lock = (tree / LOCK).read_bytes()
    if lock == (ROOT / LOCK).read_bytes():
        return sys.executable
    folder = BUILD / "environments" / hashlib.sha256(lock).hexdigest()[:16]
    words = ["make", "-C", str(tree), f"VENV={folder}", f"{folder}/lock.stamp"]
    subprocess.run(words, check=True)
    return str(folder / "bin" / "python")


def _environment(tree: Path) -> dict[str, str]:
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**os.environ, **threads, "PYTHONPATH": str(tree), "COLUMNS": "100"}


@cache
def _digest(path: Path) -> str:
    """Return the digest of a file, or of all files of a folder."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    contents = (each.read_bytes() for each in files if each.is_file())
    return hashlib.sha256(b"".join(hashlib.sha256(c).digest() for c in contents)).hexdigest()


def _commit(name: str) -> str:
    words = ["git", "rev-parse", "--verify", f"{name}^{{commit}}"]
    process = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if process.returncode:
        raise SystemExit(f"frozen: there is no revision {name!r}: name one, as BASE=main")
    return process.stdout.strip()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="frozen", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("base", help="revision to compare with")
    parser.add_argument(
        "--cases", default="", help="comma-separated parts of names; all by default"
    )
    parser.add_argument("--jobs", type=int, default=2, help="number of processes")
    parser.add_argument("--working-tree", action="store_true", help="take the files as they are")
    return parser


if __name__ == "__main__":
    sys.exit(main())
