import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.logs import Recording, read_log
from identify.pipeline import check_logs, fit
from identify.pipeline.misread_error import MisreadLog
from tests.close import assert_close
from tests.diagnosis.logs import moving, time_of

KINDS = {
    "rotation_vector": lambda R: R.as_rotvec(degrees=True),
    "euler": lambda R: R.as_euler("XYZ", degrees=True),
}


def read(angles: np.ndarray, log: Recording, kind: str, unit: str, **of_log: object) -> Recording:
    columns = {"t": time_of(log), "a": angles, "p": log.signals["position"]}
    columns |= {"f": log.signals["force"], "m": log.signals["torque"]}
    three = {name: [f"{name}[{k}]" for k in range(3)] for name in "apfm"}
    pose = {"position": three["p"], kind: three["a"], "angle_unit": unit}
    pose |= {"maps": "body_to_world"} | ({"order": "XYZ"} if kind == "euler" else {})
    wrench = {"force": three["f"], "torque": three["m"], "frame": "body", "acts_on": "body"}
    return read_log(columns, {"log": of_log or {"time": "t"}, "pose": pose, "wrench": wrench})


@pytest.mark.parametrize("kind", KINDS)
def test_degrees_called_radians_are_rejected_with_the_line_to_change(kind):
    log = moving(3, 20.0)
    angles = KINDS[kind](Rotation.from_quat(log.signals["quaternion"]))
    wrong = read(angles, log, kind, "rad")
    (finding,) = wrong.findings
    assert (finding.code, finding.severity) == ("angle_unit", "error")
    assert 'set `angle_unit = "deg"`' in finding.remedy
    assert_close(finding.evidence["largest"], np.abs(angles).max(), 1e-12)
    with pytest.raises(MisreadLog, match="they are in degrees"):
        fit(wrong)
    right = read(angles, log, kind, "deg")
    assert right.findings == ()
    found, known = (Rotation.from_quat(one.signals["quaternion"]) for one in (right, log))
    assert (found.inv() * known).magnitude().max() < 1e-12


def test_degrees_called_radians_are_all_that_a_check_reports():
    log = moving(3, 20.0)
    angles = KINDS["euler"](Rotation.from_quat(log.signals["quaternion"]))
    check = check_logs(read(angles, log, "euler", "rad"))
    assert [f.code for f in check.findings] == ["angle_unit"]
    assert check.verdict.usable == "no"


def test_unwrapped_angles_beyond_one_turn_are_radians():
    log = moving(3, 20.0)
    for turned in (30.0, 400.0):  # slowly, and the spin of a free body
        yaw = np.linspace(0.0, turned, len(log))
        angles = np.stack((0.1 * np.sin(yaw), 0.0 * yaw, yaw), axis=1)
        assert read(angles, log, "euler", "rad").findings == ()


def test_static_poses_in_degrees_declared_as_radians_are_reported():
    log = moving(3, 20.0)
    angles = KINDS["euler"](Rotation.from_quat(log.signals["quaternion"]))
    assert [f.code for f in read(angles, log, "euler", "rad", still=True).findings] == [
        "angle_unit"
    ]
    assert read(np.radians(angles), log, "euler", "rad", still=True).findings == ()
