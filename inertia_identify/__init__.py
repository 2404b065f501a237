"""The package `identify` under a name that no other package has.

    import inertia_identify as identify

A package `identify` of PyPI, on which pre-commit depends, overwrites `identify/__init__.py`, and
removes it when it is removed; no other file of this package. Here the names come from the stub
`identify/__init__.pyi`, and `import identify` is given them back where it lost them. A module of
the package, such as `inertia_identify.pipeline`, is that of `identify`.
"""

import importlib.util
import logging
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from identify.lazy import attach, installed_version

_stub = Path(importlib.import_module("identify.lazy").__file__ or "").with_name("__init__.py")
__getattr__, __dir__, __all__ = attach("identify", str(_stub))
__all__ += ["__version__"]
__version__ = installed_version("inertia-identify") or "0.0.0"

_package = importlib.import_module("identify")
if "read_log" not in getattr(_package, "__all__", ()):  # hasattr would load its readers
    sys.modules["identify"].__dict__.update(
        __getattr__=__getattr__, __dir__=__dir__, __all__=__all__, __version__=__version__
    )
    logging.getLogger("identify").addHandler(logging.NullHandler())


class _SameModules:
    """Finder of modules of `identify` by the name of this package, which are not loaded twice."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module of `identify`; `__main__` is of this package."""
        package, _, rest = fullname.partition(".")
        if package != __name__ or rest == "__main__":
            return None
        known = importlib.util.find_spec(f"identify.{rest}")
        return ModuleSpec(fullname, self) if known else None  # pyright: ignore[reportArgumentType]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module of `identify`, with its own spec kept for `exec_module`."""
        module = importlib.import_module(f"identify.{spec.name.partition('.')[2]}")
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module, which has run, its own spec back."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


sys.meta_path.insert(0, _SameModules())  # before that of files, which loads them again


def main() -> int:
    """Run the command line, whatever `identify/__init__.py` is."""
    from identify.commands.main import main as run

    return run()
