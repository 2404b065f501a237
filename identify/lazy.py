"""Lazy imports: the names of a package are loaded when first used.

The names of a package are listed once, in its stub `__init__.pyi`, which type checkers read too:

    from identify.inertia.parameters import InertialParameters as InertialParameters
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import LazyLoader, find_spec, module_from_spec
from pathlib import Path


def installed_version(name: str) -> str | None:
    """Return the version of a distribution; None if it is not installed.

    Of `cvxpy` also that of `cvxpy-base`, which has the same modules and fewer solvers.
    """
    for distribution in (name, f"{name}-base"):
        with suppress(PackageNotFoundError):
            return version(distribution)
    return None


def attach(
    package: str, file: str
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package from its stub (PEP 562).

    Args:
        package: its `__name__`.
        file: its `__file__`, next to the stub.
    """
    sources, public = _read_stub(Path(file).with_suffix(".pyi"))

    def load(name: str) -> object:
        if name not in public:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, defined = sources[public[name]]
        if module == package:  # a module of the package
            value = import_module(f"{package}.{defined}")
        else:
            value = getattr(import_module(module), defined)
        setattr(sys.modules[package], name, value)
        return value

    names = sorted(public)
    return load, lambda: sorted(names), names


def defer_imports(*modules: str) -> None:
    """Defer the import of large libraries to their first use, also in other packages.

    SciPy imports every module of NumPy, including those that no fit uses. Meant for the command
    line: a library should not change the modules of others.
    Modules that are loaded or missing are skipped.
    """
    for name in modules:
        spec = None if name in sys.modules else find_spec(name)
        if spec is None or spec.loader is None:
            continue
        package, _, attribute = name.rpartition(".")
        spec.loader = LazyLoader(spec.loader)
        module = sys.modules[name] = module_from_spec(spec)
        spec.loader.exec_module(module)
        setattr(sys.modules[package], attribute, module)


def _read_stub(path: Path) -> tuple[dict[str, tuple[str, str]], dict[str, str]]:
    """Read the imports of a stub: the module of each name, and the name behind each public name."""
    sources: dict[str, tuple[str, str]] = {}
    public: dict[str, str] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                sources[alias.name] = (node.module, alias.name)
                if alias.asname == alias.name:  # exported by the stub (PEP 484)
                    public[alias.name] = alias.name
        elif isinstance(node, ast.Assign):  # another = imported
            public[ast.unparse(node.targets[0])] = ast.unparse(node.value)
    return sources, public
