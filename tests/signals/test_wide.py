import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.signals import prepare
from identify.signals.differentiator import Differentiator
from identify.signals.noise_propagation import noise_jacobian
from identify.signals.transform import CONSTANT_GROUP, UNSMOOTHED
from identify.spatial import Pose
from tests.close import assert_close
from tests.recordings import ALL, POSE, Path, record, still_poses
from tests.signals.test_noise import noisy
from tests.signals.test_propagation import columns_of, disturbed, slow_noise
from tests.strategies import random_body

PHI = random_body(np.random.default_rng(0))
PATH = Path.random(3)
RATE = 200.0
TIME = np.arange(0.0, 6.0, 1.0 / RATE)
X_BS = Pose.from_quaternion([0.2, -0.5, 0.1, 0.8], [0.02, -0.05, 0.08])
FRAMES = [("body", None), ("sensor", X_BS), ("world", None)]
RT, DW, DDW, RP = slice(19, 28), slice(28, 34), slice(34, 40), slice(40, 43)


def true_rates(time: np.ndarray) -> np.ndarray:
    """[ẇ, ẅ] by differences of the wrench itself, far closer than samples."""
    step = 1e-3
    before, at, after = (PATH.wrench(PHI, time + shift) for shift in (-step, 0.0, step))
    return np.hstack(((after - before) / (2.0 * step), (after - 2.0 * at + before) / step**2))


def mean_of_ten(values: np.ndarray) -> np.ndarray:
    return values.reshape(-1, 10, values.shape[1]).mean(axis=1)


@pytest.mark.parametrize(("frame", "pose"), FRAMES)
@pytest.mark.parametrize("give", [POSE, ALL])
def test_wide_columns_are_attitude_and_derivatives_of_the_wrench_in_body_axes(give, frame, pose):
    log = record(PATH, PHI, TIME, give, wrench=frame, X_BS=pose)
    prepared = prepare(log, 5.0, wide=True)
    differentiator = Differentiator.design(RATE, 5.0)
    assert prepared.rows.shape[1] == 43
    (block,) = prepared.blocks
    lost = differentiator.half_window
    assert block.samples == len(TIME) - 2 * lost
    # The series is the mean over stretches of ten samples.
    time = TIME[lost : lost + 10 * len(prepared.rows)]
    turned = PATH.rotation(time).inv().as_matrix().reshape(-1, 9)
    assert_close(prepared.rows[:, RT], mean_of_ten(turned), 1e-6)
    position = np.einsum("nij,nj->ni", turned.reshape(-1, 3, 3), PATH.position(time))
    if "position" in give:
        assert_close(prepared.rows[:, RP], mean_of_ten(position), 1e-5)
    else:
        assert not prepared.rows[:, RP].any()
    rates = mean_of_ten(true_rates(time))
    assert_close(prepared.rows[:, DW], rates[:, :6], 1e-4)
    assert_close(prepared.rows[:, DDW], rates[:, 6:], 3e-4)
    assert_close(prepared.wrench, prepared.rows[:, 13:19], 0.0)


@pytest.mark.parametrize("give", [POSE, ("quaternion", "angular_velocity", "linear_acceleration")])
def test_narrow_columns_do_not_depend_on_wide_ones(give):
    noise = {"force": 0.1, "torque": 0.01}
    log = record(PATH, PHI, TIME, give, noise=noise)
    wide, narrow = (prepare(log, 5.0, wide=wide) for wide in (True, False))
    assert_close(wide.rows[:, :19], narrow.rows, 0.0)
    for block, same in zip(wide.blocks + wide.folds, narrow.blocks + narrow.folds, strict=True):
        assert_close(block.rows[:, :19], same.rows, 1e-13)
        for group, moment in block.noise.items():
            assert_close(moment[:18, :18], same.noise[group], 1e-13)


def test_wide_columns_lose_block_edges_of_fully_measured_log():
    """The wrench is differentiated then, and without a taper edges would be in slow rows."""
    log = record(PATH, PHI, TIME, ALL)
    half_window = Differentiator.design(RATE, 5.0).half_window
    assert prepare(log, 5.0).blocks[0].samples == len(TIME)
    (block,) = prepare(log, 5.0, wide=True).blocks
    assert block.samples == len(TIME) - 2 * half_window
    assert block.effective_fraction < 1.0


def test_static_poses_have_an_attitude_and_a_wrench_that_does_not_change():
    rotations = Rotation.random(6, random_state=0)
    log = prepare(still_poses(PHI, rotations), wide=True)
    assert_close(log.rows[:, RT], rotations.inv().as_matrix().reshape(6, 9), 1e-13)
    assert not log.rows[:, 28:].any()
    assert_close(log.rows[:, :19], prepare(still_poses(PHI, rotations)).rows, 0.0)


@pytest.mark.parametrize(("frame", "pose"), FRAMES)
@pytest.mark.parametrize(
    "give", [POSE, ("quaternion", "angular_velocity", "linear_acceleration"), ALL]
)
def test_noise_reaches_wide_columns_as_finite_differences_do(give, frame, pose):
    time = TIME[:240]
    log = record(PATH, PHI, time, give, wrench=frame, X_BS=pose)
    samples, columns = columns_of(log, wide=True)
    at = np.array([0, 17, 60, len(columns) - 1])
    ways, J = noise_jacobian(samples, at)
    assert J.shape == (4, 42, 3 * len(ways))
    assert not J[:, 39:].any()  # of the position in body axes none is counted
    for name in log.signals:
        noise, step = slow_noise(name, 0), 1e-4
        above, below = (
            columns_of(disturbed(log, name, noise, s, time), wide=True)[1][:, 18:39]
            for s in (step, -step)
        )
        found = (above - below)[at] / (2.0 * step)
        expected = np.zeros((4, 21))
        for number, (signal, order) in enumerate(ways):
            if signal == name:
                n = noise.at(time[samples.half_window :][at], 0 if order == UNSMOOTHED else order)
                expected += np.einsum("tij,tj->ti", J[:, 18:39, 3 * number :][..., :3], n)
        for columns in (slice(0, 9), slice(9, 15), slice(15, 21)):
            scale = max(1.0, np.abs(expected[:, columns]).max())
            assert_close(found[:, columns], expected[:, columns], 1e-3, scale=scale)


@pytest.mark.parametrize("frame", ["body", "world"])
def test_noise_of_wide_columns_is_known_in_every_band(frame):
    """Against noise that is there, correlations with the fit's columns too."""
    path = Path.random(3, fastest_hz=0.15)
    log = record(path, PHI, np.arange(0.0, 30.0, 0.01), POSE, wrench=frame)
    clean = prepare(log, 5.0, wide=True).blocks
    noise = {"position": 2e-4, "quaternion": 1e-3, "force": 0.3, "torque": 0.03}
    said, true = np.zeros((2, 8, 39, 39))
    for seed in range(5):
        blocks = prepare(noisy(log, noise, np.random.default_rng(seed)), 5.0, wide=True).blocks
        for block, pure in zip(blocks, clean, strict=True):
            error = (block.rows - pure.rows)[:, 1:40]
            for group, moment in block.noise.items():
                mine = error[block.groups == group]
                said[group] += len(mine) * moment[:39, :39]
                true[group] += mine.T @ mine
    for group in range(CONSTANT_GROUP + 1, 8):
        sizes = np.sqrt(np.diag(true[group]))
        for columns in (slice(18, 27), slice(27, 33), slice(33, 39)):
            ratio = np.trace(said[group][columns, columns]) / np.trace(
                true[group][columns, columns]
            )
            assert 1.0 / 1.35 < ratio < 1.35, (group, columns, ratio)
        apart = (said[group] - true[group]) / np.outer(sizes, sizes)
        assert np.abs(apart[18:]).mean() < 0.1
    correlations = true.sum(axis=0)
    sizes = np.sqrt(np.diag(correlations))
    correlations /= np.outer(sizes, sizes)
    assert np.abs(correlations[18:27, :18]).max() > 0.5
    sizes = np.sqrt(np.diag(said.sum(axis=0)))
    assert_close(said.sum(axis=0) / np.outer(sizes, sizes), correlations, 0.2)
