import hashlib
import multiprocessing
import os
import re
import signal
import sys
import time
from multiprocessing.process import BaseProcess
from pathlib import Path

import numpy as np
import pytest

from identify import files, fit
from identify.commands.output import (
    CARRIER,
    ESTIMATE,
    REPORT,
    RESULT,
    OutputError,
    report_matches,
    write_results,
)
from identify.exchange.estimate_json import estimate_digest
from identify.inertia import InertialParameters
from identify.logs import Recording
from identify.logs.synthetic import synthetic_recording
from identify.reporting import wrench_page
from tests.slow import few_or_many

PHI = InertialParameters.from_com(1.0, np.zeros(3), np.diag([3e-3, 2e-3, 4e-3])).phi


@pytest.fixture(scope="module")
def results():
    """Two fits, of bodies of 1 kg and 2 kg."""
    return [fit(recorded(k)) for k in (1, 2)]


def recorded(k: int) -> Recording:
    """A log of a body of k kilograms."""
    return synthetic_recording(k * PHI, rng=np.random.default_rng(k), duration=4.0, rate_hz=50.0)


@pytest.fixture(autouse=True)
def _undrawn(monkeypatch):
    """Sections take seconds, and are not what this is about."""
    monkeypatch.setattr(wrench_page, "SECTIONS", ())


def pair(folder: Path) -> tuple[str, str]:
    """The digest of the estimate, and the one that the report names."""
    named = re.search(r'"estimate-sha256" content="(\w{64})"', (folder / REPORT).read_text())
    assert named is not None
    return hashlib.sha256((folder / ESTIMATE).read_bytes()).hexdigest(), named[1]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def rewrite(folder: Path, result, stop: float) -> None:
    write_results(folder, result, None)
    while time.monotonic() < stop:
        write_results(folder, result, None)


def die_between_the_renames(folder: Path, result) -> None:
    """In a process of its own."""
    dying = spawned(_write_and_die, folder, result)
    dying.join(60)
    assert dying.exitcode == -signal.SIGKILL


def _write_and_die(folder: Path, result) -> None:
    replace, before = os.replace, []

    def dying(source, target):
        if before:
            os.kill(os.getpid(), signal.SIGKILL)
        before.append(target)
        replace(source, target)

    files.os.replace = dying
    write_results(folder, result, None)


forking = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and kill -9")


def spawned(work, *arguments) -> BaseProcess:
    process = multiprocessing.get_context("fork").Process(target=work, args=arguments)
    process.start()
    return process


def test_result_files_are_written_and_other_files_kept(results, tmp_path, capsys):
    (tmp_path / "notes.txt").write_text("mine")
    for result in results:
        write_results(tmp_path, result, None)
        estimate, named = pair(tmp_path)
        assert estimate == named
        assert names(tmp_path) == [ESTIMATE, "notes.txt", REPORT, RESULT]
    assert capsys.readouterr().err == ""


@forking
def test_what_a_kill_left_goes_when_it_is_old(results, tmp_path):
    write_results(tmp_path, results[0], None)
    die_between_the_renames(tmp_path, results[1])
    left = set(names(tmp_path)) - {ESTIMATE, REPORT, RESULT}
    assert left
    others = [f".{ESTIMATE}.abcd_123", f".{REPORT}.0a1b2c3d"]
    mine = [f".{ESTIMATE}.backup", f".{ESTIMATE}.abcd1234.txt", ".notes.txt.abcd1234", "a.json"]
    for name in others + mine:
        (tmp_path / name).write_text("x")
    (tmp_path / f".{REPORT}.a_folder").mkdir()
    write_results(tmp_path, results[1], None)  # another process may be writing them now
    kept = sorted([*mine, f".{REPORT}.a_folder", ESTIMATE, REPORT, RESULT])
    assert names(tmp_path) == sorted([*kept, *others, *left])
    for name in names(tmp_path):
        os.utime(tmp_path / name, times=(time.time() - 7200.0,) * 2)
    write_results(tmp_path, results[1], None)
    assert names(tmp_path) == kept


@forking
@pytest.mark.parametrize("rounds", few_or_many(1, 20))
def test_concurrent_writers_leave_complete_files(results, tmp_path, rounds):
    for _ in range(rounds):
        stop = time.monotonic() + 0.1
        writers = [spawned(rewrite, tmp_path, result, stop) for result in results * 2]
        for writer in writers:
            writer.join(60)
        assert [writer.exitcode for writer in writers] == [0] * 4
        assert set(pair(tmp_path)) <= {estimate_digest(result.estimate) for result in results}
        assert names(tmp_path) == [ESTIMATE, REPORT, RESULT]


@pytest.fixture(scope="module")
def both():
    """A fit of a payload and its carrier."""
    return fit(recorded(3), unloaded=recorded(2))


def test_a_carrier_goes_with_the_report_that_names_it(results, both, tmp_path):
    write_results(tmp_path, both, None)
    assert names(tmp_path) == [CARRIER, ESTIMATE, REPORT, RESULT]
    carrier = (tmp_path / CARRIER).read_bytes()
    assert report_matches(tmp_path / CARRIER)
    assert report_matches(tmp_path / ESTIMATE)
    (tmp_path / CARRIER).write_bytes(carrier + b" ")
    assert not report_matches(tmp_path / CARRIER)
    (tmp_path / CARRIER).write_bytes(carrier)
    write_results(tmp_path, results[0], None)
    assert names(tmp_path) == [ESTIMATE, REPORT, RESULT]
    (tmp_path / CARRIER).write_bytes(carrier)  # a file of one's own
    write_results(tmp_path, results[1], None)
    assert (tmp_path / CARRIER).read_bytes() == carrier


@pytest.mark.parametrize("fails", [1, 2, 3])
def test_result_files_are_written_atomically(results, both, tmp_path, monkeypatch, fails):
    """A disk that fills at any of the files."""
    write_results(tmp_path, results[0], None)
    before, opened = {name: (tmp_path / name).read_bytes() for name in names(tmp_path)}, []

    def full(handle, mode):
        opened.append(handle)
        if len(opened) == fails:
            os.close(handle)
            raise OSError(28, "No space left on device")
        return os_fdopen(handle, mode)

    os_fdopen = os.fdopen
    monkeypatch.setattr(files.os, "fdopen", full)
    with pytest.raises(OutputError, match="No space left"):
        write_results(tmp_path, both, None)
    assert {name: (tmp_path / name).read_bytes() for name in names(tmp_path)} == before
