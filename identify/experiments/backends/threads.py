"""Linear algebra on one thread, so that workers do not fight over the cores."""

from __future__ import annotations

import os
import threading
import time
from functools import lru_cache

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "BLIS_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
}
"""Environment of a worker: read by the libraries when they are first loaded."""


@lru_cache(maxsize=1)
def hold_threads() -> None:
    """Hold libraries that are loaded already to one thread.

    Once a process: workers that were started without `ONE_THREAD` do it before their first task.
    """
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def end_with(parent: int) -> None:
    """End this process when its parent has: a runner that was killed leaves no workers behind.

    Args:
        parent: process id.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="end_with_parent").start()
