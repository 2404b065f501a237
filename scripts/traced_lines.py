"""Print how much code a fit passes, and how much of it is of one sensor alone.

    python scripts/traced_lines.py

First the functions that `read_log` and `fit` of the shipped log call, their lines and the depth of
their calls; then those that commands call for a wrench (fit, check) and for joints (fit-arm, fit of
a load), each with its report: in both, or in one alone. Each trace has a process of its own, since
what is cached is not called again. Methods that dataclasses generate do not count, nor do lambdas,
comprehensions, and code that runs at import. Files without a traced function are in no row.
"""

from __future__ import annotations

import ast
import io
import multiprocessing
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import TypeAlias

ROOT = Path(__file__).resolve().parents[1]
PAYLOAD, ARM = ROOT / "datasets" / "payload_arm", ROOT / "datasets" / "arms" / "six_axes"
Line: TypeAlias = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the product: its file and the lines of its definition, last exclusive."""

    file: str
    first: int
    stop: int
    docstring: tuple[int, int]

    def lines(self, docstrings: bool) -> set[Line]:
        """Return its lines, with or without its docstring."""
        left_out = range(0) if docstrings else range(*self.docstring)
        return {(self.file, k) for k in range(self.first, self.stop) if k not in left_out}


@cache
def functions(file: str) -> dict[tuple[int, str], Function]:
    """Return the functions of a file by first line, decorators included, and name."""
    result = {}
    for node in ast.walk(ast.parse(Path(file).read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef):
            first = min(each.lineno for each in (node, *node.decorator_list))
            text = node.body[0] if ast.get_docstring(node) is not None else None
            docstring = (text.lineno, (text.end_lineno or 0) + 1) if text else (0, 0)
            result[first, node.name] = Function(file, first, (node.end_lineno or 0) + 1, docstring)
    return result


@cache
def _function_of(code: CodeType) -> Function | None:
    file = code.co_filename
    if not file.startswith(f"{ROOT / 'identify'}/"):
        return None
    return functions(file).get((code.co_firstlineno, code.co_name))


def trace(run: Callable[[], object]) -> tuple[set[Function], int]:
    """Return the functions of the product that a call passes, and how deep their calls go."""
    called, depth, deepest = set[Function](), 0, 0

    def observe(frame: FrameType, event: str, argument: object) -> None:
        nonlocal depth, deepest
        if event in ("call", "return") and (function := _function_of(frame.f_code)):
            called.add(function)
            depth += 1 if event == "call" else -1
            deepest = max(deepest, depth)

    sys.setprofile(observe)
    try:
        run()
    finally:
        sys.setprofile(None)
    return called, deepest


def fit_shipped_log() -> tuple[set[Function], int]:
    """Trace `read_log` and `fit` of the shipped log."""
    import identify

    files = PAYLOAD / "payload_arm.parquet", PAYLOAD / "schema.toml"
    return trace(lambda: identify.fit(identify.read_log(*files)))


def run_commands(*commands: str) -> tuple[set[Function], int]:
    """Trace commands, in which OUT is a folder."""
    from identify.commands.main import main

    silence = redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO())
    with tempfile.TemporaryDirectory() as out, silence[0], silence[1]:
        lines = [command.replace("OUT", out).split() for command in commands]
        return trace(lambda: [main(words) for words in lines])


def main() -> None:
    """Print both tables, then the files of one sensor alone."""
    wrench = f"{PAYLOAD}/payload_arm.parquet --schema {PAYLOAD}/schema.toml"
    robot = f"{ARM}/empty.parquet --schema {ARM}/schema.toml --robot {ARM}/arm.urdf"
    load = f"fit {ARM}/loaded.parquet --frame tool0 -o OUT/load --unloaded {robot}"
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1) as pool:
        plain = pool.submit(fit_shipped_log)
        of_wrench = pool.submit(run_commands, f"fit {wrench} -o OUT", f"check {wrench}")
        of_joints = pool.submit(run_commands, f"fit-arm {robot} -o OUT/arm", load)
    called, depth = plain.result()
    (by_wrench, _), (by_joints, _) = of_wrench.result(), of_joints.result()
    header = ("functions", "files", "lines", "no docstring", "file lines")
    print(f"{'passed by':<16}" + "".join(f"{cell:>14}" for cell in header))
    for name, group in (
        ("read_log, fit", called),
        ("both sensors", by_wrench & by_joints),
        ("wrench alone", by_wrench - by_joints),
        ("joints alone", by_joints - by_wrench),
    ):
        _print_row(name, group, {function.file for function in group})
    print(f"read_log and fit call {depth} levels deep")
    files = [{function.file for function in group} for group in (by_wrench, by_joints)]
    for name, ours, others in (("wrench", *files), ("joints", *files[::-1])):
        alone = sorted(ours - others)
        _print_row(f"{name}' files", {f for f in by_wrench | by_joints if f.file in alone}, alone)
        print("  " + " ".join(str(Path(file).relative_to(ROOT / "identify")) for file in alone))


def _print_row(name: str, group: set[Function], files: set[str] | list[str]) -> None:
    lines = [len(set[Line]().union(*(f.lines(kept) for f in group))) for kept in (True, False)]
    whole = sum(len(Path(file).read_text("utf-8").splitlines()) for file in files)
    cells = (len(group), len(files), *lines, whole)
    print(f"{name:<16}" + "".join(f"{cell:>14}" for cell in cells))


if __name__ == "__main__":
    main()
