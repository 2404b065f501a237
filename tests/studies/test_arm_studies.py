import textwrap
from pathlib import Path

import numpy as np
import pytest

from identify.errors import LogError, MissingExtra, StudyError
from identify.studies import log_source, open_results, parse_study, run_study
from identify.studies.perturbations.joint_torques import TorqueGains
from identify.studies.study_log import StudyLog
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
def log(pinocchio) -> StudyLog:
    (item,) = arm_study("payload").logs
    log, truth = item.load()
    assert log.sensor == "joints"
    assert log.robot.joints == log.loaded[0].joint_axes.names
    assert truth.phi[0] == 2.0
    return log


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
    assert (
        "not for this task: the estimator takes the joints"
        in errors(tmp_path / "wrench")["arm_wls"]
    )
    without = {key: value for key, value in FILES.items() if key not in ("loaded", "truth")}
    run_study(arm_study("ols", "payload", logs=without), tmp_path / "arm", workers=0)
    assert "arm without a load have no rows of ten parameters" in errors(tmp_path / "arm")["ols"]
    assert "no log with a load" in errors(tmp_path / "arm")["payload"]


def test_gains_of_torques_are_equal_in_both_logs(log):
    def gains_of(perturbation):
        perturbed = perturbation.apply_to_log(log, np.random.SeedSequence(3))
        before, after = (
            np.array([each.signals["effort"][-1] for each in (*of.unloaded, *of.loaded)])
            for of in (log, perturbed)
        )
        return after / before

    gains = gains_of(TorqueGains(joint=0.02))
    assert_close(gains[0], gains[1])
    assert 0.005 < gains[0].std() < 0.05
    ratio, _ = gains_of(TorqueGains(common=0.05))
    assert abs(ratio[0] - 1.0) > 0.005
    assert np.ptp(ratio) < 1e-12


def test_perturbation_of_another_sensor_names_both(log):
    wrench = {"kind": "synthetic", "number": 1, "duration": 2.0}
    perturbations = ["torque_gains", {"kind": "decimation", "every": 2}]
    study = arm_study("payload", logs=wrench, perturbations=perturbations)
    gains, decimation = study.perturbations
    with pytest.raises(LogError, match="is a perturbation of a wrench sensor, not of the joints"):
        decimation.apply(log, 1)
    with pytest.raises(LogError, match="gains is a perturbation of the joints of an arm, not of a"):
        gains.apply(study.logs[0].load()[0], 1)


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
        assert simulated.unloaded[0].joints.still_below[0] == still_below
        assert truth is not None
    (tmp_path / "simulator.py").write_text("changed = True")
    with pytest.raises(LogError, match="changed after the study was read"):
        first.load()


@pytest.mark.parametrize(("package", "extra"), [("mujoco", "mujoco"), ("pinocchio", "robots")])
def test_missing_package_names_the_extra(package, extra, monkeypatch):
    monkeypatch.setattr(log_source, "find_spec", lambda name: None if name == package else True)
    logs = {"kind": "simulated_arm", "simulator": "../generate.py", "arm": "six_axes"}
    with pytest.raises(MissingExtra, match=rf"inertia-identify\[{extra}\]"):
        arm_study("payload", logs=logs)


@pytest.mark.parametrize("key", ["robot", "schema", "truth", "loaded"])
def test_missing_file_is_an_error_of_the_study(key, pinocchio):
    with pytest.raises(StudyError, match="absent"):
        arm_study("payload", logs=FILES | {key: "absent"})
