"""The server whose copies are the worker processes of this machine.

It has loaded what a trial needs; the copies are of it, not of this process. Where the system has no
such server, each worker is a new interpreter.
"""

from __future__ import annotations

import signal
from multiprocessing import forkserver, get_all_start_methods, get_context, resource_tracker
from typing import Any

_HAS_SERVER = "forkserver" in get_all_start_methods()

CONTEXT: Any = get_context("forkserver" if _HAS_SERVER else "spawn")
"""Context in which workers are started."""

_PRELOADED = ["identify.studies.study", "identify.pipeline.wrench_fit"]
"""Modules that the server loads."""


def start_worker_server() -> None:
    """Start the server, if it does not run; it loads its modules while this process goes on.

    It leaves a keyboard interrupt, which reaches the whole process group, to this process.
    """
    if _HAS_SERVER:
        CONTEXT.set_forkserver_preload(_PRELOADED)
        resource_tracker.ensure_running()  # or the server starts it, which unblocks the interrupt
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            forkserver.ensure_running()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
