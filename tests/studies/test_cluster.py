import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from identify.errors import StudyError
from identify.studies import open_results, run_study
from identify.studies.dask_cluster import DaskCluster, _run_within
from identify.studies.executor import TimeLimit
from tests.studies.hostile import Hangs, Sleeps
from tests.studies.studies import assert_same_rows, quick, with_estimators

distributed = pytest.importorskip(
    "distributed", reason="distributed (the extra 'cluster') is not installed"
)

# Dask's own threads, sockets and deprecations are not what is tested here.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def make_cluster() -> Iterator[Callable[..., Any]]:
    """Makes a scheduler and worker processes that may start processes of their own."""
    made = []

    def make(workers: int = 2, daemon: bool = False) -> Any:
        import dask

        with dask.config.set({"distributed.worker.daemon": daemon}):
            made.append(
                distributed.LocalCluster(
                    n_workers=workers, threads_per_worker=1, dashboard_address=None
                )
            )
        return made[-1]

    yield make
    for cluster in made:
        cluster.close()


@pytest.fixture
def cluster(make_cluster) -> Any:
    return make_cluster()


def when_running(tally: Path, act: Callable[[], None]) -> threading.Thread:
    """A thread that acts once trials have written to the tally."""

    def watch() -> None:
        while not (tally.exists() and tally.stat().st_size > 20):
            time.sleep(0.02)
        act()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


def sleeping(tally: Path, seconds: float = 0.01):
    study = quick(seeds=25, estimators=["ols"])
    return with_estimators(study, sleeps=Sleeps(seconds=seconds, tally=str(tally)))


def test_cluster_rows_are_bitwise_identical(cluster: Any, tmp_path: Path) -> None:
    run_study(quick(), tmp_path / "here", workers=0)
    summary = run_study(quick(), tmp_path / "there", scheduler=cluster.scheduler_address)
    assert (summary.done, summary.failed, summary.workers) == (28, 0, 2)
    assert_same_rows(tmp_path / "here", tmp_path / "there")


def test_killed_worker_is_replaced(cluster: Any, tmp_path: Path) -> None:
    study = sleeping(tmp_path / "tally")
    first = cluster.workers[0].pid
    killer = when_running(tmp_path / "tally", lambda: os.kill(first, signal.SIGKILL))
    summary = run_study(study, tmp_path / "there", scheduler=cluster.scheduler_address)
    killer.join()
    assert cluster.workers[0].pid != first
    assert (summary.done, summary.failed) == (len(study), 0)
    run_study(study, tmp_path / "here", workers=0)
    assert_same_rows(tmp_path / "here", tmp_path / "there")


def test_a_trial_over_the_time_limit_costs_no_worker(cluster: Any, tmp_path: Path) -> None:
    hangs = Hangs(tally=str(tmp_path / "tally"), times=1)
    study = with_estimators(quick(seeds=1, perturbations=["none"]), hangs=hangs)
    workers = [worker.pid for worker in cluster.workers.values()]
    summary = run_study(study, tmp_path, scheduler=cluster.scheduler_address, timeout=3.0)
    assert (summary.done, summary.failed) == (6, 1)
    frame = open_results(tmp_path).frame.set_index("estimator")
    assert list(frame.loc["hangs", "error_type"].dropna()) == ["TimeLimit"]
    assert frame.loc[["ols", "wls"], "error"].isna().all()
    assert [worker.pid for worker in cluster.workers.values()] == workers


def test_a_time_limit_on_every_worker(cluster: Any) -> None:
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        for address in client.nthreads():
            late = client.submit(_run_within, 3.0, partial(time.sleep, 3600.0), workers=[address])
            with pytest.raises(TimeLimit, match="longer than its time limit, 3 s"):
                late.result()
            soon = client.submit(_run_within, 3.0, partial(max, 1, 2), workers=[address])
            assert soon.result() == 2


def test_workers_that_may_not_start_processes_are_named(make_cluster, tmp_path: Path) -> None:
    address = make_cluster(1, daemon=True).scheduler_address
    with pytest.raises(StudyError, match="DASK_DISTRIBUTED__WORKER__DAEMON=False"):
        run_study(quick(), tmp_path, scheduler=address, timeout=3.0)


@pytest.mark.parametrize("address", ["nonsense://x", "tcp://127.0.0.1:1"])
def test_unreachable_scheduler_is_reported(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("identify.studies.dask_cluster._CONNECT_TIMEOUT", 1.0)
    with pytest.raises(StudyError, match=r"no Dask scheduler answers at .* within 1 s"):
        DaskCluster(address)


def test_a_scheduler_without_workers_is_named(
    make_cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("identify.studies.dask_cluster._WORKER_TIMEOUT", 1.0)
    address = make_cluster(0).scheduler_address
    with pytest.raises(StudyError, match=f"no workers .*`dask worker {address}`"):
        run_study(quick(), tmp_path, scheduler=address)


def test_scheduler_that_dies_during_run_is_reported(
    cluster: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    study = sleeping(tmp_path / "tally", 0.02)
    when_running(tmp_path / "tally", cluster.close)
    with pytest.raises(
        StudyError, match=r"lost the connection to the scheduler at .*; finished rows"
    ):
        run_study(study, tmp_path / "out", scheduler=cluster.scheduler_address)
    assert "Traceback" not in capfd.readouterr().err
    assert run_study(study, tmp_path / "out", workers=0).failed == 0
