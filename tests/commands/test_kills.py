"""`fit` and `fit --each` killed while they write: whole files, a run mends a torn pair.

Every step of writing is a place to be killed at: before and after each file is made, given its
rights and its name, and before and after rows are added. The slow tests go through all of them; in
the others some are drawn.
"""

import multiprocessing
import os
import random
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from identify import fit
from identify.commands import fit_each
from identify.commands.main import main
from identify.commands.output import ESTIMATE, REPORT, RESULT, report_matches
from identify.errors import StudyError
from identify.exchange import read_estimate
from identify.files import digest
from identify.inertia import InertialParameters
from identify.logs import read_log, synthetic_recording
from identify.logs.log_writing import write_log
from identify.reporting import comparison_page, wrench_page
from identify.studies.store import Store, read_rows
from tests.slow import few_or_many

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and kill -9")

some_or_all = pytest.mark.parametrize("most", few_or_many(3, 10_000))
"""How many steps to be killed at."""

PHI = InertialParameters.from_com(1.0, np.zeros(3), np.diag([3e-3, 2e-3, 4e-3])).phi


@pytest.fixture(scope="module")
def logs(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    for name, mass in (("a", 1.0), ("b", 2.0)):
        rng = np.random.default_rng(int(mass))
        recording = synthetic_recording(mass * PHI, rng=rng, duration=4.0, rate_hz=50.0)
        write_log(recording, folder / f"{name}.csv", folder / "schema.toml")
    return folder


@pytest.fixture(scope="module")
def results(logs) -> dict[str, Any]:
    schema = logs / "schema.toml"
    return {name: fit(read_log(logs / f"{name}.csv", schema)) for name in ("a", "b")}


@pytest.fixture(autouse=True)
def _only_written(monkeypatch, results):
    """What is fitted is at hand, and nothing is drawn: both take seconds, and write nothing."""
    monkeypatch.setattr(wrench_page, "SECTIONS", ())
    monkeypatch.setattr(comparison_page, "forest_columns", lambda comparison: ())
    monkeypatch.setattr("identify.pipeline.fit", lambda logs, *given, **more: results[logs[0].name])
    monkeypatch.setattr(fit_each, "fit", lambda log, *given, **more: results[log.name])


@contextmanager
def steps(reached: Callable[[], None]) -> Iterator[None]:
    """Call a function before and after each step of writing."""

    def stepping(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **more: Any) -> Any:
            reached()
            result = function(*given, **more)
            reached()
            return result

        return call

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", stepping(os.replace))
        patch.setattr(os, "chmod", stepping(os.chmod))
        patch.setattr(tempfile, "mkstemp", stepping(tempfile.mkstemp))
        patch.setattr(Path, "unlink", stepping(Path.unlink))
        patch.setattr(Store, "add", stepping(Store.add))
        yield


def number_of_steps(words: list[str], renames: list[int] | None = None) -> int:
    """How many steps a call takes; those behind which a file got its name are added to a list."""
    counted: list[None] = []
    replace = os.replace

    def renamed(*given: Any) -> None:
        replace(*given)
        if renames is not None:
            renames.append(len(counted) + 1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", renamed)
        with steps(lambda: counted.append(None)):
            assert main(words) == 0
    return len(counted)


def run_and_die(words: list[str], step: int) -> None:
    left = [step]

    def reached() -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    with steps(reached):
        main(words)


def killed_at(words: list[str], step: int) -> None:
    process = multiprocessing.get_context("fork").Process(target=run_and_die, args=(words, step))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL


def places(number: int, most: int, wanted: Sequence[int] = ()) -> list[int]:
    """Of so many steps those to be killed at; some are wanted among them."""
    every = range(1, number + 1)
    return sorted({*wanted, *random.Random(1).sample(every, min(most, number))})


def names(folder: Path) -> set[str]:
    """Files, but for locks and what was being written: neither is read by anything."""
    return {path.name for path in folder.iterdir() if not path.name.startswith(".")}


def checked_pair(folder: Path) -> str | None:
    """The digest of the estimate of a folder, whose files are whole; None where there is none."""
    assert names(folder) <= {ESTIMATE, REPORT, RESULT}
    if (folder / REPORT).exists():
        text = (folder / REPORT).read_text(encoding="utf-8")
        assert text.rstrip().endswith("</html>")
        assert re.search(r'"estimate-sha256" content="\w{64}"', text)
    if not (folder / ESTIMATE).exists():
        return None
    assert read_estimate(folder / ESTIMATE).parameters.mass > 0.0
    return digest(folder / ESTIMATE)


def words_of_fit(logs: Path, name: str, out: Path) -> list[str]:
    words = ["fit", logs / f"{name}.csv", "--schema", logs / "schema.toml", "-o", out, "--quiet"]
    return [str(word) for word in words]


@pytest.mark.parametrize("before", few_or_many("b", ""), ids=["again", "first"])
@some_or_all
def test_killed_fit_leaves_complete_files(logs, tmp_path, before, most):
    words = words_of_fit(logs, "a", tmp_path / "new")
    if before:
        main(words_of_fit(logs, before, tmp_path / "new"))
        old = digest(tmp_path / "new" / ESTIMATE)
        shutil.copytree(tmp_path / "new", tmp_path / "old")
    renames: list[int] = []
    number = number_of_steps(words, renames)
    new = digest(tmp_path / "new" / ESTIMATE)
    torn = 0
    for step in places(number, most, renames):
        out = tmp_path / str(step)
        if before:
            shutil.copytree(tmp_path / "old", out)
        killed_at(words_of_fit(logs, "a", out), step)
        if not out.exists():
            continue
        found = checked_pair(out)
        assert found in ((old, new) if before else (None, new))
        if found is None:
            assert names(out) <= {REPORT, RESULT}
        else:
            torn += not report_matches(out / ESTIMATE)
        assert main(words_of_fit(logs, "a", out)) == 0
        assert checked_pair(out) == new
        assert report_matches(out / ESTIMATE)
    assert (torn > 0) == bool(before)  # the kills were at the renames too


def words_of_each(logs: Path, out: Path) -> list[str]:
    words = ["fit", "--each", logs / "*.csv", "--schema", logs / "schema.toml", "-o", out]
    return [str(word) for word in (*words, "--quiet", "--workers", "0")]


def table(out: Path) -> pd.DataFrame:
    return pd.read_parquet(out / "table.parquet")


@pytest.mark.slow
@some_or_all
def test_killed_fit_each_is_resumed(logs, tmp_path, most):
    number = number_of_steps(words_of_each(logs, tmp_path / "new"))
    expected = table(tmp_path / "new")
    assert number > 30
    for step in places(number, most):
        out = tmp_path / str(step)
        words = words_of_each(logs, out)
        killed_at(words, step)
        for name in ("a", "b"):
            if (out / name).exists():
                checked_pair(out / name)
        for row in rows(out):  # an estimate is there before its row
            assert digest(out / row["log"] / ESTIMATE) == row["estimate_sha256"]
        if (out / "table.csv").exists():
            pd.testing.assert_frame_equal(
                pd.read_csv(out / "table.csv"), pd.read_csv(tmp_path / "new" / "table.csv")
            )
        assert main(words) == 0
        pd.testing.assert_frame_equal(table(out), expected)
        assert names(out) == names(tmp_path / "new")
        for name in ("a", "b"):
            assert checked_pair(out / name) == digest(tmp_path / "new" / name / ESTIMATE)
            assert report_matches(out / name / ESTIMATE)


def rows(out: Path) -> list[dict[str, Any]]:
    try:
        return read_rows(out / ".fits").to_pylist()
    except StudyError:  # killed before there was any
        return []
