import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.errors import LogError
from identify.logs import Recording
from identify.logs.synthetic import synthetic_recording
from identify.spatial.rotations import rotation_angle
from identify.studies.perturbations.defects import (
    Decimation,
    Delay,
    RowDropout,
    SensorOffset,
    SignalSubset,
)
from identify.studies.perturbations.noise import GaussianNoise, Quantisation
from identify.studies.perturbations.perturbation import PerturbationSequence
from identify.studies.study_log import StudyLog
from tests.close import assert_close

PHI = [1.0, 0.01, 0.02, 0.1, 0.02, 0.0, 0.0, 0.02, 0.0, 0.01]


def log(frame: str = "body", include: str = "all", duration: float = 40.0) -> Recording:
    return synthetic_recording(
        PHI,
        rng=np.random.default_rng(1),
        duration=duration,
        rate_hz=50.0,
        include=include,
        frame=frame,
    )


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("name", ["position", "linear_velocity", "angular_velocity", "force"])
def test_noise_has_given_sigma_and_changes_nothing_else(name: str) -> None:
    recording = log()
    noisy = GaussianNoise(**{name: 0.3}).apply(recording, rng())
    added = noisy.signals[name] - recording.signals[name]
    assert_close(np.std(added), 0.3, rtol=0.05)
    assert abs(np.mean(added)) < 0.02
    for other in set(recording.signals) - {name}:
        np.testing.assert_array_equal(noisy.signals[other], recording.signals[other])


def test_noise_of_the_attitude_turns_it_by_its_sigma() -> None:
    recording = log()
    noisy = GaussianNoise(orientation=0.01).apply(recording, rng())
    exact = Rotation.from_quat(recording.signals["quaternion"])
    turned = (exact.inv() * Rotation.from_quat(noisy.signals["quaternion"])).as_rotvec()
    assert_close(np.std(turned), 0.01, rtol=0.05)


def test_noise_on_a_signal_that_is_not_there_is_an_error() -> None:
    with pytest.raises(LogError, match="needs linear_acceleration, which the log does not have"):
        GaussianNoise(linear_acceleration=0.1).apply(log(include="pose"), rng())


@pytest.mark.parametrize("frame", ["body", "world"])
def test_a_bias_is_constant_in_the_axes_of_the_sensor(frame: str) -> None:
    recording = log(frame)
    biased = SensorOffset(force=(1.0, -2.0, 3.0), torque=(0.1, 0.0, -0.2)).apply(recording, rng())
    for name, value in (("force", [1.0, -2.0, 3.0]), ("torque", [0.1, 0.0, -0.2])):
        added = biased.signals[name] - recording.signals[name]
        if frame == "world":
            added = Rotation.from_quat(recording.signals["quaternion"]).inv().apply(added)
        assert_close(added, np.tile(value, (len(added), 1)), rtol=1e-9)


@pytest.mark.parametrize("frame", ["body", "world"])
@pytest.mark.parametrize("rows", [3, -3])
def test_a_delay_of_whole_samples_shifts_the_wrench_in_sensor_axes(frame: str, rows: int) -> None:
    recording = log(frame)
    late = Delay(wrench=rows / 50.0).apply(recording, rng())
    count = len(recording) - abs(rows)
    assert abs(len(late) - count) <= 1  # the last row may fall out by rounding
    count = len(late)
    first = max(rows, 0)
    np.testing.assert_array_equal(
        late.signals["position"], recording.signals["position"][first : first + count]
    )

    def at_sensor(log: Recording, name: str) -> np.ndarray:
        if frame == "body":
            return log.signals[name]
        attitude = Rotation.from_quat(log.signals["quaternion"])
        return attitude.inv().apply(log.signals[name].copy())  # scipy wants it writeable

    for name in ("force", "torque"):
        expected = at_sensor(recording, name)[first - rows : first - rows + count]
        assert_close(at_sensor(late, name), expected, rtol=1e-9)


def test_a_delay_longer_than_the_log_is_an_error() -> None:
    with pytest.raises(LogError, match=r"a delay of 9 s is longer than the log \(1\.98 s\)"):
        Delay(wrench=9.0).apply(log(duration=2.0), rng())


def test_coloured_noise_has_given_sigma_and_time_constant() -> None:
    recording = log(duration=400.0)
    noisy = GaussianNoise(force=0.3, time_constant=0.15).apply(recording, rng())
    added = noisy.signals["force"] - recording.signals["force"]
    assert_close(np.std(added, axis=0), np.full(3, 0.3), 0.05)
    lag = round(0.15 / float(np.median(np.diff(recording.time))))
    kept = np.mean(added[lag:] * added[:-lag]) / np.mean(added**2)
    assert_close(kept, np.exp(-lag * 0.02 / 0.15), 0.1)


def test_relative_noise_is_a_share_of_the_signals_spread() -> None:
    recording = log(duration=40.0)
    noisy = GaussianNoise(torque=0.1, relative=True).apply(recording, rng())
    added = noisy.signals["torque"] - recording.signals["torque"]
    spread = np.std(recording.signals["torque"], axis=0).max()
    assert_close(np.std(added), 0.1 * spread, 0.05)


def test_encoder_quantises_relative_to_random_origin() -> None:
    recording = log(duration=10.0, include="pose")
    coarse = Quantisation(position=1e-3, angle=2e-3).apply(recording, rng())
    moved = coarse.signals["position"] - recording.signals["position"]
    assert 0.45e-3 < np.abs(moved).max() <= 0.5e-3 * (1.0 + 1e-9)
    steps = np.diff(coarse.signals["position"], axis=0) / 1e-3
    assert_close(steps, np.round(steps), 1e-6, scale=1.0)
    assert np.abs(coarse.signals["position"] / 1e-3 % 1.0)[0].max() > 0.01
    turned = rotation_angle(coarse.signals["quaternion"], recording.signals["quaternion"])
    assert 1e-3 < turned.max() < np.sqrt(5.0) * 1e-3


def test_only_keeps_selected_signals() -> None:
    recording = log(duration=2.0)
    poses = SignalSubset(keep=("position", "quaternion")).apply(recording, rng())
    assert set(poses.signals) == {"position", "quaternion", "force", "torque"}
    with pytest.raises(LogError, match="angular_velocity"):
        SignalSubset(keep=("angular_velocity",)).apply(poses, rng())


@pytest.mark.parametrize("burst", [1, 5])
def test_rows_are_lost_at_their_share_and_the_others_keep_their_times(burst: int) -> None:
    recording = log(duration=400.0)
    kept = RowDropout(share=0.2, burst=burst).apply(recording, rng())
    assert_close(1.0 - len(kept) / len(recording), 0.2, rtol=0.1)
    assert kept.time[0] == 0.0
    index = np.round(kept.time * 50.0).astype(int)
    index += np.flatnonzero((recording.signals["force"] == kept.signals["force"][0]).all(axis=1))[0]
    np.testing.assert_array_equal(kept.signals["force"], recording.signals["force"][index])
    gaps = np.diff(index)
    assert (gaps[gaps > 1] - 1).min() >= burst


def test_decimation_keeps_every_so_many_rows() -> None:
    recording = log(duration=2.0)
    thin = Decimation(every=7).apply(recording, rng())
    assert_close(thin.time, recording.time[::7], rtol=1e-12)
    np.testing.assert_array_equal(thin.signals["torque"], recording.signals["torque"][::7])


def test_perturbation_steps_use_independent_random_streams() -> None:
    recording = log(duration=4.0)
    both = PerturbationSequence("both", (GaussianNoise(force=0.1), GaussianNoise(torque=0.1)))
    first = PerturbationSequence("first", (GaussianNoise(force=0.1),))
    (noisy,), (once,) = (each.apply(StudyLog.of(recording), 9).loaded for each in (both, first))
    np.testing.assert_array_equal(noisy.signals["force"], once.signals["force"])
    added = [noisy.signals[name] - recording.signals[name] for name in ("force", "torque")]
    assert np.abs(added[0] - added[1]).min() > 0.0
