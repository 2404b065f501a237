from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.spatial.transform import Rotation

from identify.errors import LogError
from identify.regressors import block_statistics
from identify.signals import prepare
from identify.signals.transform import CONSTANT_GROUP, block_transform
from identify.spatial import BodyMotion, Pose, coadjoint
from identify.spatial.rotations import rotation_angle
from tests.close import assert_close
from tests.estimation.simulated import residual_rows
from tests.recordings import (
    ACCELERATIONS,
    ALL,
    GRAVITY,
    POSE,
    TWIST,
    Path,
    filtered_truth,
    record,
    still_poses,
)
from tests.strategies import random_body

PHI = random_body(np.random.default_rng(0))
PATH = Path.random(3)
RATE = 200.0
TIME = np.arange(0.0, 6.0, 1.0 / RATE)
BIAS = np.array([3.0, -2.0, 5.0, 0.3, -0.2, 0.1])
X_BS = Pose.from_quaternion([0.2, -0.5, 0.1, 0.8], [0.02, -0.05, 0.08])


def rows_of(motion: BodyMotion, wrench: np.ndarray) -> np.ndarray:
    return np.column_stack((np.ones(len(wrench)), motion.features, wrench))


def taps_of(log, rate: float) -> np.ndarray:
    """What the series over time is averaged with: four stretches a period of the cut-off."""
    count = max(1, round(rate / (4.0 * log.cutoff_hz)))
    return np.full(count, 1.0 / count)


def assert_true_features(
    log,
    rtol: float,
    path: Path = PATH,
    rate: float = RATE,
    time: np.ndarray | None = None,
    gravity=GRAVITY,
) -> None:
    """Features are those of the path, each group within `rtol` of its largest.

    `time` is when the rows were really taken, where the log's own time is another.
    """
    at = log.time if time is None else time
    truth = filtered_truth(path, at, taps_of(log, rate), rate, gravity)
    for columns in (slice(0, 3), slice(3, 6), slice(6, 12)):
        assert_close(log.features[:, columns], truth[:, columns], rtol)


def true_time(log, stamps: np.ndarray, rate: float) -> np.ndarray:
    """When even rows with jittering stamps were taken, by a line through the stamps."""
    period, start = np.polyfit(np.arange(len(stamps)), stamps - stamps[0], 1)
    return (log.time - start) / period / rate


def assert_obeyed(log, rtol: float, bias: np.ndarray | float = 0.0) -> None:
    """The series over time and the rows of all blocks obey the equation of motion, offset and all.

    Within `rtol` of 10 N and 10 N m a sample.
    """
    rest = residual_rows(log.rows, PHI) - bias
    assert_close(rest, np.zeros((len(log.rows), 6)), rtol, scale=10.0)
    for block in (*log.blocks, *log.folds):
        rest = residual_rows(block.rows, PHI) - block.rows[:, :1] * bias
        assert_close(rest, np.zeros(rest.shape), rtol, scale=10.0 * np.sqrt(block.samples))


@pytest.mark.parametrize("twist", ["body", "world"])
@pytest.mark.parametrize("acceleration", ["body", "world"])
@pytest.mark.parametrize("kind", ["classical", "spatial", "proper"])
def test_complete_motion_is_not_differentiated(twist, acceleration, kind):
    log = prepare(record(PATH, PHI, TIME, ALL, twist=twist, acceleration=acceleration, kind=kind))
    assert_true_features(log, 1e-12)
    assert_obeyed(log, 1e-12)


@pytest.mark.parametrize(
    ("give", "kinds"),
    [
        (POSE, ["classical"]),
        ((*POSE, "angular_velocity"), ["classical"]),
        ((*POSE, "linear_velocity"), ["classical"]),
        ((*POSE, *TWIST), ["classical"]),
        ((*POSE, "linear_acceleration"), ["classical", "spatial", "proper"]),
        ((*POSE, "angular_acceleration"), ["classical"]),
        ((*POSE, "angular_velocity", *ACCELERATIONS), ["classical", "spatial", "proper"]),
        (("quaternion", "linear_velocity"), ["classical"]),
        (("quaternion", "linear_velocity", "linear_acceleration"), ["spatial"]),
        (("quaternion", "linear_acceleration"), ["classical", "proper"]),
        (("quaternion", "angular_velocity", "linear_acceleration"), ["classical", "proper"]),
    ],
)
def test_missing_motion_is_differentiated_from_measured_signals(give, kinds):
    for kind in kinds:
        for frame in ("body", "world"):
            log = prepare(record(PATH, PHI, TIME, give, twist=frame, acceleration=frame, kind=kind))
            assert_true_features(log, 3e-5)
            assert_obeyed(log, 3e-5)


@pytest.mark.parametrize(
    "give",
    [
        ("angular_velocity", "linear_acceleration"),
        (
            "angular_velocity",
            *ACCELERATIONS,
        ),
    ],
)
def test_an_inertial_unit_without_pose_is_enough_in_body_axes(give):
    log = prepare(record(PATH, PHI, TIME, give, kind="proper"))
    assert_true_features(log, 1e-5)
    assert log.segments == ()


@pytest.mark.parametrize(
    ("give", "options", "missing"),
    [
        (("quaternion",), {}, "no position"),
        (("position",), {}, "no quaternion"),
        (("linear_acceleration",), {"kind": "proper"}, "no quaternion"),
        (("angular_velocity", "linear_acceleration"), {"kind": "classical"}, "no quaternion"),
        (
            ("angular_velocity", "linear_acceleration"),
            {"kind": "proper", "twist": "world"},
            "no quaternion",
        ),
        (("quaternion", "linear_acceleration"), {"kind": "spatial"}, "no linear velocity"),
    ],
)
def test_underivable_signal_is_named(give, options, missing):
    with pytest.raises(LogError, match=f"the log gives {missing}.*add its columns to the schema"):
        prepare(record(PATH, PHI, TIME, give, **options))


def test_a_wrench_in_world_axes_needs_an_attitude():
    recording = record(
        PATH, PHI, TIME, ("angular_velocity", "linear_acceleration"), kind="proper", wrench="world"
    )
    with pytest.raises(LogError, match="no attitude to rotate it by; add the pose"):
        prepare(recording)


@pytest.mark.parametrize("gravity", [(0.0, 0.0, 9.81), (0.0, -1.62, 0.0), (3.0, 4.0, -5.0)])
def test_gravity_is_a_vector_in_the_world(gravity):
    gravity = np.array(gravity)
    log = prepare(record(PATH, PHI, TIME, gravity=gravity))
    assert_true_features(log, 3e-5, gravity=gravity)
    assert_obeyed(log, 3e-5)


@pytest.mark.parametrize("frame", ["body", "world", "sensor"])
def test_the_wrench_is_the_same_whatever_axes_the_log_gives_it_in(frame):
    log = prepare(record(PATH, PHI, TIME, ALL, wrench=frame, X_BS=X_BS))
    assert_close(log.wrench, prepare(record(PATH, PHI, TIME, ALL)).wrench, 1e-13)


@pytest.mark.parametrize("frame", ["body", "world", "sensor"])
def test_a_bias_of_the_sensor_is_constant_at_the_body_whatever_axes_the_log_is_in(frame):
    X = X_BS if frame == "sensor" else Pose.identity()
    log = prepare(record(PATH, PHI, TIME, ALL, wrench=frame, X_BS=X, bias=BIAS))
    assert_obeyed(log, 1e-12, coadjoint(X) @ BIAS)


def test_filtering_before_the_products_or_in_turning_axes_does_not_obey_it():
    """What the order of operations is worth: the same rows taken a step too early."""
    path = Path.random(3, fastest_hz=3.0)
    log = prepare(record(path, PHI, TIME, ALL), 5.0)
    (block,) = log.blocks
    transform = block_transform(len(TIME), RATE, 5.0, tapered=False)
    u = transform.cosines(np.arange(transform.row_count))
    assert_close(
        block.rows[:, 1:7], u @ rows_of(path.motion(TIME), np.zeros((len(TIME), 6)))[:, 1:7], 1e-12
    )
    motion = path.motion(TIME)

    def slow(signal: np.ndarray) -> np.ndarray:
        return u.T @ (u @ signal)

    early = BodyMotion(
        slow(motion.proper_acceleration),
        slow(motion.angular_velocity),
        slow(motion.angular_acceleration),
    )
    wrench = path.wrench(PHI, TIME)
    size = np.abs(block.rows[:, 13:]).max()
    products = residual_rows(u @ rows_of(early, wrench), PHI)
    assert np.abs(residual_rows(block.rows, PHI)).max() < 1e-12 * size
    assert np.abs(products).max() > 1e-4 * size

    R = path.rotation(TIME)
    turned = u @ R.inv().apply(slow(R.apply(wrench[:, :3])))
    assert np.abs(turned - block.rows[:, 13:16]).max() > 1e-3 * size


@settings(max_examples=10)
@given(st.sampled_from([1.0, 3.0, 5.0, 20.0]), st.sampled_from([50.0, 100.0, 250.0]))
def test_any_cutoff_leaves_the_equation_exact(cutoff, rate):
    time = np.arange(0.0, 8.0, 1.0 / rate)
    if cutoff >= 0.45 * rate:
        return
    log = prepare(record(PATH, PHI, time, ALL), cutoff)
    assert log.cutoff_hz == cutoff
    assert_obeyed(log, 1e-12)


@pytest.mark.parametrize(
    ("rate", "tick", "jitter"),
    [
        *((rate, 1e-3, 0.0) for rate in (300.0, 333.0, 500.0, 600.0)),
        (90.0, 1e-2, 0.0),
        *((rate, 0.0, jitter) for rate in (100.0, 500.0) for jitter in (0.05, 0.3, 0.8)),
    ],
)
def test_stamps_rounded_to_ticks_or_late_do_not_change_the_features(rate, tick, jitter):
    time = np.arange(0.0, 12.0, 1.0 / rate)
    rng = np.random.default_rng(int(rate))
    stamps = time + rng.uniform(-0.5, 0.5, len(time)) * jitter / rate
    if tick:
        stamps = np.round(time / tick) * tick
    log = prepare(record(PATH, PHI, time, stamps=stamps))
    assert_true_features(log, 1e-3 if tick else 1e-4, rate=rate, time=true_time(log, stamps, rate))
    assert_obeyed(log, 1e-4)


@pytest.mark.parametrize("delay", [0.4, 0.8])
def test_stamps_delayed_by_a_busy_computer_do_not_change_the_features(delay):
    """Delays, in order: many stamps all but coincide, and few are far apart."""
    rate = 500.0
    time = np.arange(0.0, 12.0, 1.0 / rate)
    late = np.random.default_rng(7).exponential(delay / rate, len(time))
    stamps = np.maximum.accumulate(time + late)
    log = prepare(record(PATH, PHI, time, stamps=stamps))
    assert log.unused_rows < 0.2 * len(time)
    # Segments as short as a quarter of a second are used, whose own clock is known less well.
    assert_obeyed(log, 3e-3)
    assert_obeyed(replace(log, blocks=log.blocks[:2], folds=(), rows=log.rows[:100]), 1e-4)
    if len(log.segments) == 1:
        assert_true_features(log, 1e-3, rate=rate, time=true_time(log, stamps, rate))


@pytest.mark.parametrize("jitter", [0.05, 0.3, 0.8])
def test_rows_taken_at_jittering_times_are_resampled(jitter):
    rng = np.random.default_rng(9)
    time = TIME + rng.uniform(-0.5, 0.5, len(TIME)) * jitter / RATE
    log = prepare(record(PATH, PHI, time))
    assert_true_features(log, 1e-3, rate=log.rate_hz, time=log.time + time[0])
    assert_obeyed(log, 3e-4)


@pytest.mark.parametrize("jitter", [0.3, 0.8])
def test_resampling_uses_rotation_of_body_about_fixed_point(jitter):
    """A position that stays where it is cannot tell which of two clocks is right."""
    rng = np.random.default_rng(9)
    time = TIME + rng.uniform(-0.5, 0.5, len(TIME)) * jitter / RATE
    log = prepare(record(Path.random(3, distance=0.0), PHI, time))
    assert_obeyed(log, 3e-4)


def test_rows_whose_stamp_repeats_are_counted_and_left_out():
    again = np.repeat(np.arange(len(TIME)), np.where(np.arange(len(TIME)) % 50 == 7, 2, 1))
    log = prepare(record(PATH, PHI, TIME[again]))
    assert log.repeated_rows == len(again) - len(TIME)
    assert_true_features(log, 1e-3)


@pytest.mark.parametrize("hold", [2, 5, 10])
def test_held_rows_of_a_slower_sensor_are_as_good_as_its_own_rate(hold):
    """Zero-order hold, all signals alike: no delay, and no bursts of acceleration."""
    rate = 1000.0
    time = np.arange(0.0, 8.0, 1.0 / rate)
    held = (np.arange(len(time)) // hold) * hold
    log = prepare(record(PATH, PHI, time[held], stamps=time))
    assert_close(log.rate_hz, rate / hold, 1e-9)
    assert_true_features(log, 2e-3, rate=rate / hold)
    assert_obeyed(log, 3e-3)


def test_a_body_that_turns_over_and_over_has_smooth_features():
    """Five full turns: the quaternion runs through both halves of the double cover."""
    time = np.arange(0.0, 10.0, 0.01)
    angle = np.pi * time
    q = np.column_stack((np.zeros_like(angle), 0 * angle, np.sin(angle / 2), np.cos(angle / 2)))
    q *= np.where(q[:, 3:] < 0.0, -1.0, 1.0)  # as a log with w ≥ 0 has it
    recording = record(PATH, PHI, time)
    turned = replace(recording, signals={**recording.signals, "quaternion": q})
    log = prepare(turned)
    assert_close(log.features[:, 8], np.full(len(log.rows), np.pi**2), 1e-5)
    assert_close(log.features[:, 3:6], np.zeros((len(log.rows), 3)), 1e-3, scale=1.0)


def test_a_gap_splits_the_log_and_nothing_runs_across_it():
    time = np.concatenate((TIME, TIME + TIME[-1] + 1.0))
    log = prepare(record(PATH, PHI, time))
    assert len(log.segments) == 2
    assert np.unique(log.segment_ids).tolist() == [0, 1]
    assert_true_features(log, 3e-5)
    first = log.time[log.segment_ids == 0]
    assert first.max() < TIME[-1]
    assert log.time[log.segment_ids == 1].min() > TIME[-1] + 1.0


def test_a_jump_splits_the_log_too():
    recording = record(PATH, PHI, TIME)
    position = recording.signals["position"].copy()
    position[600:] += [1.0, 0.0, 0.0]
    log = prepare(replace(recording, signals={**recording.signals, "position": position}))
    assert len(log.segments) == 2
    assert_true_features(log, 3e-5)


def test_a_segment_too_short_for_the_filter_is_left_out_and_counted():
    time = np.concatenate((TIME, TIME[-1] + 1.0 + np.arange(40) / RATE))
    log = prepare(record(PATH, PHI, time, ALL))
    assert len(log.segments) == 1
    assert log.unused_rows == 40


def test_prepared_log_reports_default_cutoff_and_rate():
    log = prepare(record(PATH, PHI, TIME))
    assert log.cutoff_hz == 5.0
    assert_close(log.rate_hz, RATE, 1e-9)
    slow = prepare(record(Path.random(0, fastest_hz=0.05), PHI, np.arange(0.0, 200.0, 0.1)))
    assert_close(slow.cutoff_hz, 1.0, 1e-12)
    assert len(log.name) > 0
    assert 0.0 < log.time[0] < log.time[-1] < TIME[-1]


@pytest.mark.parametrize("rate", [100.0, 1000.0])
def test_the_effective_count_is_two_a_second_and_hertz_and_less_where_edges_are_tapered(rate):
    time = np.arange(0.0, 20.0, 1.0 / rate)
    plain, tapered = (prepare(record(PATH, PHI, time, give), 5.0) for give in (ALL, POSE))
    effective = [block_statistics(log).effective_samples.sum() for log in (plain, tapered)]
    assert_close(effective[0], 2.0 * 5.0 * 20.0, 0.02)
    seconds = sum(block.samples for block in tapered.blocks) / rate
    assert 18.0 < seconds < 20.0
    for block in tapered.blocks:
        window = block_transform(block.samples, rate, 5.0, tapered=True).window
        assert_close(block.effective_fraction, 1.0 / np.mean(window**4), 1e-12)
    assert_close(effective[1], 2.0 * 5.0 * seconds * tapered.blocks[0].effective_fraction, 0.02)
    assert effective[1] < 0.97 * 2.0 * 5.0 * seconds


def test_log_is_cut_into_blocks_and_short_log_into_five_folds():
    time = np.arange(0.0, 60.0, 1.0 / RATE)
    long, short = (prepare(record(PATH, PHI, t, ALL), 5.0) for t in (time, TIME))
    assert [block.samples for block in long.blocks] == [2000] * 6
    assert long.folds == long.blocks
    assert [block.samples for block in short.blocks] == [1200]
    assert [block.samples for block in short.folds] == [240] * 5
    # Rows of all folds hold the same slow signal: without noise, the energy of its constant too.
    for log in (long, short):
        for block in (*log.blocks, *log.folds):
            assert_close(block.rows[0, 0], np.sqrt(block.samples), 1e-12)
            assert not block.rows[1:, 0].any()
            assert block.groups[0] == CONSTANT_GROUP
            assert (block.groups[1:] > CONSTANT_GROUP).all()
            assert sorted(block.noise) == np.unique(block.groups).tolist()


def test_time_span_limits_rows_and_uses_neighbours_for_derivatives():
    time = np.arange(0.0, 20.0, 1.0 / RATE)
    recording = record(PATH, PHI, time)
    whole = prepare(recording, 5.0)
    first, second = (prepare(recording, 5.0, span) for span in ((-np.inf, 10.0), (10.0, np.inf)))
    samples = [sum(block.samples for block in log.blocks) for log in (whole, first, second)]
    assert samples[0] == samples[1] + samples[2]
    assert first.time[-1] < 10.0 < second.time[0]
    assert second.time[0] - first.time[-1] < 0.2
    for log in (first, second):
        assert_true_features(log, 3e-5)
        assert_obeyed(log, 3e-5)
    with pytest.raises(LogError, match="no segment in the requested time span"):
        prepare(recording, 5.0, (30.0, 40.0))


def test_segments_hold_the_states_at_full_rate():
    log = prepare(record(PATH, PHI, TIME))
    (segment,) = log.segments
    assert len(segment.time) > 0.9 * len(TIME)
    assert_close(segment.position, PATH.position(segment.time), 1e-8)
    assert_close(segment.velocity, PATH.velocity(segment.time), 1e-5)
    assert_close(segment.angular_velocity, PATH.angular_velocity(segment.time), 1e-5)
    angle = rotation_angle(segment.quaternion, PATH.rotation(segment.time).as_quat())
    assert angle.max() < 1e-6
    assert_close(segment.wrench, PATH.wrench(PHI, segment.time), 1e-9)


def test_static_poses_are_not_filtered_and_feel_gravity_alone():
    rotations = Rotation.random(7, random_state=0)
    for frame in ("body", "world"):
        log = prepare(still_poses(PHI, rotations, bias=BIAS, wrench=frame))
        assert len(log.rows) == 7
        assert log.cutoff_hz is None
        assert log.rate_hz is None
        assert_close(log.features[:, :3], -rotations.inv().apply(GRAVITY), 1e-14)
        assert not log.features[:, 3:].any()
        assert_obeyed(log, 1e-12, BIAS)
        assert log.segment_ids.tolist() == list(range(7))


def test_accelerometer_gives_vertical_without_pose():
    rotations = Rotation.random(5, random_state=1)
    full = still_poses(PHI, rotations)
    signals = {name: full.signals[name] for name in ("force", "torque")}
    signals["linear_acceleration"] = -rotations.inv().apply(GRAVITY)
    recording = replace(
        full,
        signals=signals,
        frames={"wrench": "body", "acceleration": "body"},
        acceleration_kind="proper",
    )
    assert_close(prepare(recording).rows, prepare(full).rows, 1e-14)


TOO_SHORT = r"cut-off of \d+ Hz, which takes 0\.\d+ s.*`still = true`"
TOO_SHORT_FOR_5_HZ = r"long enough for a cut-off of 5 Hz.*Choose a higher cut-off"


@pytest.mark.parametrize(
    ("count", "cutoff", "said"),
    [
        (7, None, r"7 rows are too few.*`still = true` in \[log\]"),
        (8, None, TOO_SHORT),
        (12, None, TOO_SHORT),
        (20, 5.0, TOO_SHORT_FOR_5_HZ),
        (60, 5.0, TOO_SHORT_FOR_5_HZ),
    ],
)
def test_too_short_log_states_remedy(count, cutoff, said):
    with pytest.raises(LogError, match=said):
        prepare(record(PATH, PHI, TIME[:count]), cutoff)


def test_short_log_gets_higher_cutoff_with_finding():
    log = prepare(record(PATH, PHI, TIME[:60]))
    assert 5.0 < log.cutoff_hz <= 0.2 * RATE
    assert log.cutoff_raised
    assert_true_features(log, 1e-4)
    assert not prepare(record(PATH, PHI, TIME)).cutoff_raised


def test_poses_too_far_apart_to_be_a_motion_are_rejected_with_the_line_for_static_poses():
    rotations = Rotation.random(12, random_state=3)
    poses = still_poses(PHI, rotations)
    with pytest.raises(
        LogError, match=r"turns by \d.* rad from row to row.*set `still = true`.*`time_unit`"
    ):
        prepare(replace(poses, time=np.arange(12.0)))


@pytest.mark.parametrize("cutoff", [0.0, -1.0, 91.0, np.nan, np.inf])
def test_unattainable_cutoff_states_bounds(cutoff):
    with pytest.raises(
        LogError, match="is impossible at 200 rows a second; choose one above 0 and"
    ):
        prepare(record(PATH, PHI, TIME), cutoff)


def test_noise_that_the_schema_gives_replaces_what_is_read_off_the_log():
    """A pose that is smoothed tells too little of its noise; the rest is read as before."""
    noise = {"position": 2e-4, "quaternion": 1e-3, "force": 0.1, "torque": 0.01}
    recording = record(Path.random(3), PHI, np.arange(0.0, 12.0, 0.01), POSE, noise=noise)
    read = prepare(recording, 5.0)
    given = prepare(replace(recording, noise={"position": 2e-3, "torque": 0.0}), 5.0)
    before, after = read.signal_noise, given.signal_noise
    assert before.names == after.names
    for number, name in enumerate(before.names):
        own = slice(3 * number, 3 * number + 3)
        if name in ("position", "torque"):
            expected = (2e-3 if name == "position" else 0.0) ** 2 * np.eye(3)
            assert_close(after.covariance[own, own], expected, 1e-12, scale=4e-6)
            across = np.delete(after.covariance[own], range(own.start, own.stop), axis=1)
            assert not across.any()
        else:
            assert np.array_equal(after.covariance[own, own], before.covariance[own, own])
    # Ten times the noise of the position is a hundred times the variance of the acceleration.
    ratio = given.noise[:3] / read.noise[:3]
    assert (ratio > 20.0).all()
    assert not given.noise[15:].any()
    assert_close(given.noise[12:15], read.noise[12:15], 1e-9)


def test_stamps_that_never_advance_are_rejected():
    recording = replace(record(PATH, PHI, TIME), time=np.zeros(len(TIME)))
    with pytest.raises(LogError, match="log"):
        prepare(recording)
