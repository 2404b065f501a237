"""Run the examples of Markdown files, to test the documentation.

The ```python blocks of a file run in order and share their names, in a temporary folder that
contains links to the files of the project, and to which examples write. The ```toml blocks with a
[wrench] table are complete schemas and must be valid; those of ```toml edit FILE are lines to set
in a schema that exists. Each ```console run block runs in a shell of its own, and its commands must
end with status 0; `identify` and `python` are those of this environment.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
import traceback
from collections.abc import Callable
from pathlib import Path

from identify.logs.schema import load_schema

ROOT = Path(__file__).resolve().parent.parent
CODE_FENCE = re.compile(
    r"^(`{3,})(python|toml|console run)[ \t]*([^\n`]*)\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL
)
PROGRAMS = """
identify() { "$INTERPRETER" -m identify "$@"; }
python() { "$INTERPRETER" "$@"; }
"""
TABLE = re.compile(r"^\[([\w.]+)\][^\n]*\n(.*?)(?=^\[|\Z)", re.MULTILINE | re.DOTALL)
"""A table of a TOML file: its name and its lines."""


def run_commands(block: str) -> None:
    """Run the commands of a block in a shell, which ends at the first that fails."""
    subprocess.run(
        ["sh", "-ec", PROGRAMS + block],
        check=True,
        stdin=subprocess.DEVNULL,
        env=os.environ | {"INTERPRETER": sys.executable},
    )


def edit_schema(text: str, edits: str) -> str:
    """Return a schema in which the keys of tables are set, as a user would by hand."""
    for name, lines in TABLE.findall(edits):
        table = next((table for table in TABLE.finditer(text) if table[1] == name), None)
        if table is None:
            text += f"\n[{name}]\n{lines}"
            continue
        new = table[0]
        for line in filter(str.strip, lines.splitlines()):
            key = line.partition("=")[0].strip()
            new, replaced = re.subn(rf"^{key} *=.*$", line, new, count=1, flags=re.MULTILINE)
            new = new if replaced else f"{new.rstrip()}\n{line}\n\n"
        text = text.replace(table[0], new, 1)
    return text


def run_block(
    fence: re.Match[str],
    line: int,
    path: Path,
    names: dict[str, object],
    run: Callable[[str], None] = run_commands,
) -> None:
    """Run one block; tracebacks show line numbers of the Markdown file."""
    _, language, attributes, block = fence.groups()
    if language == "python":
        exec(compile("\n" * (line - 1) + block, str(path), "exec"), names)
    elif language == "console run":
        run(block)
    elif attributes.startswith("edit "):
        schema = Path(attributes.removeprefix("edit "))
        schema.write_text(edit_schema(schema.read_text(encoding="utf-8"), block), encoding="utf-8")
        load_schema(schema)
    elif "[wrench]" in block:
        load_schema(tomllib.loads(block))


def run_file(path: Path) -> bool:
    """Run the blocks of one file until one fails."""
    text = path.read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "__main__"}
    for fence in CODE_FENCE.finditer(text):
        line = text.count("\n", 0, fence.start(4)) + 1
        start = time.perf_counter()
        try:
            run_block(fence, line, path, names)
        except Exception:  # noqa: BLE001 - an example may raise anything
            traceback.print_exc()
            print(f"FAILED {path}:{line}", file=sys.stderr)
            return False
        print(f"ok     {path}:{line} {fence[2]} ({time.perf_counter() - start:.1f} s)")
    return True


def run_file_in_scratch(path: Path) -> bool:
    """Run the blocks of one file in a temporary folder."""
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
    passed = [run_file_in_scratch(path) for path in files]  # all of them, whatever fails
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
