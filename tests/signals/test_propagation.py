import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.signals.differentiator import Differentiator
from identify.signals.imu_calibration import ImuCalibration
from identify.signals.noise_propagation import noise_jacobian
from identify.signals.segment_kinematics import Samples
from identify.signals.transform import UNSMOOTHED
from identify.spatial import Pose
from tests.close import assert_close
from tests.recordings import POSE, Path, Sines, record
from tests.strategies import random_body

PHI = random_body(np.random.default_rng(0))
PATH = Path.random(3)
RATE = 200.0
TIME = np.arange(0.0, 1.2, 1.0 / RATE)
DIFFERENTIATOR = Differentiator.design(RATE, 5.0)
X_BS = Pose.from_quaternion([0.2, -0.5, 0.1, 0.8], [0.02, -0.05, 0.08])
TWIST = ("linear_velocity", "angular_velocity")
ACCELERATIONS = ("linear_acceleration", "angular_acceleration")
COLUMNS = {
    "a'": slice(0, 3),
    "alpha": slice(3, 6),
    "products": slice(6, 12),
    "force": slice(12, 15),
    "torque": slice(15, 18),
    "a' of the rest": slice(18, 21),
    "alpha of the rest": slice(21, 24),
    "rates of both": slice(24, 30),
}


def columns_of(recording, imu=None, *, wide=False):
    samples = Samples(recording, recording.signals, DIFFERENTIATOR, imu, wide=wide)
    width = samples.in_body.width(wide=wide)
    columns = np.zeros((len(recording) - 2 * samples.half_window, width))
    for where, values in samples.in_body.column_blocks(wide=wide):
        columns[:, where] = values
    return samples, columns


def test_segment_arrays_are_released():
    # A long log is read in chunks: what waited for the garbage collector would add up.
    gc.collect()
    gc.disable()
    try:
        samples, _ = columns_of(record(PATH, PHI, TIME, POSE))
        left = weakref.ref(samples)
        del samples
        assert left() is None
    finally:
        gc.enable()


def slow_noise(name: str, seed: int) -> Sines:
    """Slow, so that what its derivatives are does not depend on the filter."""
    return Sines.random(np.random.default_rng([seed, len(name), ord(name[-1])]), 1.0, 1.0)


def disturbed(recording, name: str, noise: Sines, size: float, time=TIME):
    """The recording with a little added to one signal; of the attitude, turned a little in B."""
    signal, added = recording.signals[name], size * noise.at(time)
    if name == "quaternion":
        turned = (Rotation.from_quat(signal) * Rotation.from_rotvec(added)).as_quat()
        signal = turned * np.sign(np.sum(turned * signal, axis=1, keepdims=True))
    else:
        signal = signal + added
    return replace(recording, signals={**recording.signals, name: signal})


def assert_propagated(recording, rtol: float, imu=None) -> None:
    samples, columns = columns_of(recording, imu)
    at = np.array([0, 17, 60, len(columns) - 1])
    ways, J = noise_jacobian(samples, at)
    width = 30 if samples.in_body.has_redundant_imu else 18
    assert J.shape == (4, width, 3 * len(ways))
    time = TIME[samples.half_window :][at]
    reached = {name for name, _ in ways}
    for name in recording.signals:
        noise = slow_noise(name, 0)
        step = 1e-4
        above, below = (
            columns_of(disturbed(recording, name, noise, s), imu)[1] for s in (step, -step)
        )
        found = (above - below)[at] / (2.0 * step)
        expected = np.zeros((4, width))
        for number, (signal, order) in enumerate(ways):
            if signal == name:
                n = noise.at(time, 0 if order == UNSMOOTHED else order)
                expected += np.einsum("tij,tj->ti", J[:, :, 3 * number :][..., :3], n)
        if name not in reached:
            assert_close(found, np.zeros((4, width)), 1e-6, scale=1.0)
        for columns in COLUMNS.values():
            scale = np.abs(expected[:, columns]).max(initial=1.0)
            assert_close(found[:, columns], expected[:, columns], rtol, scale=scale)


CASES = [
    (POSE, ["classical"]),
    ((*POSE, "angular_velocity"), ["classical"]),
    ((*POSE, "linear_velocity"), ["classical"]),
    ((*POSE, *TWIST), ["classical"]),
    ((*POSE, "linear_acceleration"), ["classical", "spatial", "proper"]),
    ((*POSE, "angular_acceleration"), ["classical"]),
    ((*POSE, "angular_velocity", *ACCELERATIONS), ["classical", "spatial", "proper"]),
    ((*POSE, *TWIST, "linear_acceleration"), ["spatial"]),
    (("quaternion", "linear_velocity"), ["classical"]),
    (("quaternion", "linear_velocity", "linear_acceleration"), ["spatial"]),
    (("quaternion", "linear_acceleration"), ["classical", "proper"]),
    (("quaternion", "angular_velocity", "linear_acceleration"), ["classical", "proper"]),
    ((*POSE, *TWIST, *ACCELERATIONS), ["classical", "spatial", "proper"]),
]


@pytest.mark.parametrize("frame", ["body", "world"])
@pytest.mark.parametrize(
    ("give", "kind"), [(give, kind) for give, kinds in CASES for kind in kinds]
)
def test_noise_reaches_the_columns_as_finite_differences_do(give, kind, frame):
    recording = record(PATH, PHI, TIME, give, twist=frame, acceleration=frame, kind=kind)
    everything = {"linear_acceleration", *TWIST, *ACCELERATIONS} <= set(give)
    assert_propagated(recording, 1e-6 if everything else 1e-3)


@pytest.mark.parametrize(("twist", "acceleration"), [("world", "body"), ("body", "world")])
@pytest.mark.parametrize("kind", ["classical", "spatial", "proper"])
def test_a_twist_and_an_acceleration_in_different_axes(twist, acceleration, kind):
    give = (*POSE, *TWIST, *ACCELERATIONS)
    recording = record(PATH, PHI, TIME, give, twist=twist, acceleration=acceleration, kind=kind)
    assert_propagated(recording, 1e-6)


@pytest.mark.parametrize("frame", ["body", "world", "sensor"])
@pytest.mark.parametrize("give", [POSE, (*POSE, *TWIST, *ACCELERATIONS)])
def test_noise_of_the_wrench_in_any_axes(give, frame):
    recording = record(PATH, PHI, TIME, give, wrench=frame, X_BS=X_BS)
    assert_propagated(recording, 1e-3 if give == POSE else 1e-6)


@pytest.mark.parametrize(
    "give",
    [("angular_velocity", "linear_acceleration"), ("angular_velocity", *ACCELERATIONS)],
)
def test_an_inertial_unit_without_attitude(give):
    recording = record(PATH, PHI, TIME, give, kind="proper")
    assert_propagated(recording, 1e-3)


@pytest.mark.parametrize(
    ("give", "sensors"),
    [
        ((), ("gyro", "accelerometer")),
        (("linear_velocity",), ("gyro", "accelerometer")),  # nothing tells where it points
        (("linear_acceleration",), ("gyro",)),
        (("quaternion",), ("accelerometer",)),
        (POSE, ("gyro", "accelerometer")),  # everything is told twice
        ((*POSE, *TWIST), ("gyro", "accelerometer")),
    ],
)
def test_a_unit_with_a_lever(give, sensors):
    recording = record(PATH, PHI, TIME, give, kind="proper")
    motion = PATH.motion(TIME)
    read = {"gyro": motion.angular_velocity, "accelerometer": motion.proper_acceleration}
    read = {name: read[name] for name in sensors}
    imu = ImuCalibration(Pose(np.eye(3), np.array([0.3, -0.4, 0.2])), gyro_offset=(0.1, -0.2, 0.3))
    recording = replace(recording, signals={**recording.signals, **read})
    assert_propagated(recording, 1e-3, imu)


def test_derivative_paths_are_unique_and_use_given_signals():
    recording = record(PATH, PHI, TIME, (*POSE, "angular_velocity"), wrench="world")
    ways, _ = noise_jacobian(columns_of(recording)[0], np.array([3]))
    assert set(ways) == {
        ("position", 2),
        ("quaternion", 0),
        ("angular_velocity", 1),
        ("angular_velocity", UNSMOOTHED),
        ("force", UNSMOOTHED),
        ("torque", UNSMOOTHED),
    }
    assert len(ways) == 6
