"""Results on disk: a database that one runner writes, and the Parquet table that all read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from identify.lazy import attach

if TYPE_CHECKING:
    from identify.experiments.store.columns import COLUMNS as COLUMNS
    from identify.experiments.store.columns import RESULTS as RESULTS
    from identify.experiments.store.columns import VOLATILE as VOLATILE
    from identify.experiments.store.folder import StoreInfo as StoreInfo
    from identify.experiments.store.folder import read_info as read_info
    from identify.experiments.store.store import WORKER_DIED as WORKER_DIED
    from identify.experiments.store.store import Store as Store
    from identify.experiments.store.store import read_rows as read_rows
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "columns": ("COLUMNS", "RESULTS", "VOLATILE"),
            "folder": ("StoreInfo", "read_info"),
            "store": ("WORKER_DIED", "Store", "read_rows"),
        },
    )
