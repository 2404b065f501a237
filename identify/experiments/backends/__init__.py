"""Where cells run: in this process, in local processes, on a Dask cluster."""

from identify.experiments.backends.backend import Backend
from identify.experiments.backends.cluster import DaskCluster
from identify.experiments.backends.in_process import InProcess
from identify.experiments.backends.local import LocalProcesses, default_workers

__all__ = [
    "Backend",
    "DaskCluster",
    "InProcess",
    "LocalProcesses",
    "choose_backend",
    "default_workers",
]


def choose_backend(workers: int | None = None, scheduler: str | None = None) -> Backend:
    """The backend that the arguments ask for.

    Args:
        workers: local processes; as many as cores where not given; 0 runs in this process.
        scheduler: address of a Dask scheduler, instead.

    Raises:
        MissingExtra: a scheduler is given and `distributed` is not installed.
        StudyError: no scheduler answers there.
    """
    if scheduler is not None:
        return DaskCluster(scheduler)
    if workers == 0:
        return InProcess()
    return LocalProcesses(workers or default_workers())
