import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from identify.errors import LogError
from identify.logs import read_log
from identify.logs.log_writing import write_chunks, write_log
from identify.logs.recording import recording_rows
from identify.logs.synthetic import (
    MotionSamples,
    Noise,
    random_motion,
    synthetic_recording,
    wrench_on_body,
)
from identify.spatial import Pose
from identify.spatial.rotations import (
    log_rotation,
    quaternion_conjugate,
    quaternion_product,
    rotate,
    rotate_back,
    rotation_from_quaternion,
)
from tests.recordings import synthetic_still_recording

PHI = np.array([1.3, 0.05, -0.1, 0.2, 0.06, 0.004, -0.01, 0.05, 0.02, 0.03])
GRAVITY = np.array([0.1, -0.2, -9.81])
seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def rng():
    return np.random.default_rng(4)


def central(at, t, step=1e-3):
    """A derivative by central differences of sixth order."""
    weights = {1: 45.0, 2: -9.0, 3: 1.0}
    terms = [w * (at(t + k * step) - at(t - k * step)) for k, w in weights.items()]
    return sum(terms) / (60.0 * step)


@settings(max_examples=6, deadline=None)
@given(seeds)
def test_rates_are_the_derivatives_of_the_pose(rng):
    motion = random_motion(rng, bandwidth_hz=1.5)
    t = np.linspace(0.3, 9.7, 40)
    samples = motion.at(t)
    attitude = quaternion_conjugate(samples.quaternion)

    def turned(s):  # R(t)ᵀ R(s) as a rotation vector: its derivative at s = t is w_WB_B
        return log_rotation(quaternion_product(attitude, motion.at(s).quaternion))

    for exact, numeric in (
        (samples.velocity, central(lambda s: motion.at(s).position, t)),
        (samples.acceleration, central(lambda s: motion.at(s).velocity, t)),
        (samples.angular_velocity, central(turned, t)),
        (samples.angular_acceleration, central(lambda s: motion.at(s).angular_velocity, t)),
    ):
        np.testing.assert_allclose(numeric, exact, rtol=0, atol=1e-9 * np.abs(exact).max())


def energy(motion, t):
    s = motion.at(t)
    m, h = PHI[0], PHI[1:4]
    I = np.array([PHI[[4, 5, 6]], PHI[[5, 7, 8]], PHI[[6, 8, 9]]])
    R = rotation_from_quaternion(s.quaternion)
    v, w = rotate_back(R, s.velocity), s.angular_velocity
    kinetic = 0.5 * m * np.sum(v * v, -1) + np.sum(v * np.cross(w, h), -1)
    kinetic += 0.5 * np.sum(w * (w @ I), -1)
    return kinetic - (m * s.position + rotate(R, h)) @ GRAVITY


@settings(max_examples=6, deadline=None)
@given(seeds)
def test_the_power_of_the_wrench_is_the_rate_of_the_energy(rng):
    motion = random_motion(rng)
    t = np.linspace(0.3, 9.7, 40)
    s = motion.at(t)
    wrench = wrench_on_body(PHI, s, GRAVITY)
    v = rotate_back(rotation_from_quaternion(s.quaternion), s.velocity)
    power = np.sum(wrench * np.hstack((v, s.angular_velocity)), axis=-1)
    numeric = central(lambda t: energy(motion, t), t)
    np.testing.assert_allclose(numeric, power, rtol=0, atol=1e-9 * np.abs(power).max())


def test_the_wrench_of_a_body_at_rest_is_its_weight():
    still = np.zeros((1, 3))
    turn = np.array([[np.sin(0.3), 0.0, 0.0, np.cos(0.3)]])
    s = MotionSamples(np.zeros(1), still, turn, still, still, still, still)
    up = rotate_back(rotation_from_quaternion(turn), np.array([0, 0, 9.81]))
    wrench = wrench_on_body(PHI, s, np.array([0, 0, -9.81]))
    np.testing.assert_allclose(wrench[:, :3], PHI[0] * up, rtol=1e-15)
    np.testing.assert_allclose(wrench[:, 3:], np.cross(PHI[1:4], up), rtol=1e-15)


def test_motion_is_bounded_and_band_limited():
    motion = random_motion(rng(), bandwidth_hz=2.0, reach=0.2, turn=0.7)
    s = motion.at(np.arange(4000) / 100)
    assert np.abs(s.position).max() <= 0.2
    assert np.abs(motion.angles.derivative(s.time, 0)).max() <= 0.7
    spectrum = np.abs(np.fft.rfft(s.position[:, 0]))
    assert spectrum[np.fft.rfftfreq(4000, 0.01) > 2.01].max() < 1e-9 * spectrum.max()


def test_world_axes_are_the_same_log():
    body = synthetic_recording(PHI, rng=rng(), include="all")
    world = synthetic_recording(PHI, rng=rng(), include="all", frame="world")
    R = rotation_from_quaternion(body.signals["quaternion"])
    assert set(world.frames.values()) == {"world"}
    for name, signal in body.signals.items():
        turned = signal if name in ("position", "quaternion") else rotate(R, signal)
        np.testing.assert_allclose(world.signals[name], turned, rtol=0, atol=1e-14)


def test_noise_and_bias_match_settings():
    noise = Noise(0.001, 0.002, 0.01, 0.02, 0.1, 0.2, 0.3, 0.03)
    bias = np.arange(1.0, 7.0)
    options = {"include": "all", "duration": 60.0, "gravity": GRAVITY}
    exact = synthetic_recording(PHI, rng=rng(), **options)
    noisy = synthetic_recording(PHI, rng=rng(), noise=noise, bias=bias, **options)
    for name, signal in exact.signals.items():
        if name != "quaternion":
            error = noisy.signals[name] - signal
            offset = {"force": bias[:3], "torque": bias[3:]}.get(name, np.zeros(3))
            np.testing.assert_allclose((error - offset).std(), getattr(noise, name), rtol=0.05)
            np.testing.assert_allclose(error.mean(0), offset, atol=0.06 * getattr(noise, name))
    turned = quaternion_product(
        quaternion_conjugate(exact.signals["quaternion"]), noisy.signals["quaternion"]
    )
    np.testing.assert_allclose(log_rotation(turned).std(), noise.orientation, rtol=0.05)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("frame", ["body", "world"])
@pytest.mark.parametrize("include", ["pose", "all"])
def test_written_log_is_read_back(tmp_path, suffix, frame, include):
    recording = synthetic_recording(PHI, rng=rng(), duration=0.5, include=include, frame=frame)
    assert_read_back(recording, tmp_path / f"log{suffix}")


def test_static_poses_and_mounted_sensors_are_read_back(tmp_path):
    recording = synthetic_still_recording(PHI, rng=rng(), noise=Noise(position=0.1))
    assert_read_back(recording, tmp_path / "still.csv")
    X_BS = Pose.from_quaternion([0.5, 0.5, -0.5, 0.5], [0.1, 0.2, 0.3])
    mounted = type(recording)(
        name="mounted",
        time=None,
        signals=recording.signals,
        frames={"wrench": "sensor"},
        gravity=recording.gravity,
        sources=(),
        sha256="",
        rows=12,
        X_BS=X_BS,
    )
    assert_read_back(mounted, tmp_path / "mounted.csv")


def assert_read_back(recording, path):
    schema = write_log(recording, path)
    again = read_log(path, schema)
    assert schema == path.with_suffix(".toml")
    assert sorted(p.name for p in path.parent.iterdir() if p.name.startswith(".")) == []
    assert set(again.signals) == set(recording.signals)
    assert dict(again.frames) == dict(recording.frames)
    for name, signal in recording.signals.items():
        np.testing.assert_allclose(
            again.signals[name], signal, rtol=0, atol=1e-15 * (name == "quaternion")
        )
    if recording.time is not None:
        np.testing.assert_array_equal(again.time, recording.time)
    if recording.X_BS is not None:
        assert again.X_BS is not None
        np.testing.assert_allclose(again.X_BS.matrix, recording.X_BS.matrix, atol=1e-15)
    np.testing.assert_array_equal(again.gravity, recording.gravity)


def test_unknown_suffixes_are_rejected(tmp_path):
    recording = synthetic_still_recording(PHI, rng=rng())
    with pytest.raises(ValueError, match=r"expected a name that ends in \.csv or \.parquet"):
        write_log(recording, tmp_path / "log.xlsx")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_chunks_are_written_atomically(tmp_path, suffix):
    recording = synthetic_recording(PHI, rng=rng(), duration=5.0, include="all")
    halves = [recording_rows(recording, 0, 300), recording_rows(recording, 300, len(recording))]
    path, whole = tmp_path / f"log{suffix}", tmp_path / f"whole{suffix}"
    schema = path.with_suffix(".toml")
    assert write_chunks(iter(halves), path, schema, ["of two halves"]) == len(recording)
    write_log(recording, whole)
    assert schema.read_text().startswith("# of two halves\n[log]\n")
    ours, theirs = read_log(path, schema), read_log(whole, whole.with_suffix(".toml"))
    for name, values in theirs.signals.items():
        np.testing.assert_array_equal(ours.signals[name], values)
    before = {each: each.read_bytes() for each in tmp_path.iterdir()}

    def broken():
        yield halves[1]
        raise LogError("the rest cannot be read")

    for target in (path, tmp_path / f"new{suffix}"):
        with pytest.raises(LogError, match="the rest cannot be read"):
            write_chunks(broken(), target, schema)
        with pytest.raises(LogError, match="there are no rows to write"):
            write_chunks([], target, schema)
    assert {each: each.read_bytes() for each in tmp_path.iterdir()} == before


def test_a_synthetic_log_is_not_longer_than_memory() -> None:
    with pytest.raises(LogError, match=r"duration = 1e\+06 at rate_hz = 200 makes 2e\+08 rows"):
        synthetic_recording(np.ones(10), rng=np.random.default_rng(0), duration=1e6)
