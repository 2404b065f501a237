"""An inertial measurement unit alone, and beside a pose that tells the same."""

import re
from dataclasses import replace

import numpy as np
import pytest

import identify
from identify.errors import IdentifyError, LogError
from identify.estimation import NegativeMass, estimate_body
from identify.logs import read_log
from identify.regressors import summarise_log
from identify.signals import Interpretation, prepare
from identify.signals.differentiator import Differentiator
from identify.signals.imu import fuse_imu
from identify.signals.prepared_log import BlockRows
from identify.signals.segment_kinematics import REDUNDANT_COLUMNS, Samples
from identify.signals.transform import block_transform
from identify.signals.white_noise import noise_moments, signal_noise
from identify.spatial.rotations import exp_rotation, rotation_from_quaternion
from tests.close import assert_close
from tests.imu import LEVER, PHI, columns, in_files, schema
from tests.recordings import GRAVITY, WRENCH_ARRAYS, Path, without_effects
from tests.slow import few_or_many

SCALES = np.array([1.3, *[0.08] * 3, *[0.02] * 6])
FITTED = {"fitted": True}


@pytest.fixture
def fit(tmp_path):
    def of(described, *, check=False, **changed):
        log = read_log(*in_files(tmp_path / "log", columns(**changed), described))
        return identify.fit(log, check=check)

    return of


def test_accelerometer_at_lever_gives_acceleration_of_origin():
    """Its place is differentiated twice along its way, in place of the formula of a lever."""
    path, t, step = Path.random(5), np.arange(0.0, 2.0, 0.005), 1e-3

    def place(time):
        return path.position(time) + path.rotation(time).apply(LEVER)

    weights = np.array([1, -27 / 2, 135, -245, 135, -27 / 2, 1]) / 90.0
    steps = zip(weights, range(-3, 4), strict=True)
    acceleration = sum(c * place(t + k * step) for c, k in steps) / step**2
    recording = read_log(
        {
            "time": t,
            "gyro": path.angular_velocity(t),
            "accelerometer": path.rotation(t).inv().apply(acceleration - GRAVITY),
            "force": np.zeros((len(t), 3)),
            "torque": np.zeros((len(t), 3)),
        },
        {
            "log": {"time": "time"},
            "imu": {
                "gyro": "gyro",
                "accelerometer": "accelerometer",
                "mount": {"translation": LEVER},
            },
            "wrench": WRENCH_ARRAYS,
        },
    )
    samples = Samples(recording, recording.signals, Differentiator.design(200.0, 5.0))
    inner = slice(samples.half_window, len(t) - samples.half_window)
    expected = path.motion(t[inner]).proper_acceleration
    assert_close(samples.in_body.proper_acceleration, expected, 1e-6)


@pytest.mark.parametrize(
    ("given", "jitter", "rtol"),
    [
        (schema(mount=FITTED), 0.0, 2e-5),
        (schema(), 0.05, 2e-5),
        (schema(pose=False), 0.0, 3e-6),
        (schema(pose=False), 0.05, 3e-6),
    ],
)
def test_the_body_is_found_but_for_resampling_without_noise(fit, given, jitter, rtol):
    """As well as the stream that gives the rows allows: 100 Hz with the pose, 250 without."""
    result = fit(given, jitter=jitter)
    assert np.abs((result.estimate.parameters.phi - PHI) / SCALES).max() < rtol
    assert set(result.verdict.reasons) <= {"scale_limit"}


@pytest.mark.parametrize("given", [schema(), schema(mount=FITTED), schema(pose=False)])
@pytest.mark.parametrize("seed", few_or_many(1, 2))
def test_the_body_is_inside_its_intervals_with_noise_jitter_and_offsets(fit, given, seed):
    result = fit(given, seed=seed, noise=1.0, jitter=0.05)
    intervals = [result.estimate.intervals[name] for name in list(result.estimate.intervals)[:10]]
    low, high = np.array(intervals).T
    away = np.abs(PHI - 0.5 * (low + high)) / (0.5 * (high - low))
    assert (away < 1.0).sum() >= 8
    assert away.max() < 1.5  # three standard errors
    assert set(result.verdict.reasons) <= {"scale_limit"}
    assert {finding.code for finding in result.findings} <= {
        "clocks_joined",
        "imu_place",
        "scale_limit",
    }


def test_estimated_imu_position_is_reported_with_error(fit):
    result = fit(schema(mount=FITTED), noise=1.0)
    (finding,) = [each for each in result.findings if each.code == "imu_place"]
    assert finding.severity == "info"
    assert np.abs(np.subtract(finding.evidence["place"], LEVER)).max() < 3e-4
    assert "± 0." in finding.text


@pytest.mark.slow
def test_the_error_of_a_place_that_was_found_is_in_the_intervals_of_the_body(tmp_path):
    """As refits of the log say, read for places that are off by it, where it is not little."""
    given, exactly = columns(1, noise=1.0), columns(1)
    for name in ("gyro", "w"):
        given[name] = exactly[name] + 0.3 * (given[name] - exactly[name])
    given["p"] = given["p"] + 2e-3 * np.random.default_rng(101).standard_normal(given["p"].shape)

    def read(mount):
        return without_effects(read_log(*in_files(tmp_path / "log", given, schema(mount=mount))))

    def estimate_at(place):
        log = read({"translation": place.tolist()})
        return estimate_body(
            [summarise_log(log, Interpretation(cutoff_hz=5.0), wide=True).statistics]
        )

    found = identify.fit(read(FITTED), cutoff_hz=5.0)
    imu = found.logs[0].imu
    place = imu.X_BI.position
    exact = estimate_at(place)
    assert_close(found.estimate.parameters.phi, exact.parameters.phi, 1e-12)
    root, step, refits = np.linalg.cholesky(np.array(imu.covariance)[:3, :3]), 1e-3, 0.0
    for error in root.T:
        refit = estimate_at(place + step * error)
        moved = (refit.least_squares.phi - exact.least_squares.phi) / step
        refits = refits + moved**2
    added, own = np.diag(found.estimate.covariance - exact.covariance), np.diag(exact.covariance)
    assert refits[0] > own[0]  # of the mass it is more than all else
    assert_close(added[0], refits[0], 0.1)
    assert_close((added / own).sum(), (refits / own).sum(), 0.2)  # refits have weights of their own
    assert found.estimate.calibration is None  # another log of the unit has another error
    assert_close(found.estimate.repeatability, found.estimate.covariance, 1e-12)
    for name in ("m", "hx"):
        assert (
            found.estimate.variance_shares[name]["motion"]
            > exact.variance_shares[name]["motion"] + 0.01
        )


def test_estimated_imu_positions_scatter_as_predicted(tmp_path):
    away = []
    for seed in range(12):
        log = read_log(*in_files(tmp_path / "log", columns(seed, noise=1.0), schema(mount=FITTED)))
        imu = prepare(log).imu
        root = np.linalg.cholesky(np.array(imu.covariance)[:3, :3])
        away.append(np.linalg.solve(root, imu.X_BI.position - LEVER))
    assert 0.7 < np.sqrt(np.mean(np.square(away))) < 1.35  # 36 numbers: ± 0.12 each way


@pytest.mark.parametrize("stop", [None, 11.0])
def test_the_place_is_found_from_all_chunks_of_a_log_together(tmp_path, monkeypatch, stop):
    """Chunks at rest do not determine it, nor fail."""
    given = columns(2, noise=1.0, seconds=22.0, stop=stop)
    log = read_log(*in_files(tmp_path / "log", given, schema(mount=FITTED)))
    whole = summarise_log(log).imu
    monkeypatch.setattr("identify.regressors.log_scan.CHUNK_ROWS", 1000)
    chunks = summarise_log(log).imu
    sigma = np.sqrt(np.diag(whole.covariance)[:3])
    assert whole.covariance != chunks.covariance
    assert (np.abs(chunks.X_BI.position - whole.X_BI.position) < 0.7 * sigma).all()
    assert_close(np.sqrt(np.diag(chunks.covariance)[:3]), sigma, 0.1)
    assert len(chunks.accelerometer_weights) == len(whole.accelerometer_weights)
    assert [finding.code for finding in chunks.findings] == ["imu_place"]


def test_a_log_at_rest_does_not_place_its_accelerometer(tmp_path, monkeypatch):
    given = columns(2, noise=1.0, seconds=22.0, stop=-2.0)
    log = read_log(*in_files(tmp_path / "log", given, schema(mount=FITTED)))
    for rows in (10**6, 1000):
        monkeypatch.setattr("identify.regressors.log_scan.CHUNK_ROWS", rows)
        with pytest.raises(LogError, match=r"log: \[imu.mount\] fitted: the motion does not det"):
            summarise_log(log)


def test_fused_signal_has_less_noise_than_each_source(tmp_path):
    log = read_log(*in_files(tmp_path / "log", columns(noise=1.0), schema()))
    recording = prepare(log).recording
    differentiator = Differentiator.design(100.0, 5.0)
    signals = recording.signals
    samples = Samples(recording, signals, differentiator)
    vectors = samples.in_body.column_blocks(wide=False)
    z = np.ones((len(vectors[0][1]), 1 + 18 + REDUNDANT_COLUMNS))
    for at, values in vectors:
        z[:, 1 + at.start : 1 + at.stop] = values
    transform = block_transform(len(z), 100.0, 5.0, tapered=True)
    noise = signal_noise(signals, 100.0, differentiator)
    (moments,) = noise_moments(samples, noise, [(transform, slice(0, len(z)))])
    block = BlockRows(transform.apply(z), transform.groups, moments, len(z), 1.0)
    once = fuse_imu(block)
    assert once.rows.shape[1] == 19
    shares = []
    for group, moment in moments.items():
        for own, other in ((slice(0, 3), slice(18, 21)), (slice(3, 6), slice(21, 24))):
            alone = moment[own, own].trace(), moment[other, other].trace()
            together = once.noise[group][own, own].trace()
            if group:  # the constant of a' is that of the pose
                assert together <= min(alone) * (1 + 1e-9)
            shares.append(together / alone[0])
    assert min(shares) < 0.5 < 0.95 < max(shares)  # slow bands are of the pose, fast ones not


def test_a_wide_scan_has_the_same_rows(tmp_path):
    log = read_log(*in_files(tmp_path / "log", columns(noise=1.0), schema(mount=FITTED)))
    narrow, wide = (prepare(log, wide=wide) for wide in (False, True))
    assert wide.blocks[0].rows.shape[1] == wide.rows.shape[1] == 43
    for one, other in zip(narrow.blocks, wide.blocks, strict=True):
        assert_close(other.rows[:, :19], one.rows, 1e-12)
        for group, noise in one.noise.items():
            assert_close(other.noise[group][:18, :18], noise, 1e-9)
    assert_close(wide.rows[:, :19], narrow.rows, 1e-12)


WRONG = [
    ({"gain": -1.0}, {}, r'set `accelerometer = \["-acc\[0\]", "-acc\[1\]", "-acc\[2\]"\]`'),
    ({"gain": 1 / 9.80665}, {}, 'accelerometer contradicts .* set `unit = "g"`'),
    ({}, {"unit": "g"}, r'accelerometer contradicts .* set `unit = "m/s\^2"`'),
    ({}, {"angle_unit": "deg"}, 'gyro contradicts .* set `angle_unit = "rad"`'),
    (
        {"turn": (0.0, 0.0, np.pi / 2)},
        {},
        r'set `gyro = \["-gyro\[1\]", "gyro\[0\]", "gyro\[2\]"\]`',
    ),
    ({"turn": (0.5, 0.3, -0.4)}, {}, r"set `rotation_vector = \[0.\d+, 0.[23]\d*, -0.[34]\d*\]`"),
]


@pytest.mark.parametrize(("read", "said", "remedy"), WRONG)
def test_a_unit_that_contradicts_the_pose_is_rejected_with_the_line_to_change(
    fit, read, said, remedy
):
    with pytest.raises(LogError, match=remedy):
        fit(schema(**said), noise=1.0, **read)


DIFFERENT = [
    ({"turn": (0.05, 0.03, -0.04)}, {}, "imu_axes", r"rotation_vector = \[0.0[45]\d*, 0.0"),
    ({"late": 0.01}, {}, "imu_delay", r"Add -0.0(10|099)"),
    ({"gain": 1.05}, {}, "imu_scale", "Check its unit"),
    ({}, {"mount": {"translation": [0.03, 0.0, 0.0332]}}, "imu_place", r"= \[0.0\d+, -0.0[34]"),
]


@pytest.mark.parametrize(("read", "said", "code", "remedy"), DIFFERENT)
def test_a_difference_beyond_noise_is_a_finding_with_a_remedy(tmp_path, read, said, code, remedy):
    log = read_log(*in_files(tmp_path / "log", columns(noise=1.0, **read), schema(**said)))
    found = [each for each in prepare(log).imu.findings if each.code == code]
    assert found
    assert all(finding.severity == "warning" for finding in found)
    assert any(re.search(remedy, finding.remedy) for finding in found)


@pytest.mark.parametrize(
    ("seed", "noise", "angle"), [(6, 3.0, 1e-3), (9, 20.0, 0.01), (11, 60.0, 0.05)]
)
def test_little_motion_gives_no_imu_findings(tmp_path, seed, noise, angle):
    given = columns(seed, noise=noise, angle=angle, seconds=5.0)
    log = read_log(*in_files(tmp_path / "log", given, schema()))
    prepared = prepare(log)
    assert {finding.code for finding in prepared.recording.findings} == {"clocks_joined"}
    assert not prepared.imu.findings


def test_imu_axes_of_schema_are_rotated_to_body(fit):
    turn = (0.5, 0.3, -0.4)
    result = fit(schema(mount={"translation": LEVER, "rotation_vector": turn}), turn=turn)
    assert np.abs((result.estimate.parameters.phi - PHI) / SCALES).max() < 2e-5


def test_a_reversed_accelerometer_without_a_pose_is_named_with_the_negative_mass(fit):
    with pytest.raises(NegativeMass, match=r'set `accelerometer = \["-acc\[0\]"'):
        fit(schema(pose=False), noise=1.0, gain=-1.0)


@pytest.mark.parametrize(
    ("read", "said", "unit"), [(1 / 9.80665, {}, "g"), (1, {"unit": "g"}, "m/s^2")]
)
def test_gravity_of_another_unit_without_a_pose_is_an_error(tmp_path, read, said, unit):
    given = columns(noise=1.0, gain=read)
    log = read_log(*in_files(tmp_path / "log", given, schema(pose=False, **said)))
    (finding,) = [f for f in prepare(log).imu.findings if f.code == "imu_scale"]
    assert finding.severity == "error"
    assert f'[imu], set `unit = "{unit}"`' in finding.remedy


def test_unidentifiable_imu_position_is_rejected(tmp_path):
    t = np.arange(0.0, 10.0, 0.01)
    pose = {"position": np.sin(t)[:, None] * [0.1, 0.2, 0.0], "quaternion": [[0, 0, 0, 1.0]]}
    up = np.sin(t)[:, None] * [-0.1, -0.2, 0.0] - GRAVITY
    log = read_log(
        {
            "time": t,
            "position": pose["position"],
            "quaternion": np.tile(pose["quaternion"], (len(t), 1)),
            "gyro": np.zeros((len(t), 3)),
            "accelerometer": up,
            "force": 1.3 * up,
            "torque": 0.1 * up,
        },
        {
            "log": {"time": "time"},
            "pose": {"position": "position", "quaternion": "quaternion"},
            "imu": {"gyro": "gyro", "accelerometer": "accelerometer", "mount": FITTED},
            "wrench": WRENCH_ARRAYS,
        },
    )
    with pytest.raises(LogError, match="position of the accelerometer; turn faster"):
        prepare(log)


def test_a_stream_of_the_unit_that_does_not_overlap_is_rejected(tmp_path):
    given = columns()
    given["gyro_t"] += 100.0
    with pytest.raises(IdentifyError, match=r"no time in common.*gyro"):
        read_log(*in_files(tmp_path / "log", given, schema()))


def test_static_poses_take_gravity_from_the_accelerometer():
    rng = np.random.default_rng(2)
    R = rotation_from_quaternion(exp_rotation(rng.standard_normal((12, 3))))
    up = -(R.swapaxes(1, 2) @ GRAVITY)
    log = read_log(
        {
            "accelerometer": up,
            "force": 1.3 * up,
            "torque": np.cross(PHI[1:4], up),
        },
        {
            "log": {"still": True},
            "imu": {"accelerometer": "accelerometer", "mount": {"translation": LEVER}},
            "wrench": WRENCH_ARRAYS,
        },
    )
    estimate = identify.fit(log).estimate
    assert_close(estimate.parameters.phi[:4], PHI[:4], 1e-9)


def test_patched_imu_schema_matches_rereading_log(tmp_path):
    from identify.logs.log_writing import write_log
    from identify.logs.patch import patched

    turn = {"translation": [30, -40, 33], "unit": "mm", "rotation_vector": [0.1, 0.2, 0.3]}
    given = columns(rates=dict.fromkeys(("pose", "gyro", "acc", "wrench"), 100.0))
    given = {k: v[: len(given["wrench_t"])] for k, v in given.items()}
    rows = min(map(len, given.values()))
    table = {k: v[:rows] for k, v in given.items() if not k.endswith("_t")} | {
        "t": given["wrench_t"][:rows]
    }
    said = {k: v for k, v in schema(mount=turn).items() if k != "streams"} | {"log": {"time": "t"}}
    patch = {
        "imu.accelerometer": ["-acc[1]", "acc[0]", "acc[2]"],
        "imu.unit": "g",
        "imu.mount": {"translation": [0.1, 0.0, 0.0], "quaternion": [0.0, 0.0, 0.6, 0.8]},
    }
    log = patched(read_log(table, said), patch)
    imu = said["imu"] | {key.removeprefix("imu."): value for key, value in patch.items()}
    anew = read_log(table, {**said, "imu": imu})
    for name, values in anew.signals.items():
        assert_close(log.signals[name], values, 1e-14)
    assert_close(log.imu.X_BI.matrix, anew.imu.X_BI.matrix, 1e-14)
    write_log(log, tmp_path / "log.parquet")
    again = read_log(tmp_path / "log.parquet", tmp_path / "log.toml")
    for name, values in anew.signals.items():
        assert_close(again.signals[name], values, 1e-14)
    assert_close(again.imu.X_BI.position, [0.1, 0.0, 0.0], 1e-15)
    assert replace(again, imu=None).imu is None
