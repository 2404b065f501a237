"""Print the size of each package: lines, files, classes, constants, import cycles, nesting.

    python scripts/size.py [FOLDER]     (default: identify)

A constant is a name of a module, in capitals, for a number or several. In cycles are the files that
import each other, directly or through others, wherever in the file, also for types alone; what is
imported from a package comes from the module that its stub names. Nesting counts blocks (if, for,
while, with, try, match, def, class) within each other.
"""

from __future__ import annotations

import ast
import sys
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TypeAlias

HEADER = ("package", "lines", "files", "classes", "constants", "in cycles", "nesting")
BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match, ast.FunctionDef, ast.ClassDef)
NUMERIC = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.Tuple, ast.operator, ast.unaryop, ast.Load)

Modules: TypeAlias = dict[str, ast.Module]


def main(folder: str = "identify") -> None:
    """Print the size of each package and of all together, then the import cycles."""
    root = Path(folder).resolve()
    files = _modules(root)
    trees = {name: ast.parse(path.read_text("utf-8")) for name, path in files.items()}
    circles = import_cycles(root)
    rows: list[tuple[str | int, ...]] = [HEADER]
    packages = [(key, list(names)) for key, names in groupby(sorted(files, key=_package), _package)]
    for package, names in [*packages, ("all", list(files))]:
        lines = sum(len(files[name].read_text("utf-8").splitlines()) for name in names)
        nodes = [node for name in names for node in ast.walk(trees[name])]
        classes = sum(isinstance(node, ast.ClassDef) for node in nodes)
        numbers = sum(count_constants(trees[name]) for name in names)
        cyclic = sum(name in circle for circle in circles for name in names)
        deepest = max(nesting_depth(trees[name]) for name in names)
        rows.append((package, lines, len(names), classes, numbers, cyclic, deepest))
    for first, *rest in rows:
        print(f"{first:<14}" + "".join(f"{cell:>11}" for cell in rest))
    for circle in circles:
        print("cycle: " + ", ".join(circle))


def _modules(root: Path) -> dict[str, Path]:
    return {_module(path, root): path for path in sorted(root.rglob("*.py"))}


def _module(path: Path, root: Path) -> str:
    parts = path.relative_to(root.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _package(module: str) -> str:
    """Return the subpackage of a module, or the module itself."""
    return [*module.split("."), "__init__"][1]


def count_constants(tree: ast.Module) -> int:
    """Count the constants of a module, names in capitals with numbers."""
    count = 0
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            values = list(ast.walk(node.value))
            written = [value.value for value in values if isinstance(value, ast.Constant)]
            if written and all(isinstance(value, NUMERIC) for value in values):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
                capital = all(name.isupper() for name in names)
                count += len(names) * (capital and all(type(x) in (int, float) for x in written))
    return count


def nesting_depth(node: ast.AST) -> int:
    """Return the largest nesting depth of blocks; `elif` is as deep as its `if`."""
    deepest = 0
    for child in ast.iter_child_nodes(node):
        chained = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
        deepest = max(deepest, nesting_depth(child) - chained)
    return deepest + isinstance(node, BLOCKS)


def imported_modules(module: str, known: Modules, root: Path) -> set[str]:
    """Return the known modules that a module imports."""
    imported: set[str] = set()
    for node in ast.walk(known[module]):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            stub = _stub(root.parent.joinpath(*node.module.split("."), "__init__.pyi"))
            for alias in node.names:
                inside = f"{node.module}.{alias.name}"
                imported.add(inside if inside in known else stub.get(alias.name, node.module))
    return imported & set(known)


@cache
def _stub(path: Path) -> dict[str, str]:
    """Return the module of each public name of a package, from its stub."""
    nodes = ast.parse(path.read_text("utf-8")).body if path.is_file() else []
    froms = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in froms for alias in node.names}


def import_cycles(root: Path) -> list[list[str]]:
    """Return the groups of modules in a folder that import each other, or one that does itself."""
    trees = {name: ast.parse(path.read_text("utf-8")) for name, path in _modules(root).items()}
    reached = {name: imported_modules(name, trees, root) for name in trees}
    for middle in trees:
        for name in trees:
            if middle in reached[name]:
                reached[name] |= reached[middle]
    circles = {frozenset(o for o in reached[n] if n in reached[o]) for n in trees}
    return sorted(sorted(circle) for circle in circles if circle)


if __name__ == "__main__":
    main(*sys.argv[1:])
