import errno
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import make_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from identify import Recording
from identify.commands import fit_each, output
from identify.commands.command import UsageError
from identify.commands.fit_each import BatchFitSettings
from identify.commands.log_jobs import find_logs, log_names
from identify.commands.main import main
from identify.exchange import SavedEstimate
from identify.inertia import InertialParameters
from identify.logs import Noise, load_schema, synthetic_recording
from identify.logs.log_writing import write_log
from identify.pipeline import FitSettings
from identify.reporting import comparison_page as page
from identify.studies.keys import CodeFingerprint
from identify.studies.store import FolderLock
from tests.commands.calling import Cli, Outcome

PHI = InertialParameters.from_com(1.2, [0.01, -0.02, 0.05], np.diag([3e-3, 2e-3, 4e-3])).phi
NOISE = Noise(force=0.1, torque=0.01, position=1e-4, orientation=1e-3)


def recording(seed: int, mass: float = 1.0) -> Recording:
    rng = np.random.default_rng(seed)
    return synthetic_recording(mass * PHI, rng=rng, duration=3.0, rate_hz=50.0, noise=NOISE)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    for name, seed, mass in (("a", 1, 1.0), ("b", 2, 1.0), ("c", 3, 1.0), ("d", 4, 1.1)):
        write_log(recording(seed, mass), folder / f"{name}.parquet", folder / "schema.toml")
    (folder / "cut.parquet").write_bytes((folder / "a.parquet").read_bytes()[:4000])
    return folder


@pytest.fixture(scope="module")
def fitted(made, tmp_path_factory) -> Path:
    """The results of all of them, in a folder that is not to be changed."""
    out = tmp_path_factory.mktemp("fitted") / "out"
    words = ["fit", "--each", made / "*.parquet", "--schema", made / "schema.toml", "-o", out]
    assert main([*map(str, words), "--workers", "0", "--no-report", "--quiet"]) == 2
    return out


@pytest.fixture(autouse=True)
def _undrawn(monkeypatch):
    monkeypatch.setattr(page, "forest_columns", lambda comparison: ())


@pytest.fixture
def runs(made, tmp_path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "runs"))


@pytest.fixture
def out(fitted, tmp_path) -> Path:
    return Path(shutil.copytree(fitted, tmp_path / "out"))


def each(cli: Cli, runs: Path, out: Path, *more: object, pattern: str = "*.parquet") -> Outcome:
    words = ["fit", "--each", runs / pattern, "--schema", runs / "schema.toml", "-o", out]
    return cli(*words, "--workers", "0", "--no-report", *more)


def stamps(out: Path) -> dict[str, int]:
    return {path.parent.name: path.stat().st_mtime_ns for path in out.glob("*/estimate.json")}


def test_each_log_has_a_folder_and_a_row(fitted, made):
    assert sorted(stamps(fitted)) == ["a", "b", "c", "d"]
    frame = pd.read_parquet(fitted / "table.parquet").set_index("log")
    assert frame.index.tolist() == ["a", "b", "c", "cut", "d"]
    assert frame["status"].tolist() == ["fitted"] * 3 + ["failed", "fitted"]
    good = frame.drop(index="cut")
    assert set(good["usable"]) == {"yes"}
    assert set(good["rows"]) == {150}
    assert good["error"].isna().tolist() == [True] * 4
    for name, value in (("m", 1.2), ("cx", 0.01), ("Iczz", 4e-3)):
        same = good.drop(index="d")
        low, here, high = (same[f"{name}{end}"].to_numpy() for end in ("_low", "", "_high"))
        assert np.all(low < here)
        assert np.all(here < high)
        assert np.all(np.abs(here - value) < high - low)
    assert frame["differs"].tolist() == [False] * 4 + [True]
    assert frame.loc["cut", "error_type"] == "LogError"
    assert "cut.parquet: cannot be read as a Parquet file" in frame.loc["cut", "error"]
    table = pd.read_csv(fitted / "table.csv").set_index("log")
    assert table["m"].tolist() == pytest.approx(frame["m"].tolist(), nan_ok=True, rel=1e-12)
    page = (fitted / "comparison.html").read_text(encoding="utf-8")
    assert 'href="a/estimate.json"' in page
    assert "1 of 4 estimates differ from the rest" in page


def test_pages_of_the_table_have_checksums(fitted):
    content = bytearray((fitted / "table.parquet").read_bytes())
    first = pq.read_metadata(fitted / "table.parquet").row_group(0).column(0)
    content[first.dictionary_page_offset + first.total_compressed_size - 1] ^= 1
    with pytest.raises(OSError, match=r"CRC|checksum"):
        pq.read_table(pa.BufferReader(bytes(content)), page_checksum_verification=True)


def test_second_run_fits_missing_or_changed_logs(cli, runs, out):
    before = stamps(out)
    again = each(cli, runs, out)
    assert (again.status, stamps(out)) == (2, before)
    assert again.err.startswith("5 of 5 logs, 5 from earlier runs, 1 failed\n")
    (out / "a" / "estimate.json").unlink()
    (out / "b" / "estimate.json").write_text("{}")
    write_log(recording(7), runs / "c.parquet", runs / "schema.toml")
    assert each(cli, runs, out).status == 2
    changed = {name for name, stamp in stamps(out).items() if stamp != before.get(name)}
    assert changed == {"a", "b", "c"}


def test_other_settings_fit_again_and_go_to_each_log(cli, runs, out):
    before = stamps(out)
    words = ("--mass", "1.2", "--need", "com 0.001 mm", "--simultaneous")
    done = each(cli, runs, out, *words, pattern="[ab].parquet")
    assert done.status == 4  # the need is not met
    options = json.loads((out / "a" / "estimate.json").read_text())["provenance"]["options"]
    assert options["simultaneous"] is True
    assert {name for name, stamp in stamps(out).items() if stamp != before[name]} == {"a", "b"}
    frame = pd.read_parquet(out / "table.parquet")
    assert frame["m"].tolist() == [1.2, 1.2]
    assert set(frame["usable"]) == {"no"}
    assert "1.2 given" in done.out


def batch(made: Path, settings: FitSettings | None = None) -> BatchFitSettings:
    schema = load_schema(made / "schema.toml")
    return BatchFitSettings(
        schema, "wrench", settings or FitSettings(), None, made, report=True, invocation=""
    )


def test_a_setting_that_is_added_is_in_the_key_of_a_log(made):
    keys = set()
    for value in (1, 2):
        field = [("added", int, value)]
        more = make_dataclass("More", field, bases=(FitSettings,), frozen=True, slots=True)
        keys.add(batch(made, more()).key())
    assert len(keys) == 2


def test_what_else_decides_an_estimate_is_in_the_key_of_a_log(made, monkeypatch):
    first = batch(made)
    world = first.schema.world.model_copy(update={"gravity": (0.0, 0.0, 9.81)})
    others = [
        replace(first, schema=first.schema.model_copy(update={"world": world})),
        replace(first, truth=InertialParameters(PHI)),
        replace(first, truth=InertialParameters(2.0 * PHI)),
    ]
    assert len({fit.key() for fit in (first, *others)}) == 4
    before = first.key()
    assert before == replace(first, output=made / "out", report=False, invocation="again").key()
    monkeypatch.setattr(fit_each, "code_fingerprint", lambda: CodeFingerprint("other", ()))
    assert before != first.key()


def test_printed_table_fits_80_columns_and_states_agreement(cli, runs, out):
    done = each(cli, runs, out)
    lines = done.out.splitlines()
    assert max(len(line) for line in lines if not line.startswith("/")) <= 80
    assert any(line.startswith("d* ") and "1.3" in line for line in lines)
    assert "1 of 4 estimates differ from the rest. These differ from the rest: d (m" in done.out
    assert "Failed: cut: " in done.out
    assert done.err.endswith("identify: error: 1 of 5 logs failed; see table.csv\n")
    agree = each(cli, runs, out, pattern="[abc].parquet")
    assert agree.status == 0
    assert "The 3 estimates agree." in agree.out


def test_failed_log_removes_previous_estimate(cli, runs, out):
    (runs / "a.parquet").write_bytes(b"PAR1")
    assert each(cli, runs, out, pattern="[ab].parquet").status == 2
    assert not (out / "a" / "estimate.json").exists()
    assert pd.read_csv(out / "table.csv")["status"].tolist() == ["failed", "fitted"]


def test_disk_error_aborts_run_without_row(cli, runs, tmp_path, monkeypatch):
    out, result = tmp_path / "out", fit_each.fit(recording(1))
    monkeypatch.setattr(fit_each, "fit", lambda *given, **more: result)

    for code in ("ENOSPC", "EACCES"):
        number = getattr(errno, code)
        with monkeypatch.context() as broken:
            refused = OSError(number, os.strerror(number))
            broken.setattr(output, "write_files", fails_with(refused))
            done = each(cli, runs, out, pattern="[ab].parquet")
        assert done.status == 2
        assert done.err.endswith(f"{out / 'a'}: cannot be written to: {os.strerror(number)}\n")
        assert not (out / "table.csv").exists()
    after = each(cli, runs, out, pattern="[ab].parquet")
    assert after.status == 0
    assert after.err.startswith("2 of 2 logs, 0 failed")
    assert pd.read_csv(out / "table.csv")["status"].tolist() == ["fitted"] * 2


@pytest.mark.slow
def test_write_error_in_worker_aborts_run(cli, runs, out):
    shutil.rmtree(out / "a")
    (out / "a").write_text("a file where the folder of a log would be")
    words = ["fit", "--each", runs / "*.parquet", "--schema", runs / "schema.toml", "-o", out]
    done = cli(*words, "--workers", 1, "--no-report")
    assert done.status == 2
    assert done.err.endswith(f"{out / 'a'}: cannot be written to: File exists\n")


def test_a_log_that_cannot_be_read_is_its_row(cli, runs, out, monkeypatch):
    def refuses(path: Path, schema: object, sensor: str) -> Recording:
        if path.name == "a.parquet":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return read_log(path, schema, sensor)  # type: ignore[arg-type]

    read_log = fit_each.read_log
    monkeypatch.setattr(fit_each, "read_log", refuses)
    (out / "a" / "estimate.json").unlink()
    done = each(cli, runs, out, pattern="[ab].parquet")
    assert done.status == 1
    assert "Permission denied" in " ".join(done.out.split())
    assert pd.read_csv(out / "table.csv")["status"].tolist() == ["failed", "fitted"]


def fails_with(error: Exception) -> Callable[..., None]:
    def fail(*_given: object, **_more: object) -> None:
        raise error

    return fail


def test_folders_of_logs_that_are_not_among_these_are_named(cli, runs, out):
    assert "earlier runs" not in each(cli, runs, out).out
    done = each(cli, runs, out, pattern="[ab].parquet")
    said = "Folders of earlier runs whose logs are not among these: c, d."
    assert said in " ".join(done.out.split())
    assert said in (out / "comparison.html").read_text()
    assert (out / "c" / "estimate.json").exists()
    assert pd.read_csv(out / "table.csv")["log"].tolist() == ["a", "b"]


@contextmanager
def taken(folder: Path) -> Iterator[None]:
    """As by another process that writes to the folder."""
    lock = FolderLock(folder)
    try:
        yield
    finally:
        lock.close()


def test_fit_each_is_rejected_while_another_runs(cli, runs, out):
    with taken(out / ".fits"):
        done = each(cli, runs, out)
    assert done.status == 2
    assert f"{out}: process {os.getpid()} on" in done.err
    assert "is writing to it; wait for it, or choose another folder with -o" in done.err
    assert each(cli, runs, out, pattern="a.parquet").status == 0


def test_a_table_is_of_the_estimates_that_were_fitted(cli, runs, out, monkeypatch):
    """Something else wrote into the folder of a log meanwhile."""

    def meddled(*given: Any) -> None:
        run_work(*given)
        (out / "a" / "estimate.json").write_text("{}")

    run_work = fit_each.run_work
    monkeypatch.setattr(fit_each, "run_work", meddled)
    done = each(cli, runs, out)
    assert done.status == 2
    assert "estimate.json: changed during the run; run the same command again" in done.err


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights")
def test_fit_replaces_symbolic_link_without_following_it(cli, runs, tmp_path):
    (tmp_path / "target").write_text("mine")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "estimate.json").symlink_to(tmp_path / "target")
    words = ["fit", runs / "a.parquet", "--schema", runs / "schema.toml", "-o", tmp_path / "out"]
    assert cli(*words, "--no-report").status == 0
    assert (tmp_path / "target").read_text() == "mine"
    assert not (tmp_path / "out" / "estimate.json").is_symlink()


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (MemoryError(), 3, "out of memory"),
        (ZeroDivisionError("of its own"), 1, "this is a bug (ZeroDivisionError: of its own)"),
    ],
)
def test_failed_logs_are_tried_again_where_that_is_asked_or_memory_lacked(
    cli, runs, tmp_path, monkeypatch, error, status, said
):
    with monkeypatch.context() as broken:
        broken.setattr(fit_each, "fit", fails_with(error))
        first = each(cli, runs, tmp_path / "out", pattern="a.parquet")
    assert first.status == status
    assert said in " ".join(first.out.split())
    if status == 1:
        assert each(cli, runs, tmp_path / "out", pattern="a.parquet").status == 1
    words = ["--retry-failed"] if status == 1 else []
    assert each(cli, runs, tmp_path / "out", *words, pattern="a.parquet").status == 0


def test_unusable_estimate_is_not_compared(cli, runs, out, monkeypatch):
    read = fit_each.read_estimate

    def forbidden(path: Path) -> SavedEstimate:
        saved = read(path)
        if path.parent.name != "b" or saved.verdict is None:
            return saved
        return replace(saved, verdict=replace(saved.verdict, usable="no", reasons=("drift",)))

    monkeypatch.setattr(fit_each, "read_estimate", forbidden)
    done = each(cli, runs, out, pattern="[ab].parquet")
    assert done.status == 4
    assert "Undecided." in done.out
    assert "b is not compared" in " ".join(done.out.split())
    assert done.err.endswith("identify: error: 1 of 2 estimates must not be used\n")
    frame = pd.read_parquet(out / "table.parquet")
    assert frame["compared"].tolist() == [True, False]
    assert frame["findings"].tolist()[1] == "drift"
    assert each(cli, runs, out).status == 2


def test_duplicate_logs_count_once(cli, runs, out):
    shutil.copy(runs / "a.parquet", runs / "again.parquet")
    done = each(cli, runs, out, pattern="[ac]*.parquet")
    assert done.status == 2
    assert "3 of 3 logs, 3 from earlier runs, 1 failed" in done.err
    assert "1 of 3 logs failed" in done.err  # as many as there are to fit
    assert "Not fitted: again: the same data as a" in done.out
    status = pd.read_csv(out / "table.csv")["status"].tolist()
    assert status == ["fitted", "duplicate", "fitted", "failed"]
    assert not (out / "again").exists()


def test_reports_are_written_unless_switched_off(cli, runs, out, monkeypatch):
    monkeypatch.setattr("identify.reporting.wrench_page.SECTIONS", ())  # they take seconds
    words = ["fit", "--each", runs / "a.parquet", "--schema", runs / "schema.toml", "-o", out]
    assert cli(*words, "--workers", "0", "--quiet").status == 0
    assert (out / "a" / "report.html").exists()
    assert 'href="a/report.html"' in (out / "comparison.html").read_text(encoding="utf-8")
    before = stamps(out)
    assert cli(*words, "--workers", "0", "--quiet").status == 0
    assert stamps(out) == before


def test_a_log_over_its_time_is_a_row(cli, runs, tmp_path):
    words = ["fit", "--each", runs / "a.parquet", "--schema", runs / "schema.toml"]
    more = ["--workers", "1", "--timeout", "0.01", "--no-report"]
    done = cli(*words, "-o", tmp_path / "out", *more)
    assert done.status == 3
    assert "Failed: a: took longer than its time limit, 0.01 s" in done.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing/*.csv"], r"fit --each: nothing/\*.csv: no file matches the pattern"),
        (["{runs}/e.parquet"], r"e.parquet: no such file; did you mean"),
        (["{runs}/empty"], r"empty: no logs in this folder \(.csv, "),
        (["{runs}/schema.toml"], r"schema.toml: no logs found"),
        (["{runs}/a.parquet", "--unloaded", "x"], "--unloaded fits logs jointly"),
        (["{runs}/a.parquet", "--shared-bias"], "--shared-bias fits logs jointly"),
        (["{runs}/a.parquet", "--timeout", "0"], "--timeout S: expected a positive, finite number"),
        (
            ["{runs}/a.parquet", "-o", "{runs}"],
            r"runs: contains a.parquet, b.parquet, c.parquet and",
        ),
    ],
)
def test_invalid_fit_each_arguments_are_rejected(cli, runs, tmp_path, words, said):
    (runs / "empty").mkdir()
    words = [word.format(runs=runs) for word in words]
    words += ["-o", tmp_path / "new"] * ("-o" not in words)
    done = cli("fit", "--each", *words, "--schema", runs / "schema.toml")
    assert done.status == 2
    assert re.search(said, done.message)
    assert not (tmp_path / "new").exists()


def test_options_of_many_logs_go_with_each(cli, runs, tmp_path):
    words = ["fit", runs / "a.parquet", "--schema", runs / "schema.toml", "-o", tmp_path / "new"]
    assert "--workers requires --each" in cli(*words, "--workers", "2").message


def test_a_folder_and_a_deep_pattern_are_searched_but_not_the_results(runs, tmp_path):
    def found(*words: str, output: Path = tmp_path / "new") -> list[str]:
        jobs, _ = find_logs(
            [runs / word for word in words],
            load_schema(runs / "schema.toml"),
            runs / "schema.toml",
            output,
            "asked",
        )
        return [job.path.relative_to(runs).as_posix() for job in jobs]

    deep = runs / "deep" / "er"
    deep.mkdir(parents=True)
    shutil.move(runs / "a.parquet", deep / "a.parquet")
    assert found("**/[ab].parquet") == ["b.parquet", "deep/er/a.parquet"]
    assert found("**/[ab].parquet", output=runs / "deep") == ["b.parquet"]
    assert found("deep/er", "*", "b.parquet") == [
        *(f"{name}.parquet" for name in ("b", "c", "cut", "d")),
        "deep/er/a.parquet",
    ]


def test_symbolic_link_loops_terminate(runs, tmp_path):
    """A log that many paths lead to is one log."""
    (runs / "deep").mkdir()
    shutil.move(runs / "a.parquet", runs / "deep" / "a.parquet")
    (runs / "deep" / "up").symlink_to("..")
    (runs / "self.parquet").symlink_to("self.parquet")
    schema = runs / "schema.toml"
    for pattern in ("**/*.parquet", "deep/**/*.parquet"):
        jobs, _ = find_logs([runs / pattern], load_schema(schema), schema, tmp_path / "o", "asked")
        found = {job.path.name: job.files for job in jobs}
        assert {"a.parquet", "b.parquet", "self.parquet"} <= found.keys()
        assert len(jobs) == len(found)
        assert not found["self.parquet"]


def test_hostile_log_names_are_escaped(cli, runs, tmp_path):
    """Of a terminal, a spreadsheet or a page; all but one have its data, and are not fitted."""
    folder = tmp_path / "named"
    folder.mkdir()
    shutil.copy(runs / "schema.toml", folder)
    for name in ("=1+1", "\x1b[31mred", "safe\u202egpj", "[red]x", "<b>"):
        shutil.copy(runs / "a.parquet", folder / f"{name}.parquet")
    words = ("--schema", folder / "schema.toml", "-o", tmp_path / "o", "--no-report")
    status, out, err = cli("fit", "--each", folder, *words, "--workers", 0)
    assert status == 0, err
    table = pd.read_csv(tmp_path / "o" / "table.csv")
    shown = {"'=1+1", r"\x1b[31mred", r"safe\u202egpj", "[red]x", "<b>"}
    assert set(table["log"]) == shown
    page = (tmp_path / "o" / "comparison.html").read_text(encoding="utf-8")
    for text in (out, err, page, (tmp_path / "o" / "table.csv").read_text(encoding="utf-8")):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "[red]x" in out
    assert "&lt;b&gt;" in page


def test_schema_with_files_makes_each_folder_a_log(tmp_path):
    schema = tmp_path / "schema.toml"
    write_log(recording(1), tmp_path / "log.csv", schema)
    files = '\n[streams.pose]\nfile = "pose.csv"\n[streams.wrench]\nfile = "wrench.csv"\n'
    schema.write_text(schema.read_text() + files)
    for name in ("one", "two"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        for file in ("pose", "wrench"):
            (tmp_path / "runs" / name / f"{file}.csv").write_text(f"{name} {file}\n")
    (tmp_path / "runs" / "notes.txt").touch()
    words = [tmp_path / "runs" / "*"]
    jobs, same = find_logs(words, load_schema(schema), schema, tmp_path / "out", "asked")
    assert [job.name for job in jobs] == ["one", "two"]
    assert [len(job.files) for job in jobs] == [2, 2]
    assert same == {}


def test_log_names_are_unique():
    def names(*paths: str) -> list[str]:
        return log_names([Path(path) for path in paths])

    assert names("r/a.csv", "r/b.csv.gz") == ["a", "b"]
    assert names("r/a.csv", "r/a.parquet") == ["a.csv", "a.parquet"]
    assert names("r/1/log.csv", "r/2/log.csv", "r/2/x.csv") == ["1-log", "2-log", "2-x"]
    assert names("r/table.csv.csv", "r/.hidden.csv") == ["table.csv.csv", "hidden"]
    for same in (("r/A.csv", "r/a.csv"), ("r/a/b-c.csv", "r/a-b/c.csv")):
        with pytest.raises(UsageError, match="another log has the same output folder OUT/"):
            names(*same)
