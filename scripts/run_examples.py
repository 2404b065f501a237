"""Run the examples of Markdown files: what the documentation shows is what works.

The ```python blocks of a file run in order and share their names, in a scratch folder in which the
project's files are seen under their usual relative paths; what an example writes stays there. The
```toml blocks with a [wrench] table are whole schemas of logs, and must be valid ones; one with the
name of a file behind `toml` is written there. The commands of ```console blocks with `run` behind
it are run, `identify` and `python` being those of this environment, and must end with status 0.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import tomllib
import traceback
from pathlib import Path

from identify.logs.schema import load_schema

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(
    r"^(`{3,})(python|toml|console run)[ \t]*([^\n`]*)\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL
)
PROGRAMS = {"identify": [sys.executable, "-m", "identify"], "python": [sys.executable]}


def run_block(fence: re.Match[str], line: int, path: Path, names: dict[str, object]) -> None:
    """Run one block; lines in a traceback are those of the Markdown file."""
    _, language, file, block = fence.groups()
    if language == "python":
        exec(compile("\n" * (line - 1) + block, str(path), "exec"), names)
    elif language == "console run":
        run_commands(block)
    elif "[wrench]" in block:
        load_schema(tomllib.loads(block))
        if file:
            Path(file).write_text(block, encoding="utf-8")


def run_commands(block: str) -> None:
    """Run the commands of a block, one a line."""
    for command in block.splitlines():
        program, *words = shlex.split(command, comments=True) or ("",)
        if program:
            subprocess.run([*PROGRAMS[program], *words], check=True, stdin=subprocess.DEVNULL)


def run_file(path: Path) -> bool:
    """Run the blocks of one file up to the first that fails."""
    text = path.read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "__main__"}
    for fence in FENCE.finditer(text):
        line = text.count("\n", 0, fence.start(4)) + 1
        start = time.perf_counter()
        try:
            run_block(fence, line, path, names)
        except Exception:  # noqa: BLE001 - any failure of an example is a finding
            traceback.print_exc()
            print(f"FAILED {path}:{line}", file=sys.stderr)
            return False
        print(f"ok     {path}:{line} {fence[2]} ({time.perf_counter() - start:.1f} s)")
    return True


def run_file_apart(path: Path) -> bool:
    """Run the blocks of one file in a scratch folder of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        for entry in ROOT.iterdir():
            if entry.name != "reports":
                (Path(scratch) / entry.name).symlink_to(entry)
        os.chdir(scratch)
        passed = run_file(path)
        os.chdir(ROOT)
    return passed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    files = [path.resolve().relative_to(ROOT) for path in parser.parse_args().files]
    os.environ.setdefault("MPLBACKEND", "agg")
    passed = [run_file_apart(path) for path in files]  # all of them, whatever fails
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
