"""Run the steps of one case: `python run_case.py TREE MADE SHARED`, with PYTHONPATH=TREE.

The steps come as JSON on standard input, command lines in which `$made` and `$shared` are the
folders of the inputs; the result is written as JSON on standard output. All steps run in a new
folder `text`, then with `--json` in a folder `json`; those with `--json` of their own run there
alone. Files that they write are in the result. Removed is what may differ between two runs of the
same code: command lines, versions, times, folders, and digests of what contains them.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shlex
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

import identify
from identify.commands.main import main as run_command

TREE, MADE, SHARED = sys.argv[1:]
FOLDERS = {MADE: "$made", SHARED: "$shared", str(Path.cwd()): "$work", TREE: "$tree"}
VARIABLE_KEYS = ("digest", "versions", "build_time", "solve_time")
"""Keys of documents that are left out; inside a provenance `command` is, too."""

VARIABLE_TEXT = (
    (r'<section id="provenance".*?</section>', "PROVENANCE"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "TIME"),
    (r'(-sha256" content="|json with the sha256 )[0-9a-f]+', r"\1DIGEST"),
)


def main() -> None:
    """Run all steps in both ways, then collect the files they wrote."""
    lines: list[str] = json.load(sys.stdin)
    scratch, steps = Path.cwd(), dict[str, Any]()
    for way in ("text", "json"):
        Path(scratch, way).mkdir()
        os.chdir(scratch / way)
        for line in lines:
            words = shlex.split(Template(line).substitute(made=MADE, shared=SHARED))
            is_function, asks_json = words[0] in FUNCTIONS, "--json" in words
            if way == "json" and not is_function:
                steps[f"{way}: {line}"] = run_step(words if asks_json else [*words, "--json"])
            elif way == "text" and not asks_json:
                steps[f"{way}: {line}"] = run_step(words)
    files = [path for path in sorted(scratch.rglob("*")) if path.is_file()]
    names = {str(path.relative_to(scratch)): path for path in files if path.suffix != ".npz"}
    contents = {name: content(path) for name, path in names.items()}
    json.dump({"steps": steps, "files": contents}, sys.stdout)


def run_step(words: list[str]) -> dict[str, Any]:
    """Run a command, or a function of the Python interface; an exception is part of the result."""
    result: dict[str, Any] = {}
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            if words[0] in FUNCTIONS:
                print(json.dumps(FUNCTIONS[words[0]](words[1])))
            else:
                result["status"] = run_command(words)
        except SystemExit as error:
            result["status"] = error.code
        except Exception as error:  # noqa: BLE001 - whatever is raised is compared
            result["raised"] = f"{type(error).__name__}: {error}"
    return result | {"stdout": readable(out.getvalue()), "stderr": readable(err.getvalue())}


def content(path: Path) -> Any:
    """Return a file as a document, columns or text; of any other its digest."""
    if path.suffix == ".parquet":
        import pandas as pd

        return {name: np.asarray(c).tolist() for name, c in pd.read_parquet(path).items()}
    try:
        return readable(path.read_text("utf-8"))
    except UnicodeDecodeError:
        return hashlib.sha256(path.read_bytes()).hexdigest()


def readable(text: str) -> Any:
    """Return the document of a JSON text, or the text, without what may differ between runs."""
    for folder, name in FOLDERS.items():
        text = text.replace(folder, name) if folder else text
    for pattern, name in VARIABLE_TEXT:
        text = re.sub(pattern, name, text, flags=re.DOTALL)
    try:
        return without_provenance(json.loads(text))
    except ValueError:
        return text


def without_provenance(value: Any, key: str = "") -> Any:
    """Return a document without command lines, versions, times and digests."""
    if isinstance(value, dict):
        left_out = (*VARIABLE_KEYS, "command") if key == "provenance" else VARIABLE_KEYS
        return {k: without_provenance(v, k) for k, v in value.items() if k not in left_out}
    if isinstance(value, list):
        return [without_provenance(each) for each in value]
    return value


def solve(path: str) -> dict[str, Any]:
    """Fit rows A x = b, with one noise and with one for each group of rows."""
    with np.load(path) as rows:
        groups = np.tile(["force"] * 3 + ["torque"] * 3, len(rows["b"]) // 6)
        plain = identify.solve(rows["A"], rows["b"])
        grouped = identify.solve(rows["A"], rows["b"], groups=groups)
    return {"plain": plain.to_dict(), "grouped": grouped.to_dict()}


SAMPLES = {
    "pose": {"position": "position", "quaternion": "quaternion"},
    "wrench": {"force": "force", "torque": "torque", "frame": "body", "acts_on": "body"},
}
"""Schema of the samples of `online`."""


def online(path: str) -> dict[str, Any]:
    """Fit the samples of a log as they arrive, before its end and after it."""
    fit = identify.OnlineFit(schema=SAMPLES)
    with np.load(path) as log:
        signals = {name: log[name] for name in log.files if name != "t"}
        for row, time in enumerate(log["t"].tolist()):
            fit.update(time, **{name: values[row] for name, values in signals.items()})
    before = fit.estimate().to_dict()
    fit.finish()
    return {"before the end": before, "after it": fit.estimate().to_dict()}


FUNCTIONS = {"solve": solve, "online": online}
"""Steps without a command."""

if __name__ == "__main__":
    main()
