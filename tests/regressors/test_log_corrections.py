from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.regressors import (
    SCAN_LAYOUT,
    WIDE_LAYOUT,
    LinearSystem,
    WrenchEquations,
    block_statistics,
    fold_statistics,
)
from identify.regressors.log_corrections import (
    clock_rate_map,
    delay_map,
    gravity_map,
    lag_map,
    misalignment_map,
    point_offset_map,
    position_scale_map,
    torque_gain_map,
    weight_map,
)
from identify.signals import prepare
from identify.spatial import Pose, coadjoint
from tests.close import assert_close
from tests.recordings import GRAVITY, POSE, Path, record, still_poses, with_signals
from tests.regressors.frame_changes import statistics_in_frame
from tests.strategies import random_body

PHI = random_body(np.random.default_rng(0))
PATH = Path.random(3)
RATE = 200.0
TIME = np.arange(0.0, 6.0, 1.0 / RATE)
CUTOFF = 5.0
X_BS = Pose.from_quaternion([0.2, -0.5, 0.1, 0.8], [0.02, -0.05, 0.08])
LOG = record(PATH, PHI, TIME, POSE)


def with_wrench(loads: np.ndarray, log=LOG):
    return with_signals(log, force=loads[:, :3], torque=loads[:, 3:])


def assert_maps(M: np.ndarray, read, meant, rtol: float, cutoff: float = CUTOFF) -> None:
    """z M of a log as read is z of the log as meant, in rows and in statistics of every band."""
    wide = prepare(read, CUTOFF, wide=True)
    changed = prepare(meant, cutoff)
    assert M.shape == (43, 19)
    moved = False
    for block, other in zip(wide.blocks, changed.blocks, strict=True):
        for columns in (slice(0, 1), slice(1, 4), slice(4, 7), slice(7, 13), slice(13, 19)):
            found, expected = (block.rows @ M)[:, columns], other.rows[:, columns]
            assert_close(found, expected, rtol)
            moved |= (
                np.abs(block.rows[:, columns] - expected).max() > 30 * rtol * np.abs(found).max()
            )
    assert moved, "the map could as well be left out"
    mapped = block_statistics(wide).mapped(M, SCAN_LAYOUT)
    expected = block_statistics(changed)
    assert mapped.layout == expected.layout
    if cutoff == CUTOFF:
        assert_same_moments(mapped, expected, 4.0 * rtol)


def assert_same_moments(found, expected, rtol: float) -> None:
    """Σ zᵀz of every band, within a share of the columns' sizes over all bands."""
    size = np.sqrt((expected.total_factors[0] ** 2).sum(axis=(0, 1)))
    for R, other in zip(found.total_factors[0], expected.total_factors[0], strict=True):
        assert_close(R.T @ R, other.T @ other, rtol, scale=np.outer(size, size) + 1e-12)


@pytest.mark.parametrize("delay", [0.002, -0.004, 0.01])
def test_a_delay_of_the_wrench_is_its_first_and_second_derivative(delay):
    late = with_wrench(PATH.wrench(PHI, TIME - delay))
    third_order = 100.0 * abs(delay) ** 3
    assert_maps(delay_map(delay), late, LOG, third_order)
    without = delay_map(delay)
    without[34:] = 0.0
    with pytest.raises(AssertionError, match="off by"):
        assert_maps(without, late, LOG, third_order)


def test_a_lag_of_first_order_is_undone_by_the_first_derivative():
    """What a filter T ẏ + y = w gave for w is y: here y is any wrench, and w is made of it."""
    lag, step = 0.05, 1e-4
    slope = (PATH.wrench(PHI, TIME + step) - PATH.wrench(PHI, TIME - step)) / (2.0 * step)
    acted = PATH.wrench(PHI, TIME) + lag * slope
    assert_maps(lag_map(lag), LOG, with_wrench(acted), 1e-5)


@pytest.mark.parametrize("mounted", [False, True])
def test_map_of_rotated_sensor(mounted):
    angles = np.array([0.3, -0.2, 0.5])
    turn = Rotation.from_rotvec(angles)
    log = record(PATH, PHI, TIME, POSE, wrench="sensor", X_BS=X_BS) if mounted else LOG
    readings = [turn.apply(log.signals[name]) for name in ("force", "torque")]
    meant = with_wrench(np.hstack(readings), log)
    assert_maps(misalignment_map(angles, X_BS if mounted else None), log, meant, 1e-12)


@pytest.mark.parametrize("mounted", [False, True])
def test_a_torque_of_another_gain(mounted):
    log = record(PATH, PHI, TIME, POSE, wrench="sensor", X_BS=X_BS) if mounted else LOG
    meant = with_wrench(np.hstack((log.signals["force"], 1.07 * log.signals["torque"])), log)
    assert_maps(torque_gain_map(0.07, X_BS if mounted else None), log, meant, 1e-12)


def test_gravity_that_is_tilted_and_of_another_size():
    change = np.array([0.4, -0.2, 0.1])
    meant = replace(LOG, gravity=LOG.gravity + change)
    assert_maps(gravity_map(change), LOG, meant, 1e-12)


def test_gravity_acts_on_static_poses_as_on_moving_ones():
    change = np.array([0.4, -0.2, 0.1])
    log = still_poses(PHI, Rotation.random(8, random_state=0))
    rows = prepare(log, wide=True).rows @ gravity_map(change)
    assert_close(rows, prepare(replace(log, gravity=log.gravity + change)).rows, 1e-13)
    statistics = block_statistics(prepare(log, wide=True))
    assert statistics.layout == WIDE_LAYOUT


BODY = (1.2, 0.05, -0.1, 0.2)
"""Mass and first moment of one whose weight a controller takes off."""


def test_maps_of_missing_weight_and_other_gravity():
    meant = replace(LOG, compensated=BODY)
    assert_maps(weight_map(BODY, GRAVITY), LOG, meant, 1e-12)
    change = np.array([0.4, -0.2, 0.1])
    other = replace(meant, gravity=LOG.gravity + change)
    assert_maps(gravity_map(change, BODY), meant, other, 1e-12)


def test_a_motion_of_another_point_of_the_body():
    offset = np.array([0.03, -0.05, 0.02])
    tracked = PATH.position(TIME) - PATH.rotation(TIME).apply(offset)
    read = with_signals(LOG, position=tracked)
    assert_maps(point_offset_map(offset), read, LOG, 1e-5)


@pytest.mark.parametrize("error", [0.03, -0.1])
def test_a_clock_that_is_fast_or_slow(error):
    meant = replace(LOG, time=LOG.time * (1.0 + error))
    assert_maps(clock_rate_map(error, GRAVITY), LOG, meant, 1e-12, CUTOFF / (1.0 + error))


def test_a_motion_of_another_scale():
    meant = with_signals(LOG, position=1.2 * LOG.signals["position"])
    assert_maps(position_scale_map(0.2, GRAVITY), LOG, meant, 1e-12)


def test_log_correction_maps_transform_noise():
    """The noise of a torque of another gain is that of the torque, times it."""
    noise = {"force": 0.1, "torque": 0.01, "quaternion": 1e-4}
    log = record(PATH, PHI, TIME, POSE, noise=noise)
    meant = with_wrench(np.hstack((log.signals["force"], 1.3 * log.signals["torque"])), log)
    mapped = block_statistics(prepare(log, CUTOFF, wide=True)).mapped(
        torque_gain_map(0.3), SCAN_LAYOUT
    )
    expected = block_statistics(prepare(meant, CUTOFF))
    for root, other in zip(mapped.noise[0], expected.noise[0], strict=True):
        size = np.sqrt((other**2).sum(axis=0))
        scale = np.outer(size, size) + 1e-300
        assert_close(root.T @ root / scale, other.T @ other / scale, 1e-9, scale=1.0)


@pytest.mark.parametrize("statistics_of", [block_statistics, fold_statistics])
def test_a_fit_of_wide_statistics_matches_narrow_ones(statistics_of):
    noise = {"force": 0.1, "torque": 0.01, "quaternion": 1e-3}
    log = record(PATH, PHI, TIME, POSE, noise=noise)
    wide, narrow = (
        LinearSystem.of([(statistics_of(prepare(log, CUTOFF, wide=wide)), WrenchEquations())])
        for wide in (True, False)
    )
    weights = np.array([np.diag([1.0, 2.0, 3.0, 90.0, 80.0, 70.0])] * len(narrow.group_index))
    x = np.linspace(0.1, 1.0, 10)
    ours, theirs = wide.problem(weights), narrow.problem(weights)
    assert_close(ours.A.T @ ours.A, theirs.A.T @ theirs.A, 1e-12)
    assert_close(ours.A.T @ ours.b, theirs.A.T @ theirs.b, 1e-12)
    assert_close(wide.offsets(x, weights), narrow.offsets(x, weights), 1e-10)
    for one, other in zip(wide.noise_moments(x), narrow.noise_moments(x), strict=True):
        assert_close(one, other, 1e-10)
    assert_close(wide.noise_moment(weights), narrow.noise_moment(weights), 1e-10)


def test_wide_statistics_change_their_frame_as_the_log_does():
    X_CB = Pose.from_quaternion([0.3, 0.1, -0.4, 0.7], [0.05, -0.1, 0.02])
    position, rotation = X_CB.inverse().position.copy(), X_CB.inverse().rotation.copy()
    R = PATH.rotation(TIME)
    moved = with_wrench(PATH.wrench(PHI, TIME) @ coadjoint(X_CB).T)
    moved = with_signals(
        moved,
        position=PATH.position(TIME) + R.apply(position),
        quaternion=(R * Rotation.from_matrix(rotation)).as_quat(),
    )
    found = statistics_in_frame(block_statistics(prepare(LOG, CUTOFF, wide=True)), X_CB)
    expected = block_statistics(prepare(moved, CUTOFF, wide=True))
    assert found.layout == expected.layout == WIDE_LAYOUT
    assert_same_moments(found, expected, 1e-4)


def test_the_fit_reads_the_columns_that_come_first():
    assert WIDE_LAYOUT.fit == SCAN_LAYOUT.fit == 19
    assert WIDE_LAYOUT.columns[:19] == SCAN_LAYOUT.columns
    assert len(set(WIDE_LAYOUT.columns)) == 43
