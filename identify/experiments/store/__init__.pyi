from identify.experiments.store.columns import (
    COLUMNS as COLUMNS,
    RESULTS as RESULTS,
    VOLATILE as VOLATILE,
)
from identify.experiments.store.folder import StoreInfo as StoreInfo, read_info as read_info
from identify.experiments.store.store import (
    WORKER_DIED as WORKER_DIED,
    Store as Store,
    read_rows as read_rows,
)
