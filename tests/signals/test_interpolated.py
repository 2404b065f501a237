import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.interpolate import PchipInterpolator
from scipy.spatial.transform import Rotation

from identify.signals.interpolated_rows import slower_samples
from tests.chords import between, straight
from tests.close import assert_close
from tests.recordings import Path, Sines
from tests.strategies import seeds

SECONDS = 12.0


def rows(rate_hz: float) -> np.ndarray:
    return np.arange(0.0, SECONDS, 1.0 / rate_hz)


def clock_of(rate_hz: float, uneven: float, rng: np.random.Generator) -> np.ndarray:
    """Times of samples from before the first row to after the last."""
    even = np.arange(rng.uniform(-2.0, -1.0) / rate_hz, SECONDS + 2.0 / rate_hz, 1.0 / rate_hz)
    return even + uneven / rate_hz * rng.uniform(-0.5, 0.5, len(even))


@given(st.floats(3.0, 60.0), st.sampled_from([0.0, 0.5]), st.sampled_from([5e-5, 0.0]), seeds())
def test_samples_are_found_between_rows_wherever_they_were_taken(apart, uneven, noise, seed):
    apart += 8.0 * uneven  # three rows at the least
    rng = np.random.default_rng(seed)
    time = rows(500.0)
    at = clock_of(500.0 / apart, uneven, rng)
    values = Sines.random(rng, 0.3, 1.0).at(at) + noise * rng.normal(size=(len(at), 3))
    found = slower_samples(straight(values, at, time), time)
    assert found is not None
    inside = (at > time[1]) & (at < time[-2])  # between rows, with a row beyond on either side
    times = found.times(time)
    assert abs(len(times) - inside.sum()) <= 1
    nearest = np.abs(times[:, None] - at).argmin(axis=1)
    assert_close(times[1:-1], at[nearest][1:-1], 1e-8)
    taken = found.signal_at_samples(straight(values, at, time))
    np.testing.assert_allclose(taken[1:-1], values[nearest][1:-1], atol=1e-9)


@pytest.mark.parametrize("kind", ["slerp", "components", "rotation_vector"])
@pytest.mark.parametrize(("pose_hz", "log_hz"), [(125.0, 500.0), (30.0, 1000.0), (100.0, 500.0)])
def test_rounded_columns_of_a_pose(kind, pose_hz, log_hz):
    """Values at samples are those of the motion to about their rounding."""
    path, time = Path.random(6, fastest_hz=1.0), rows(log_hz)
    at = clock_of(pose_hz, 0.0, np.random.default_rng(2))
    pose = between(path.position(at), path.rotation(at), at, time, kind)
    pose = {name: np.round(values, 6) for name, values in pose.items()}
    found = slower_samples(pose["position"], time)
    assert found is not None
    assert found.shared_by(pose["quaternion"])
    times = found.times(time)
    assert 1.0 / np.median(np.diff(times)) == pytest.approx(pose_hz, rel=1e-4)
    np.testing.assert_allclose(
        found.signal_at_samples(pose["position"]), path.position(times), atol=3e-6
    )
    turned = path.rotation(times).inv() * Rotation.from_quat(
        found.signal_at_samples(pose["quaternion"])
    )
    assert turned.magnitude().max() < 2e-5


def test_samples_by_uneven_stamps_and_at_rest():
    """Rows stamped unevenly and interpolated at their stamps; samples go on where nothing moves."""
    rng = np.random.default_rng(5)
    time = np.cumsum(2e-3 * rng.uniform(0.7, 1.3, 6000))
    at = np.arange(0.0, time[-1] + 0.01, 0.01)
    moving = np.clip(np.sin(0.5 * at), 0.0, 0.8)[:, None] * [0.3, -0.2, 0.1]
    found = slower_samples(straight(moving, at, time), time)
    assert found is not None
    times = found.times(time)
    assert np.abs(np.diff(times) - 0.01).max() < 1e-6
    assert_close(
        found.signal_at_samples(straight(moving, at, time)), straight(moving, at, times), 1e-9
    )


def test_another_signal_of_other_samples_is_not_shared():
    rng = np.random.default_rng(6)
    time = rows(1000.0)
    ten, seven = (np.arange(0.0, SECONDS + 1.0, k) for k in (0.01, 0.007))
    one, other = (straight(rng.normal(size=(len(at), 3)), at, time) for at in (ten, seven))
    found = slower_samples(one, time)
    assert found is not None
    assert found.shared_by(2.0 * one)
    assert not found.shared_by(other)
    assert not found.shared_by(rng.normal(size=one.shape))
    assert not found.shared_by(np.sin(time)[:, None] * [1.0, 2.0, 3.0])


def motions(kind: str, time: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A clean motion, 3 components."""
    sines = Sines.random(rng, 0.3, 1.5)
    if kind == "still":
        return np.tile(rng.uniform(-1.0, 1.0, 3), (len(time), 1))
    if kind == "slow":
        return 3e-3 * Sines.random(rng, 1.0, 0.05).at(time)
    if kind == "constant speed":
        return np.outer(time, rng.uniform(-0.2, 0.2, 3))
    if kind == "rests":
        return np.clip(2.0 * sines.at(time), -0.15, 0.15)
    if kind == "one axis":
        return sines.at(time) * [0.0, 1.0, 0.0]
    if kind == "waypoints":
        at = np.arange(0.0, SECONDS + 0.5, 0.5)
        return PchipInterpolator(at, rng.uniform(-0.2, 0.2, (len(at), 3)))(time)
    if kind == "constant acceleration":
        turns = np.sign(np.sin(2.0 * np.pi * rng.uniform(0.2, 1.0, 3) * time[:, None]))
        return np.cumsum(np.cumsum(turns, axis=0), axis=0) * (time[1] - time[0]) ** 2
    return sines.at(time)


KINDS = (
    *("moving", "still", "slow", "constant speed", "rests", "one axis", "waypoints"),
    "constant acceleration",
)


@pytest.mark.parametrize("kind", KINDS)
def test_smooth_signals_are_not_called_interpolated(kind):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        time = rows(rng.choice([100.0, 250.0, 500.0, 1000.0]))
        values = motions(kind, time, rng)
        noise, decimals = rng.choice([0.0, 1e-6, 2e-5, 1e-3]), rng.choice([3, 4, 6, 15])
        values = np.round(values + noise * rng.normal(size=values.shape), decimals)
        q = Rotation.from_rotvec(values).as_quat()
        stamps = time + rng.choice([0.0, 0.2]) * (time[1] - time[0]) * rng.uniform(size=len(time))
        assert slower_samples(values, stamps) is None
        assert slower_samples(q, stamps) is None


@pytest.mark.parametrize("kept", [15, 20, 40])
def test_pieces_between_gaps_are_not_called_interpolated(kept):
    """At a gap the slope changes as at a sample; the motion in the pieces is smooth."""
    time = rows(100.0)
    values = Sines.random(np.random.default_rng(kept), 0.3, 1.0).at(time)
    pieces = np.arange(len(time)) % 45 < kept
    assert slower_samples(values[pieces], time[pieces]) is None
    at = np.arange(0.0, SECONDS + 0.1, 0.08)
    chords = straight(Sines.random(np.random.default_rng(1), 0.3, 1.0).at(at), at, time)
    few = (time < 4.0) | (time > 4.5)
    assert slower_samples(chords[few], time[few]) is not None


def test_short_or_sparse_logs_are_not_called_interpolated():
    time = rows(500.0)
    at = np.arange(0.0, SECONDS + 1.0, 0.01)
    walk = np.cumsum(np.random.default_rng(0).normal(size=(len(at), 3)), axis=0)
    chords = straight(walk, at, time)
    assert slower_samples(chords[:60], time[:60]) is None
    assert slower_samples(chords[::5], time[::5]) is None
    assert slower_samples(np.repeat(walk, 5, axis=0)[: len(time)], time) is None  # held
