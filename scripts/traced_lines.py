"""Print how much code a fit passes, and how much of it is of one sensor alone.

    python scripts/traced_lines.py

First the functions that `read_log` and `fit` of the shipped log call, and the depth of their calls;
then those that commands call for a wrench (fit, check) and for joints (fit-arm, fit of a load),
each with its report: in both, or in one alone. Each trace has a process of its own, since what is
cached is not called again. A function is a `def`; lambdas, comprehensions and lazy imports only
count as levels of the depth. The last column has all lines of the files.
"""

from __future__ import annotations

import ast
import io
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PAYLOAD, ARM = ROOT / "datasets" / "payload_arm", ROOT / "datasets" / "arms" / "six_axes"
PRODUCT = f"{ROOT / 'identify'}/"


class Function(NamedTuple):
    """A function of the product: its file, the lines of its definition and of its docstring."""

    file: str
    lines: range
    docstring: range


@cache
def functions(file: str) -> dict[tuple[int, str], Function]:
    """Return the functions of a file by first line, decorators included, and name."""
    result: dict[tuple[int, str], Function] = {}
    for node in ast.walk(ast.parse(Path(file).read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef):
            first = min(each.lineno for each in (node, *node.decorator_list))
            text = node.body[0] if ast.get_docstring(node) is not None else None
            docstring = range(text.lineno, (text.end_lineno or 0) + 1) if text else range(0)
            lines = range(first, (node.end_lineno or 0) + 1)
            result[first, node.name] = Function(file, lines, docstring)
    return result


def trace(run: Callable[[], object]) -> tuple[set[Function], int]:
    """Return the functions of the product that a call passes, and how deep their calls go."""
    codes, depth, deepest = set[CodeType](), 0, 0

    def observe(frame: FrameType, event: str, argument: object) -> None:
        nonlocal depth, deepest
        file = frame.f_code.co_filename
        if event in ("call", "return") and file.startswith(PRODUCT) and file.endswith(".py"):
            depth += 1 if event == "call" else -1
            deepest = max(deepest, depth)
            codes.add(frame.f_code)

    sys.setprofile(observe)
    try:
        run()
    finally:
        sys.setprofile(None)
    keys = {(code.co_filename, (code.co_firstlineno, code.co_name)) for code in codes}
    return {functions(file)[key] for file, key in keys if key in functions(file)}, deepest


def trace_fit() -> tuple[set[Function], int]:
    """Trace `read_log` and `fit` of the shipped log."""
    import identify

    files = PAYLOAD / "payload_arm.parquet", PAYLOAD / "schema.toml"
    return trace(lambda: identify.fit(identify.read_log(*files)))


def trace_commands(*commands: str) -> tuple[set[Function], int]:
    """Trace commands, in which OUT is a folder."""
    from identify.commands.main import main

    silence = redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO())
    with tempfile.TemporaryDirectory() as out, silence[0], silence[1]:
        lines = [command.replace("OUT", out).split() for command in commands]
        return trace(lambda: [main(words) for words in lines])


def main() -> None:
    """Print one table, and the files of one sensor alone."""
    wrench = f"{PAYLOAD}/payload_arm.parquet --schema {PAYLOAD}/schema.toml"
    robot = f"{ARM}/empty.parquet --schema {ARM}/schema.toml --robot {ARM}/arm.urdf"
    load = f"fit {ARM}/loaded.parquet --frame tool0 -o OUT/load --unloaded {robot}"
    with ProcessPoolExecutor(1, max_tasks_per_child=1) as pool:
        plain = pool.submit(trace_fit)
        of_wrench = pool.submit(trace_commands, f"fit {wrench} -o OUT", f"check {wrench}")
        of_joints = pool.submit(trace_commands, f"fit-arm {robot} -o OUT/arm", load)
    called, depth = plain.result()
    groups = {"wrench": of_wrench.result()[0], "joints": of_joints.result()[0]}
    header = ("functions", "lines", "no docstring", "files", "their lines")
    print(f"{'called by':<22}" + "".join(f"{cell:>13}" for cell in header))
    _print_row("read_log and fit", called)
    _print_row("wrench and joints", groups["wrench"] & groups["joints"])
    alone: dict[str, set[str]] = {}
    for name, other in (("wrench", "joints"), ("joints", "wrench")):
        files = [{function.file for function in groups[key]} for key in (name, other)]
        alone[name] = files[0] - files[1]
        _print_row(f"{name} alone", groups[name] - groups[other])
        _print_row("  in files of its own", {f for f in groups[name] if f.file in alone[name]})
    print(f"read_log and fit: {depth} levels of calls")
    for name, paths in alone.items():
        print(f"files of {name} alone: {' '.join(sorted(p.removeprefix(PRODUCT) for p in paths))}")


def _print_row(name: str, group: set[Function]) -> None:
    lines = {(function.file, line) for function in group for line in function.lines}
    text = {(function.file, line) for function in group for line in function.docstring}
    files = {function.file for function in group}
    whole = sum(len(Path(file).read_text("utf-8").splitlines()) for file in files)
    cells = (len(group), len(lines), len(lines - text), len(files), whole)
    print(f"{name:<22}" + "".join(f"{cell:>13}" for cell in cells))


if __name__ == "__main__":
    main()
