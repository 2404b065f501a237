import gc
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from identify.errors import StudyError
from identify.experiments import open_results, run_study
from identify.experiments.dask_cluster import DaskCluster, _run_within
from identify.experiments.executor import TimeLimit
from tests.experiments.hostile import Hangs, Sleeps
from tests.experiments.studies import assert_same_rows, quick, with_estimators
from tests.thorough import many_processes

distributed = pytest.importorskip(
    "distributed", reason="distributed (the extra 'cluster') is not installed"
)

# Dask's own threads, sockets and deprecations are not what is tested here.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scheduler that is there answers, however busy the machine: no test is about seconds."""
    monkeypatch.setattr("identify.experiments.dask_cluster._ANSWER_WITHIN", 120.0)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("identify.experiments.dask_cluster._ANSWER_WITHIN", 1.0)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def wait_for(host: str, port: int) -> None:
    """Until something listens there: a scheduler takes seconds to start."""
    deadline = time.monotonic() + 60.0
    while time.monotonic() < deadline:
        try:
            socket.create_connection((host, port), timeout=1.0).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(f"nothing listens at {host}:{port}")


class Cluster:
    """A scheduler and its workers, as a person would start them."""

    def __init__(self, stack: ExitStack, folder: Path, workers: int = 2) -> None:
        self.address = f"tcp://127.0.0.1:{free_port()}"
        self.folder, self.stack = folder, stack
        host, port = self.address.removeprefix("tcp://").split(":")
        words = ("--host", host, "--port", port, "--no-dashboard")
        self.scheduler = self._start("dask_scheduler", *words)
        wait_for(host, int(port))
        # It listens before it answers: the time limits of the tests are not those of its start.
        with distributed.Client(self.address, timeout=120.0, set_as_default=False):
            pass
        self.workers = [
            self.worker(number, nanny)
            for number, nanny in zip(range(workers), ("--no-nanny", "--nanny"), strict=False)
        ]

    def worker(self, number: int, nanny: str = "--no-nanny") -> subprocess.Popen[bytes]:
        local = self.folder / f"worker_{number}"
        options = ("--nthreads", "1", "--no-dashboard", nanny, "--local-directory", str(local))
        return self._start("dask_worker", self.address, *options)

    def _start(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{program}", *arguments]
        with open(self.folder / "log", "ab") as log:
            process = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(["."]), "OMP_NUM_THREADS": "1"},
            )
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)
        return process


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with ExitStack() as stack:
        yield Cluster(stack, tmp_path_factory.mktemp("dask"))


def test_the_rows_are_those_of_this_process_to_the_bit(cluster: Cluster, tmp_path: Path) -> None:
    run_study(quick(), tmp_path / "here", workers=0)
    summary = run_study(quick(), tmp_path / "there", scheduler=cluster.address)
    assert (summary.done, summary.failed) == (28, 0)
    assert_same_rows(tmp_path / "here", tmp_path / "there")


@many_processes
def test_a_worker_killed_on_the_way(cluster: Cluster, tmp_path: Path) -> None:
    tally = tmp_path / "tally"
    sleeps = Sleeps(seconds=0.01, tally=str(tally))
    study = with_estimators(quick(seeds=25, estimators=["ols"]), sleeps=sleeps)

    def kill_one() -> None:
        while not (tally.exists() and tally.stat().st_size > 20):
            time.sleep(0.02)
        cluster.workers[0].send_signal(signal.SIGKILL)

    killer = threading.Thread(target=kill_one)
    killer.start()
    summary = run_study(study, tmp_path / "there", scheduler=cluster.address)
    killer.join()
    assert cluster.workers[0].wait() == -signal.SIGKILL
    assert (summary.done, summary.failed) == (len(study), 0)
    run_study(study, tmp_path / "here", workers=0)
    assert_same_rows(tmp_path / "here", tmp_path / "there")
    cluster.workers[0] = cluster.worker(2)


@many_processes
def test_a_trial_over_the_time_limit_costs_no_worker(cluster: Cluster, tmp_path: Path) -> None:
    hangs = Hangs(tally=str(tmp_path / "tally"), times=1)
    study = with_estimators(quick(seeds=1, perturbations=["none"]), hangs=hangs)
    summary = run_study(study, tmp_path, scheduler=cluster.address, timeout=3.0)
    assert (summary.done, summary.failed) == (6, 1)
    frame = open_results(tmp_path).frame.set_index("estimator")
    assert list(frame.loc["hangs", "error_type"].dropna()) == ["TimeLimit"]
    assert frame.loc[["ols", "wls"], "error"].isna().all()
    assert all(worker.poll() is None for worker in cluster.workers)


@many_processes
def test_a_time_limit_on_every_worker_with_a_nanny_and_without(cluster: Cluster) -> None:
    with distributed.Client(cluster.address, set_as_default=False) as client:
        for address in client.nthreads():
            late = client.submit(_run_within, 3.0, partial(time.sleep, 3600.0), workers=[address])
            with pytest.raises(TimeLimit, match="longer than its time limit, 3 s"):
                late.result()
            soon = client.submit(_run_within, 3.0, partial(max, 1, 2), workers=[address])
            assert soon.result() == 2


@pytest.mark.usefixtures("impatient")
def test_clients_that_could_not_connect_hold_no_lock_when_they_are_collected() -> None:
    """Else the collector, in a thread that is being started, waits for who starts it."""
    with pytest.raises(StudyError):
        DaskCluster("nonsense://x")
    collect = threading.Thread(target=gc.collect, daemon=True)
    with distributed.utils.LoopRunner._lock:
        collect.start()
        collect.join(10.0)
        assert not collect.is_alive()


@pytest.mark.usefixtures("impatient")
def test_something_else_that_listens_is_no_scheduler(tmp_path: Path) -> None:
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        with pytest.raises(StudyError, match=r"no Dask scheduler answers at .* within 1 s"):
            DaskCluster(f"tcp://127.0.0.1:{mute.getsockname()[1]}")


@many_processes
def test_a_scheduler_without_workers_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("identify.experiments.dask_cluster._WORKERS_WITHIN", 1.0)
    with ExitStack() as stack:
        alone = Cluster(stack, tmp_path, workers=0)
        with pytest.raises(StudyError, match=f"no workers .*`dask worker {alone.address}`"):
            run_study(quick(), tmp_path / "out", scheduler=alone.address)


@many_processes
def test_a_scheduler_killed_on_the_way(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    tally = tmp_path / "tally"
    sleeps = Sleeps(seconds=0.02, tally=str(tally))
    study = with_estimators(quick(seeds=25, estimators=["ols"]), sleeps=sleeps)
    with ExitStack() as stack:
        cluster = Cluster(stack, tmp_path, workers=1)

        def kill() -> None:
            while not (tally.exists() and tally.stat().st_size > 20):
                time.sleep(0.02)
            cluster.scheduler.kill()

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        with pytest.raises(
            StudyError, match=r"the scheduler at .* went away; rows so far are kept"
        ):
            run_study(study, tmp_path / "out", scheduler=cluster.address)
        killer.join()
    assert "Traceback" not in capfd.readouterr().err
    assert run_study(study, tmp_path / "out", workers=0).failed == 0
