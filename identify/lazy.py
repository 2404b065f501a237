"""Packages whose names are loaded when first used, so that importing a part loads that part alone.

The names of a package stand once, in the stub beside it, `__init__.pyi`, where type checkers read
them too:

    from identify.inertia.parameters import InertialParameters as InertialParameters
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import LazyLoader, find_spec, module_from_spec
from pathlib import Path


def attach(
    package: str, file: str
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """The `__getattr__`, `__dir__` and `__all__` of a package (PEP 562), as its stub says.

    Args:
        package: its `__name__`.
        file: its `__file__`, beside which the stub is.
    """
    sources, public = _read_stub(Path(file).with_suffix(".pyi"))

    def load(name: str) -> object:
        if name not in public:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, defined = sources[public[name]]
        if module == package:  # one of its own modules
            value = import_module(f"{package}.{defined}")
        else:
            value = getattr(import_module(module), defined)
        setattr(sys.modules[package], name, value)
        return value

    names = sorted(public)
    return load, lambda: sorted(names), names


def defer(*modules: str) -> None:
    """Let modules wait until something of them is used, though others import them.

    SciPy imports every module of NumPy, those too that no fit uses. For the program's own process:
    a library should leave the modules of others alone.

    Args:
        modules: of packages, by their full names; those that are loaded, or not there, are left as
            they are.
    """
    for name in modules:
        spec = None if name in sys.modules else find_spec(name)
        if spec is None or spec.loader is None:
            continue
        package, _, own = name.rpartition(".")
        spec.loader = LazyLoader(spec.loader)
        module = sys.modules[name] = module_from_spec(spec)
        spec.loader.exec_module(module)
        setattr(sys.modules[package], own, module)


def _read_stub(path: Path) -> tuple[dict[str, tuple[str, str]], dict[str, str]]:
    """Where each imported name is defined, and the imported name behind each public one."""
    sources: dict[str, tuple[str, str]] = {}
    public: dict[str, str] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                sources[alias.name] = (node.module, alias.name)
                if alias.asname == alias.name:  # what a stub exports, by the rules of typing
                    public[alias.name] = alias.name
        elif isinstance(node, ast.Assign):  # another = imported
            public[ast.unparse(node.targets[0])] = ast.unparse(node.value)
    return sources, public
