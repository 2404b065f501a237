"""Contact forces by routes that share nothing with the toolkit's regressor."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import identify
from identify.errors import LogError, ModelError
from identify.exchange import SavedBias, SavedEstimate
from identify.inertia import InertialParameters
from identify.logs import log_file, open_log
from identify.logs.log_writing import write_log
from identify.pipeline import compensate_log
from identify.regressors import log_scan
from identify.signals import NoUsableSegment
from identify.spatial import Pose
from tests.close import assert_close
from tests.recordings import ALL, GRAVITY, POSE, Path, record, still_poses, with_wrench
from tests.strategies import random_body

PHI = random_body(np.random.default_rng(0))
BODY = InertialParameters(PHI)
BIAS = np.array([1.0, -2.0, 3.0, 0.1, 0.05, -0.1])
TIME = np.arange(0.0, 8.0, 5e-3)
MOUNT = Pose(Rotation.from_rotvec([0.3, -0.5, 0.8]).as_matrix(), np.array([0.02, -0.03, 0.05]))
ESTIMATE = SavedEstimate(BODY)


def touched(time: np.ndarray) -> np.ndarray:
    """A wrench that comes and goes between 3 and 5 s."""
    bump = np.where((time > 3.0) & (time < 5.0), 0.5 - 0.5 * np.cos(np.pi * (time - 3.0)), 0.0)
    return bump[:, None] * np.array([4.0, -7.0, 12.0, 0.3, -0.2, 0.5])


def contact(recordings) -> np.ndarray:
    chunks = list(recordings)
    return np.vstack([np.hstack([c.signals["force"], c.signals["torque"]]) for c in chunks])


@pytest.mark.parametrize("mounted", [False, True])
def test_free_body_wrench_of_pinocchio_is_subtracted(pinocchio, mounted):
    rng = np.random.default_rng(1)
    inertia = pinocchio.Inertia(BODY.mass, BODY.com, BODY.inertia_about_com)
    model = pinocchio.Model()
    joint = model.addJoint(0, pinocchio.JointModelFreeFlyer(), pinocchio.SE3.Identity(), "free")
    model.appendBodyToJoint(joint, inertia, pinocchio.SE3.Identity())
    gravity = np.array([1.0, -2.0, -9.0])
    model.gravity.linear = gravity
    data = model.createData()
    mount = MOUNT if mounted else None
    compensator = identify.Compensator(ESTIMATE, offset=BIAS, mount=mount, gravity=gravity)
    X_BS = pinocchio.SE3(MOUNT.rotation, MOUNT.position)
    for _ in range(20):
        R = Rotation.random(rng=rng)
        position, twist, acceleration, push = rng.normal(size=(4, 6))
        v, w = twist[:3], twist[3:]
        spatial = acceleration - np.concatenate((np.cross(w, v), np.zeros(3)))
        q = np.concatenate((position[:3], R.as_quat()))
        measured = pinocchio.rnea(model, data, q, twist, spatial) + BIAS
        if mounted:
            measured = X_BS.actInv(pinocchio.Force(measured)).vector
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = R.as_matrix(), position[:3]
        for X_WB in (pose, Pose.of(pose)):
            left = compensator.update(X_WB, twist, acceleration, measured + push)
            assert_close(left, push, 1e-12, scale=np.abs(measured).max())


def test_offset_is_known_for_fitted_log_only():
    one = SavedBias("a" * 64, BIAS, None)
    pose, rest = np.eye(4), np.zeros(6)
    compensator = identify.Compensator(SavedEstimate(BODY, bias=(one,)))
    weight = np.concatenate((-PHI[0] * GRAVITY, np.cross(PHI[1:4], -GRAVITY)))
    assert_close(compensator.update(pose, rest, rest, weight + BIAS), rest, 1e-14, scale=10.0)
    several = SavedEstimate(BODY, bias=(one, SavedBias("b" * 64, BIAS + 1.0, None)))
    for estimate, has in ((several, "2, of several logs"), (ESTIMATE, "none")):
        with pytest.raises(ModelError, match=f"the estimate has {has}; give offset="):
            identify.Compensator(estimate)
    with pytest.raises(ModelError, match=r"twist, acceleration and wrench of six.*\(3,\)"):
        compensator.update(pose, np.zeros(3), rest, rest)


@pytest.mark.parametrize(
    ("wrench", "X_BS", "extra"),
    [
        ("body", None, {}),
        ("world", None, {"twist": "world", "acceleration": "world"}),
        ("sensor", MOUNT, {"kind": "proper"}),
    ],
)
def test_contact_wrench_is_in_axes_of_log(wrench, X_BS, extra):
    free = record(Path.random(1), PHI, TIME, ALL, wrench=wrench, X_BS=X_BS, **extra)
    log = with_wrench(free, touched(TIME))
    zero = compensate_log(log, ESTIMATE, offset=np.zeros(6))
    (chunk,) = zero.chunks()
    assert_close(chunk.time, log.time, 1e-12, scale=1.0)
    assert_close(contact([chunk]), touched(TIME), 1e-10, scale=50.0)
    for name in ALL:
        assert_close(np.abs(chunk.signals[name]), np.abs(log.signals[name]), 1e-12, scale=1.0)


def test_the_offset_is_in_body_axes_and_comes_from_the_estimate_or_from_a_quiet_begin():
    free = record(Path.random(1), PHI, TIME, POSE, bias=BIAS)
    log = with_wrench(free, touched(TIME))
    fitted = SavedEstimate(BODY, bias=(SavedBias(log.sha256, BIAS, None),))
    known = compensate_log(log, fitted)
    assert known.origin == "the estimate's for this log"
    zeroed = compensate_log(log, ESTIMATE, zero_seconds=2.0)
    assert_close(zeroed.offset, BIAS, 1e-4, scale=3.0)
    for found in (known, zeroed):
        (chunk,) = found.chunks()
        assert_close(contact([chunk]), touched(chunk.time), 2e-3, scale=12.0)
        assert 0 < len(log) - len(chunk) < 0.2 * len(log)


def test_a_late_wrench_is_written_without_its_delay():
    path = Path.random(1)
    late = record(path, PHI, TIME, ALL, wrench_delay=0.05)
    earlier = path.wrench(PHI, TIME - 0.05)
    late = with_wrench(late, earlier - path.wrench(PHI, TIME))
    (chunk,) = compensate_log(late, ESTIMATE, offset=np.zeros(6)).chunks()
    assert chunk.wrench_delay == 0.0
    assert np.abs(contact([chunk])).max() < 1e-6
    assert len(chunk) > len(TIME) - 2 * 11 - 100


def test_weight_is_subtracted_from_static_poses():
    log = still_poses(PHI, Rotation.random(12, rng=2), bias=BIAS, wrench="world")
    rotated = Rotation.from_quat(log.signals["quaternion"])
    (chunk,) = compensate_log(log, ESTIMATE, offset=np.zeros(6)).chunks()
    assert chunk.time is None
    left = np.hstack([rotated.inv().apply(chunk.signals[name]) for name in ("force", "torque")])
    assert_close(left, np.tile(BIAS, (12, 1)), 1e-12, scale=10.0)
    with pytest.raises(LogError, match="static poses have no time; give the offset instead"):
        compensate_log(log, ESTIMATE, zero_seconds=1.0)


def test_a_long_log_in_chunks_is_the_log_read_whole(monkeypatch, tmp_path):
    time = np.arange(0.0, 60.0, 1.0 / 60.0)
    log = with_wrench(record(Path.random(1), PHI, time, POSE, bias=BIAS), touched(time))
    schema = write_log(log, tmp_path / "log.csv")
    (whole,) = compensate_log(log, ESTIMATE, offset=BIAS).chunks()
    monkeypatch.setattr(log_file, "MIN_ROWS_IN_CHUNKS", 500)
    monkeypatch.setattr(log_scan, "CHUNK_ROWS", 1200)
    opened = open_log(tmp_path / "log.csv", schema)
    chunks = list(compensate_log(opened, ESTIMATE, offset=BIAS).chunks())
    assert len(chunks) == 3
    assert_close(np.concatenate([c.time for c in chunks]), whole.time, 1e-9, scale=60.0)
    assert_close(contact(chunks), contact([whole]), 1e-7, scale=12.0)
    zeroed = compensate_log(opened, ESTIMATE, zero_seconds=2.5)
    assert_close(zeroed.offset, BIAS, 1e-3, scale=3.0)


def test_uncompensable_logs_are_rejected():
    log = record(Path.random(1), PHI, TIME, POSE)
    with pytest.raises(LogError, match=r"has no sensor offset for it.*--zero-seconds"):
        compensate_log(log, ESTIMATE)
    with pytest.raises(LogError, match=r"no sample can be differentiated in the first 0\.001 s"):
        compensate_log(log, ESTIMATE, zero_seconds=1e-3)
    with pytest.raises(LogError, match="zero_seconds"):
        compensate_log(log, ESTIMATE, zero_seconds=-1.0)
    with pytest.raises(LogError, match="shorter than the 300 s without contact"):
        compensate_log(log, ESTIMATE, zero_seconds=300.0)
    short = record(Path.random(1), PHI, TIME[:12], POSE)
    with pytest.raises(NoUsableSegment, match="no segment is long enough"):
        list(compensate_log(short, ESTIMATE, offset=BIAS).chunks())
    of_two = {"body": "payload", "logs": [{"sha256": log.sha256, "bodies": ["payload", "carrier"]}]}
    with pytest.raises(ModelError, match="the bodies in this log are payload and carrier"):
        compensate_log(log, SavedEstimate(BODY, provenance=of_two), offset=BIAS)
