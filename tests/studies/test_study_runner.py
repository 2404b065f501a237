import os
import shutil
import signal
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from identify.errors import MissingExtra, StudyError
from identify.studies import (
    Progress,
    RunSummary,
    estimate_time,
    open_results,
    run_study,
)
from identify.studies.dask_cluster import DaskCluster
from identify.studies.executor import LocalProcesses, TimeLimit, run_items
from identify.studies.keys import CodeFingerprint
from identify.studies.store import Store, StoreInfo
from identify.studies.work import DurationModel, group_by_noisy_log, make_batches
from tests.studies.hostile import Hangs, KillsItsWorker, Leaves, Raises, Warns, sleep_all
from tests.studies.studies import assert_same_rows, quick, rows, with_estimators


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rows of `quick()`, which is not to be changed."""
    folder = tmp_path_factory.mktemp("whole")
    summary = run_study(quick(), folder, workers=0)
    assert (summary.total, summary.done, summary.failed) == (28, 28, 0)
    return folder


@pytest.fixture
def out(whole: Path, tmp_path: Path) -> Path:
    """A copy of them."""
    return Path(shutil.copytree(whole, tmp_path / "out"))


def test_a_run_writes_a_row_for_every_trial(whole: Path) -> None:
    study = quick()
    frame = open_results(whole).frame
    assert set(frame["key"]) == {trial.key for trial in study.trials()}
    assert frame["mass_error"].notna().all()
    assert set(frame["noise_force"].dropna()) == {0.05, 0.2}
    assert set(frame["log_duration"]) == {4.0}
    assert frame.groupby("estimator").size().to_dict() == {"ols": 14, "wls": 14}


def test_a_grid_that_grew_adds_what_is_missing(tmp_path: Path, out: Path) -> None:
    larger = quick(seeds=5, estimators=["wls", "ols"])
    summary = run_study(larger, out, workers=0)
    assert (summary.already_done, summary.done) == (28, 2 * 2 * 2 * 2)
    run_study(larger, tmp_path / "at_once", workers=0)
    assert_same_rows(out, tmp_path / "at_once")


@pytest.mark.slow
def test_local_processes_give_bitwise_identical_rows(tmp_path: Path, whole: Path) -> None:
    run_study(quick(), tmp_path, workers=2)
    assert_same_rows(whole, tmp_path)


def test_other_code_adds_rows_beside_the_old(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = open_results(out).code
    other = CodeFingerprint("0" * 64, ())
    for module in ("study", "runner", "work", "results", "store"):
        monkeypatch.setattr(f"identify.studies.{module}.code_fingerprint", lambda: other)
    with pytest.raises(
        StudyError, match=f"no results of this code, {other.short}, but of {mine} \\(28"
    ):
        open_results(out)
    run_study(quick(), out, workers=0)
    assert len(open_results(out).frame) == len(open_results(out, code=mine).frame) == 28
    assert len(open_results(out, code="all").frame) == 56


def test_a_worker_with_other_code_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "identify.studies.work.code_fingerprint", lambda: CodeFingerprint("0" * 64, ())
    )
    with pytest.raises(StudyError, match=r"a worker has code .* and the runner"):
        run_study(quick(), tmp_path, workers=0)


def test_a_failing_trial_is_a_row_with_its_error_and_warnings_are_kept_once_each(
    out: Path,
) -> None:
    study = with_estimators(quick(), bad=Raises(), loud=Warns())
    summary = run_study(study, out, workers=0)
    assert (summary.already_done, summary.done, summary.failed) == (28, 28, 14)
    frame = open_results(out).frame.set_index("estimator")
    assert set(frame.loc["bad", "error_type"]) == {"ProblemError"}
    assert set(frame.loc["bad", "error"]) == {"there is no estimate"}
    assert frame.loc["bad", "mass_error"].isna().all()
    assert frame.loc["ols", "error_type"].isna().all()
    assert set(frame.loc["loud", "warnings"]) == {"RuntimeWarning: nearly singular"}
    assert run_study(study, out, workers=0).done == 0
    assert run_study(study, out, workers=0, retry_failed=True).done == 14


def test_only_some_trials(tmp_path: Path) -> None:
    only = ("estimator=ols", "perturbation=noise*0.2)", "log=*/001")
    summary = run_study(quick(), tmp_path, workers=0, only=only)
    assert summary.total == summary.done == 3
    assert set(rows(tmp_path)["perturbation"]) == {"noise(force=0.2)"}
    assert run_study(quick(), tmp_path, workers=0).already_done == 3


def test_progress_counts_committed_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Progress] = []
    added: list[int] = []
    add = Store.add

    def counted(store: Store, rows: list) -> None:
        add(store, rows)
        added.append(len(rows))

    def look(progress: Progress) -> None:
        assert progress.done == sum(added)
        seen.append(progress)

    monkeypatch.setattr(Store, "add", counted)
    run_study(quick(), tmp_path, workers=0, progress=look)
    assert seen[-1].done == 28
    assert seen[0] == RunSummary(total=28, already_done=0)
    assert seen[-1].unfinished == seen[-1].remaining_seconds == 0


@pytest.mark.slow
def test_trial_that_kills_worker_becomes_error_row(tmp_path: Path) -> None:
    """Two processes; the killer dies with others in flight, then alone, and is given up."""
    study = with_estimators(quick(seeds=1), killer=KillsItsWorker(tally=str(tmp_path / "tally")))
    study = replace(study, logs=study.logs[:1], perturbations=study.perturbations[:1])
    summary = run_study(study, tmp_path / "out", workers=2)
    assert (summary.done, summary.failed) == (3, 1)
    frame = open_results(tmp_path / "out").frame.set_index("estimator")
    assert frame.loc["killer", "error_type"] == "WorkerDied"
    assert frame.loc[["ols", "wls"], "error"].isna().all()


@pytest.mark.slow
def test_workers_that_cannot_start_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("identify.studies.executor._initialise_worker", sys.exit)
    with pytest.raises(StudyError, match="workers die when they start"):
        run_study(quick(), tmp_path / "out", workers=1)


@pytest.mark.slow
def test_idle_dead_process_is_replaced_without_failed_trial() -> None:
    with LocalProcesses(1) as executor:
        first = executor.submit(os.getpid).result(60)
        os.kill(first, signal.SIGKILL)
        assert executor.submit(os.getpid).result(60) != first


@pytest.mark.slow
def test_trial_over_time_limit_becomes_error_row(tmp_path: Path) -> None:
    """The limit is of each trial: those in one batch with it are run again, and kept."""
    hangs = Hangs(tally=str(tmp_path / "tally"))
    study = with_estimators(replace(quick(seeds=1), timeout=2.0), hangs=hangs)
    study = replace(study, logs=study.logs[:1], perturbations=study.perturbations[:1])
    summary = run_study(study, tmp_path / "out", workers=2)
    assert (summary.done, summary.failed) == (3, 1)
    frame = open_results(tmp_path / "out").frame.set_index("estimator")
    assert frame.loc["hangs", "error_type"] == "TimeLimit"
    assert frame.loc["hangs", "error"] == "took longer than its time limit, 2 s"
    assert frame.loc[["ols", "wls"], "error"].isna().all()
    assert (tmp_path / "tally").read_text() == "slept\n"
    assert run_study(study, tmp_path / "out", workers=2).done == 0


@pytest.mark.slow
def test_batch_over_time_limit_is_split() -> None:
    with LocalProcesses(1, time_limit=1.0) as executor:
        items = run_items(
            executor, sleep_all, [(0.0, 3600.0, 0.1)], lambda item: [(part,) for part in item]
        )
        done = dict(item for item in items if item is not None)
    assert set(done) == {(0.0,), (3600.0,), (0.1,)}
    assert done[0.0,] == 0.0
    assert done[0.1,] == 0.1
    assert isinstance(done[3600.0,], TimeLimit)


def test_a_time_limit_needs_a_process(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"\(timeout = 3\) needs a worker process.* use 1 worker"):
        run_study(quick(timeout=3.0), tmp_path, workers=0)


@pytest.mark.slow
def test_trial_that_exits_process_is_failed_trial(tmp_path: Path) -> None:
    ways = ("SystemExit", "GeneratorExit", "KeyboardInterrupt")
    study = quick(seeds=1, perturbations=["none"], estimators=["ols"])
    study = with_estimators(study, **{by: Leaves(by=by) for by in ways})
    summary = run_study(study, tmp_path, workers=1)
    assert (summary.done, summary.failed) == (8, 6)
    frame = open_results(tmp_path).frame.set_index("estimator")
    for by in ways:
        assert set(frame.loc[by, "error_type"]) == {by}


def test_interrupt_in_this_process_is_keyboard_interrupt(tmp_path: Path) -> None:
    study = with_estimators(quick(), leaves=Leaves(by="KeyboardInterrupt"))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
    try:
        with pytest.raises(KeyboardInterrupt):
            run_study(study, tmp_path, workers=0)
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_absent_cluster_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(MissingExtra, match=r"inertia-identify\[cluster\]"):
        DaskCluster("tcp://127.0.0.1:1")


def test_batches_are_about_as_long_as_they_should_be() -> None:
    study = quick(seeds=50)
    pace = DurationModel()
    pace.update(
        [
            {"estimator": "ols", "seconds": 0.01, "prepare_seconds": 0.03},
            {"estimator": "wls", "seconds": 0.01, "prepare_seconds": 0.03},
        ]
    )
    found = list(make_batches(group_by_noisy_log(study.trials()), pace))
    assert {len(batch) for batch in found[:-1]} == {10}  # 5 × (0.03 + 2 × 0.01) s = 0.25 s
    assert [c.key for batch in found for c in batch] == [c.key for c in study.trials()]


def test_the_estimate_of_time_counts_every_trial() -> None:
    study = with_estimators(quick(), bad=Raises())
    estimate = estimate_time(study, workers=2)
    assert estimate.trials == 42
    assert set(estimate.estimator_seconds) == {"ols", "wls", "bad"}
    parts = 14 * (estimate.prepare_seconds + sum(estimate.estimator_seconds.values()))
    assert np.isclose(estimate.cpu_seconds, parts)
    assert estimate.seconds > 0.5 * parts
    assert "bad on synthetic" in estimate.failed[0]
    assert estimate_time(study, workers=2, only=["estimator=ols"]).trials == 14


def test_study_without_rows_shows_no_rows_of_another(out: Path) -> None:
    with Store(out, StoreInfo("other")) as store:
        store.mark_current(trial.key for trial in quick(seed=8).trials())
    with pytest.raises(StudyError, match="no results of the present version of the code"):
        open_results(out)
