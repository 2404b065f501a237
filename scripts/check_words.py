"""Check that docstrings start with a subject, and that variables are named by their content.

Run by `make lint`. Arguments: files or folders; `identify`, `experiments` and `scripts` by default.
It rejects docstrings whose first word is a pronoun or preposition, variables with an empty name,
and two classes of the same name in `identify`.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

_OPENERS = re.compile(r"(?:…|\.\.\.)|(?:What|That|Those|Of|Where|The same|How)\b")
"""First words of a docstring that lack a subject."""

_EMPTY_NAMES = {"said", "told", "found", "one", "own", "left", "there", "what"}
"""Variable names that do not describe the content; comprehensions may use them."""


def _docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and text of each docstring, including those after assignments."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        for number, statement in enumerate(body):
            text = _text_of(statement)
            documents = number == 0 or isinstance(body[number - 1], ast.Assign | ast.AnnAssign)
            if text is not None and documents:
                yield statement.lineno, text.strip()


def _text_of(statement: ast.stmt) -> str | None:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return statement.value.value if isinstance(statement.value.value, str) else None
    return None


def _variables(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and name of each assigned variable, outside comprehensions."""
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.lineno, node.id
    if isinstance(node, ast.arg):
        yield node.lineno, node.arg
    for child in ast.iter_child_nodes(node):
        yield from _variables(child)


def main(paths: list[str]) -> int:
    """Print one line per violation; return the number of lines."""
    classes = defaultdict[str, list[str]](list)
    violations: list[str] = []
    for path in sorted(file for root in paths for file in _python_files(Path(root))):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for line, text in _docstrings(tree):
            if _OPENERS.match(text):
                violations.append(f"{path}:{line}: docstring without a subject: {text[:60]!r}")
        for line, name in _variables(tree):
            if name in _EMPTY_NAMES:
                violations.append(
                    f"{path}:{line}: variable name {name!r} does not describe its content"
                )
        if path.parts[0] == "identify":
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    classes[node.name].append(f"{path}:{node.lineno}")
    for name, locations in classes.items():
        if len(locations) > 1:
            violations.append(f"{locations[0]}: class {name} is also at {', '.join(locations[1:])}")
    print(*violations, sep="\n", end="\n" if violations else "")
    return len(violations)


def _python_files(path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted(path.rglob("*.py"))


if __name__ == "__main__":
    sys.exit(min(1, main(sys.argv[1:] or ["identify", "experiments", "scripts"])))
