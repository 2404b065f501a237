"""Revisions of the project beside each other: their files, environments and single threads."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "frozen"


def commit_of(name: str) -> str:
    """Return the hash of a revision; end the program if there is none."""
    words = ["git", "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"]
    process = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if process.returncode:
        raise SystemExit(f"there is no revision {name!r}; name one, as in BASE=main")
    return process.stdout.strip()


@contextmanager
def source_tree(commit: str) -> Iterator[Path]:
    """Give a folder with the files of a commit, or the working tree."""
    if not commit:
        yield ROOT
        return
    BUILD.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUILD, prefix="tree-") as folder:
        archive = subprocess.check_output(["git", "archive", commit], cwd=ROOT)
        with tarfile.open(fileobj=BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        yield Path(folder)


def python_of(tree: Path) -> str:
    """Return the Python of a revision: this one, or that of an environment of its lock file."""
    lock, ours = ((folder / "requirements.lock").read_bytes() for folder in (tree, ROOT))
    if lock == ours:
        return sys.executable
    folder = BUILD / "environments" / hashlib.sha256(lock).hexdigest()[:16]
    words = [
        "make",
        "--silent",
        f"PYTHON={sys.executable}",
        f"VENV={folder}",
        f"{folder}/lock.stamp",
    ]
    subprocess.run(words, cwd=tree, check=True)
    return str(folder / "bin" / "python")


def environment_of(tree: Path) -> dict[str, str]:
    """Return the variables with which a revision runs: its files, on one thread."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**os.environ, **threads, "PYTHONPATH": str(tree), "COLUMNS": "100"}
