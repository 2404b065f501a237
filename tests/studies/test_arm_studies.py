import textwrap
from pathlib import Path

import numpy as np
import pytest

from identify.errors import LogError, MissingExtra, StudyError
from identify.studies import arm_sources, open_results, parse_study, run_study
from identify.studies.arm_runs import ArmRuns
from identify.studies.perturbations.joint_torques import TorqueGains
from tests.close import assert_close

ARM = Path(__file__).resolve().parents[2] / "datasets" / "arms" / "seven_axes"
FILES = {
    "kind": "arm",
    "unloaded": "empty.parquet",
    "loaded": "loaded.parquet",
    "schema": "schema.toml",
    "robot": "arm.urdf",
    "truth": "truth.json",
}
LOAD = {"kind": "payload", "interval": "formula"}


def arm_study(*estimators, logs=FILES, folder=ARM, **changes):
    content = {"name": "arm", "seed": 1, "logs": [logs], "estimators": list(estimators)}
    return parse_study(content | changes, folder)


def errors(folder: Path) -> dict[str, str]:
    frame = open_results(folder).frame
    return dict(zip(frame["estimator"], frame["error"], strict=True))


@pytest.fixture(scope="module")
def runs(pinocchio) -> ArmRuns:
    (item,) = arm_study("payload").logs
    loaded, truth = item.load()
    assert isinstance(loaded, ArmRuns)
    assert truth is not None
    assert truth.phi[0] == 2.0
    assert loaded.sha256 == item.data_digest
    return loaded


def test_arm_study_scores_links_and_load(pinocchio, tmp_path):
    study = arm_study("arm_ols", "arm_wls", "arm_psd", LOAD)
    assert run_study(study, tmp_path, workers=0).failed == 0
    rows = open_results(tmp_path).frame.set_index("estimator").to_dict("index")
    ols, wls, psd, load = (rows[each.label] for each in study.estimators)
    assert ols["torque_error"] < wls["torque_error"] < psd["torque_error"] < 0.02
    assert 0.0 < psd["held_out_ratio"] < 0.5
    assert 0.0 < wls["held_out_ratio"] < 0.5
    assert psd["consistent"] == load["consistent"] == 1.0
    assert load["mass_error"] < 3.0  # per cent
    assert load["com_distance"] < 6.0  # mm
    assert np.isnan([ols["consistent"], ols["mass_error"], psd["mass_error"]]).all()


def test_estimators_of_other_logs_give_rows_with_the_reason(pinocchio, tmp_path):
    wrench = arm_study("ols", "arm_wls", logs={"kind": "synthetic", "number": 1, "duration": 3.0})
    run_study(wrench, tmp_path / "wrench", workers=0)
    assert "log of a wrench" in errors(tmp_path / "wrench")["arm_wls"]
    without = {key: value for key, value in FILES.items() if key not in ("loaded", "truth")}
    run_study(arm_study("ols", "payload", logs=without), tmp_path / "arm", workers=0)
    assert "use arm_ols, arm_wls, arm_psd or payload" in errors(tmp_path / "arm")["ols"]
    assert "no log with a load" in errors(tmp_path / "arm")["payload"]


def test_gains_of_torques_are_equal_in_both_logs(runs):
    perturbed = TorqueGains(joint=0.02).apply_to_arm(runs, np.random.default_rng(3))
    gains = [
        after.signals["effort"][-1] / before.signals["effort"][-1]
        for before, after in zip(runs.recordings, perturbed.recordings, strict=True)
    ]
    assert_close(gains[0], gains[1])
    assert 0.005 < gains[0].std() < 0.05
    common = TorqueGains(common=0.05).apply_to_arm(runs, np.random.default_rng(3)).unloaded
    ratio = common.signals["effort"][-1] / runs.unloaded.signals["effort"][-1]
    assert abs(ratio[0] - 1.0) > 0.005
    assert np.ptp(ratio) < 1e-12


def test_perturbations_of_a_wrench_do_not_take_an_arm(runs, pinocchio):
    study = arm_study("payload", perturbations=[{"kind": "noise", "force": 0.1}])
    with pytest.raises(LogError, match="noise is a perturbation of a wrench, not of an arm"):
        study.perturbations[0].apply(runs, 1)


SIMULATOR = """
    import shutil

    def write_arm(arm, seed, folder):
        for file in ("empty.parquet", "loaded.parquet", "schema.toml", "arm.urdf", "truth.json"):
            shutil.copy(f"{arm}/{file}", folder / file)
        with (folder / "schema.toml").open("a") as schema:
            schema.write(f"still_below = 0.0{seed}")
"""


def test_simulator_gets_arm_and_seed(pinocchio, mujoco, tmp_path):
    (tmp_path / "simulator.py").write_text(textwrap.dedent(SIMULATOR))
    logs = {"kind": "simulated_arm", "simulator": "simulator.py", "arm": str(ARM), "number": 2}
    first, second = arm_study("payload", logs=logs, folder=tmp_path).logs
    assert first.identity_digest != second.identity_digest
    for log, still_below in ((first, 0.01), (second, 0.02)):
        simulated, truth = log.load()
        assert isinstance(simulated, ArmRuns)
        assert simulated.unloaded.joints.still_below[0] == still_below
        assert truth is not None
    (tmp_path / "simulator.py").write_text("changed = True")
    with pytest.raises(LogError, match="changed after the study was read"):
        first.load()


@pytest.mark.parametrize(("package", "extra"), [("mujoco", "mujoco"), ("pinocchio", "robots")])
def test_missing_package_names_the_extra(package, extra, monkeypatch):
    monkeypatch.setattr(arm_sources, "find_spec", lambda name: None if name == package else True)
    logs = {"kind": "simulated_arm", "simulator": "../generate.py", "arm": "six_axes"}
    with pytest.raises(MissingExtra, match=rf"inertia-identify\[{extra}\]"):
        arm_study("payload", logs=logs)


@pytest.mark.parametrize("key", ["robot", "schema", "truth", "loaded"])
def test_missing_file_is_an_error_of_the_study(key, pinocchio):
    with pytest.raises(StudyError, match="absent"):
        arm_study("payload", logs=FILES | {key: "absent"})
