"""The package `identify` under a name that no other package has.

    import inertia_identify as identify

A package `identify` of PyPI, on which pre-commit depends, overwrites `identify/__init__.py`, and
removes it when it is removed; no other file of this package. Here the names come from the stub
`identify/__init__.pyi`, and `import identify` is given them back where it lost them.
"""

import importlib
import logging
import sys
from pathlib import Path

from identify.lazy import attach, installed_version

_stub = Path(importlib.import_module("identify.lazy").__file__ or "").with_name("__init__.py")
__getattr__, __dir__, __all__ = attach("identify", str(_stub))
__all__ += ["__version__"]
__version__ = installed_version("inertia-identify") or "0.0.0"

_package = importlib.import_module("identify")
if not hasattr(_package, "read_log"):
    sys.modules["identify"].__dict__.update(
        __getattr__=__getattr__, __dir__=__dir__, __all__=__all__, __version__=__version__
    )
    logging.getLogger("identify").addHandler(logging.NullHandler())


def main() -> int:
    """Run the command line, whatever `identify/__init__.py` is."""
    from identify.commands.main import main as run

    return run()
