"""Runners and workers killed at random times: the table is that of a run left alone."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

from identify.studies import run_study
from identify.studies.store import read_rows
from tests.studies.hostile import Sleeps
from tests.studies.studies import quick, rows, with_estimators

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc"),
]

SEEDS, MANY = 20, 200
SLEEP = 0.01
WORKERS = 2

RUNNER = """
import sys
from pathlib import Path
from identify.studies import run_study
from tests.studies.test_kills import study_of

def report(progress):
    if progress.done:
        print(progress.already_done + progress.done, flush=True)

if __name__ == "__main__":
    study = study_of(Path(sys.argv[1]), int(sys.argv[3]))
    run_study(study, sys.argv[2], workers=2, progress=report)
"""


def study_of(tally: Path, seeds: int = SEEDS):
    study = quick(seeds=seeds, estimators=["ols"])
    return with_estimators(study, sleeps=Sleeps(seconds=SLEEP, tally=str(tally)))


@contextmanager
def started(tally: Path, folder: Path, seeds: int = SEEDS) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", RUNNER, *map(str, (tally, folder, seeds))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": "."},
    ) as runner:
        try:
            yield runner
        finally:
            runner.kill()


def workers_of(runner: int) -> list[int]:
    """Processes that run trials: copies of a server, or children with a new interpreter."""
    children = children_of(runner)
    servers = [pid for pid in children if b"forkserver" in command_of(pid)]
    spawned = [pid for pid in children if b"spawn_main" in command_of(pid)]
    return spawned + [pid for server in servers for pid in children_of(server)]


def children_of(process: int) -> list[int]:
    """Children of all threads."""
    paths = Path(f"/proc/{process}/task").glob("*/children")
    return [int(pid) for path in paths for pid in path.read_text().split()]


def command_of(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def reported(runner: subprocess.Popen[str]) -> Iterator[int]:
    assert runner.stdout is not None
    for line in runner.stdout:
        yield int(line)


def undisturbed(folder: Path, seeds: int) -> Path:
    folder.mkdir()
    run_study(study_of(folder / "tally", seeds), folder / "out", workers=0)
    return folder / "out"


def same_but_for_the_tally(first: Path, second: Path) -> None:
    """The tally's path is an option of the estimator, and so in key and column."""
    left, right = (
        rows(folder).drop(columns=["key", "estimator_tally"]) for folder in (first, second)
    )
    assert not read_rows(first)["key"].to_pandas().duplicated().any()
    pd.testing.assert_frame_equal(left, right, check_exact=True)


def test_runners_killed_at_random_times(tmp_path: Path) -> None:
    rounds, seeds = 20, MANY
    tally, folder = tmp_path / "tally", tmp_path / "out"
    rng = random.Random(1)
    kills = 0
    for kill in range(rounds):
        with started(tally, folder, seeds) as runner:
            reports = reported(runner)
            last = next(reports, 0) if kill % 4 != 3 else 0  # while it runs or starts
            time.sleep(rng.uniform(0.0, 0.6))
            runner.send_signal(signal.SIGKILL)
            last = max([last, *reports])
            kills += runner.wait() != 0
        if last:
            assert read_rows(folder).num_rows >= last  # what was reported done is there
    with started(tally, folder, seeds) as runner:
        _, errors = runner.communicate(timeout=120)
        assert runner.returncode == 0, errors
    same_but_for_the_tally(folder, undisturbed(tmp_path / "alone", seeds))
    redone = len(tally.read_bytes()) - len(study_of(tally, seeds)) // 2
    assert redone * SLEEP <= kills * WORKERS * 1.0  # a second of each worker, at the most
    assert kills > 0


def test_workers_killed_at_random_times(tmp_path: Path) -> None:
    tally, folder = tmp_path / "tally", tmp_path / "out"
    rng = random.Random(2)
    kills = done = 0
    with started(tally, folder, MANY) as runner:
        reports = reported(runner)
        for _ in range(20):
            before, done = done, next((count for count in reports if count > done), done)
            if done == before:
                break
            time.sleep(rng.uniform(0.0, 0.5))
            if runner.poll() is None and (workers := workers_of(runner.pid)):
                os.kill(rng.choice(workers), signal.SIGKILL)
                kills += 1
        _, errors = runner.communicate(timeout=180)
        assert runner.returncode == 0, errors
    assert kills > 0
    same_but_for_the_tally(folder, undisturbed(tmp_path / "alone", MANY))


def test_workers_end_with_their_runner(tmp_path: Path) -> None:
    with started(tmp_path / "tally", tmp_path / "out") as runner:
        next(reported(runner))
        workers = workers_of(runner.pid)
        assert workers
        runner.kill()
        runner.wait()
    deadline = time.monotonic() + 10.0
    while time.monotonic() < deadline and any(Path(f"/proc/{pid}").exists() for pid in workers):
        time.sleep(0.1)
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


LOADING = """
import sys, time
from identify.studies.worker_server import start_worker_server

start_worker_server()
print("started", "identify.studies.study" in sys.modules, flush=True)
try:
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_server_that_loads_leaves_an_interrupt_to_the_process_that_started_it() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LOADING],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started False\n"
        time.sleep(0.2)
        os.killpg(process.pid, signal.SIGINT)
        printed, errors = process.communicate(timeout=60)
    assert (printed, errors) == ("interrupted\n", "")
