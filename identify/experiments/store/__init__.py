"""Results on disk: a database that one runner writes, and the Parquet table that all read."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from identify.experiments.store.columns import COLUMNS, RESULTS, VOLATILE
    from identify.experiments.store.folder import SCHEMA_VERSION, StoreInfo, read_info
    from identify.experiments.store.store import WORKER_DIED, Store, read_rows

_MODULES = {
    "columns": ("COLUMNS", "RESULTS", "VOLATILE"),
    "folder": ("SCHEMA_VERSION", "StoreInfo", "read_info"),
    "store": ("WORKER_DIED", "Store", "read_rows"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "COLUMNS",
    "RESULTS",
    "SCHEMA_VERSION",
    "VOLATILE",
    "WORKER_DIED",
    "Store",
    "StoreInfo",
    "read_info",
    "read_rows",
]


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
