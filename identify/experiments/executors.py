"""Which executor runs a work, and what becomes of it when workers die."""

from __future__ import annotations

from identify.errors import StudyError
from identify.experiments.dask_cluster import DaskCluster
from identify.experiments.executor import Executor, InProcess
from identify.experiments.local_processes import LocalProcesses


def choose_executor(
    workers: int | None = None, scheduler: str | None = None, time_limit: float | None = None
) -> Executor:
    """The executor that the arguments ask for.

    Args:
        workers: local processes; as many as cores where not given; 0 runs in this process.
        scheduler: address of a Dask scheduler, instead.
        time_limit: of a call [s]: its process is replaced, and its future raises `TimeLimit`.

    Raises:
        MissingExtra: a scheduler is given and `distributed` is not installed.
        StudyError: no scheduler answers there; a time limit of what runs in this process.
    """
    if scheduler is not None:
        return DaskCluster(scheduler, time_limit)
    if workers != 0:
        return LocalProcesses(workers or default_workers(), time_limit)
    if time_limit is not None:
        raise StudyError(
            f"a time limit (timeout = {time_limit:g}) needs a process that can be stopped, and "
            f"cells would run in this one; take 1 worker"
        )
    return InProcess()


def default_workers() -> int:
    """As many as this process may use cores."""
    from joblib.externals.loky import cpu_count

    return int(cpu_count())
