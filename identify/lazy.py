"""Packages whose names are loaded when first used, so that importing a part loads that part alone.

A package says each name twice, for the type checker and for Python, and a test holds the two equal:

    if TYPE_CHECKING:
        from identify.inertia.parameters import InertialParameters as InertialParameters
    else:
        __getattr__, __dir__, __all__ = attach(__name__, {"parameters": ("InertialParameters",)})
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def attach(
    package: str, modules: Mapping[str, tuple[str, ...]]
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """The `__getattr__`, `__dir__` and `__all__` of a package (PEP 562).

    Args:
        package: its `__name__`.
        modules: the public names by the module that defines them, which is named from the package
            on; "read_estimate as load_estimate" gives a name another one.
    """
    sources: dict[str, tuple[str, str]] = {}
    for module, names in modules.items():
        for name in names:
            defined, _, public = name.partition(" as ")
            sources[public or defined] = (f"{package}.{module}", defined)

    def load(name: str) -> object:
        if name not in sources:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, defined = sources[name]
        value = getattr(import_module(module), defined)
        setattr(sys.modules[package], name, value)
        return value

    names = sorted(sources)
    return load, lambda: sorted(names), names
