"""Results on disk: a journal that survives crashes, compacted into one Parquet file."""

from identify.experiments.store.columns import COLUMNS, SCHEMA_VERSION, VOLATILE
from identify.experiments.store.layout import (
    RESULTS,
    StoreInfo,
    read_cells,
    read_info,
    write_cells,
)
from identify.experiments.store.store import WORKER_DIED, Store, read_rows

__all__ = [
    "COLUMNS",
    "RESULTS",
    "SCHEMA_VERSION",
    "VOLATILE",
    "WORKER_DIED",
    "Store",
    "StoreInfo",
    "read_cells",
    "read_info",
    "read_rows",
    "write_cells",
]
