import numpy as np
import pytest

from identify.errors import SimulationError
from identify.estimation import EstimatorSettings, estimate_body
from identify.inertia import phi_from_inertia
from identify.regressors import summarise_log
from identify.signals import Segment
from identify.validation import ESTIMATE, LEAST_SQUARES, replay, validate
from tests.close import assert_close
from tests.recordings import ALL, GRAVITY, Path, record
from tests.strategies import random_body

PHI = random_body(np.random.default_rng(0))
BIAS = np.array([1.0, -2.0, 3.0, 0.1, 0.05, -0.1])


def segment(
    rate: float, duration: float, seed: int = 1, gravity: np.ndarray = GRAVITY, bias=BIAS
) -> Segment:
    path = Path.random(seed)
    time = np.arange(0.0, duration, 1.0 / rate)
    return Segment(
        time=time,
        position=path.position(time),
        velocity=path.velocity(time),
        quaternion=path.rotation(time).as_quat(),
        angular_velocity=path.angular_velocity(time),
        wrench=path.wrench(PHI, time, gravity) + bias,
        gravity=gravity,
    )


def test_the_true_body_stays_on_the_measured_path_for_the_whole_horizon():
    result = replay([(segment(500.0, 6.0), BIAS)], {"true": PHI})
    errors = result.errors["true"]
    assert result.windows == 5
    assert_close([errors.horizon[0], errors.horizon[-1]], [0.0, 1.0], 1e-12)
    assert errors.position[0] == 0.0
    assert errors.position.max() < 1e-4
    assert errors.attitude.max() < 1e-4
    assert result.simulated.shape == result.measured.shape == (5, 501, 3)
    assert_close(result.simulated, result.measured, 1e-3)
    path = Path.random(1)
    assert_close(result.measured[3], path.position(result.times[3]), 1e-12)


@pytest.mark.parametrize("wrong", ["mass", "centre", "inertia", "bias"])
def test_a_wrong_body_or_bias_drifts_away(wrong):
    phi, bias = PHI.copy(), BIAS.copy()
    if wrong == "mass":
        phi[0] *= 1.02
    elif wrong == "centre":
        phi[1] += 0.01 * phi[0]
    elif wrong == "inertia":
        phi[4:] *= 1.1
    else:
        bias[2] += 0.1
    result = replay([(segment(500.0, 6.0), bias)], {"true": PHI if wrong == "bias" else phi})
    errors = result.errors["true"]
    assert errors.position[-1] > 5e-3 or errors.attitude[-1] > 1e-2
    # It drifts: the end of a window is much farther off than its middle.
    worst = errors.position if errors.position[-1] > 5e-3 else errors.attitude
    assert worst[-1] > 2.0 * worst[len(worst) // 2]


def test_several_bodies_are_replayed_in_the_same_windows_and_the_first_is_shown():
    other = PHI.copy()
    other[0] *= 1.1
    result = replay([(segment(200.0, 4.0), BIAS)], {"a": other, "b": PHI})
    assert list(result.errors) == ["a", "b"]
    assert result.errors["a"].position[-1] > 10.0 * result.errors["b"].position[-1]
    apart = np.linalg.norm(result.simulated - result.measured, axis=-1)
    assert_close(np.sqrt(np.mean(apart**2, axis=0)), result.errors["a"].position, 1e-12)


@pytest.mark.parametrize("rate", [100.0, 1000.0, 2500.0])
def test_a_log_of_any_rate_is_replayed_over_a_second(rate):
    result = replay([(segment(rate, 4.0), BIAS)], {"true": PHI})
    errors = result.errors["true"]
    assert_close(errors.horizon[-1], 1.0, 1e-3)
    assert len(errors.horizon) <= 1001
    # At 100 Hz the wrench between samples is a poor straight line; above it costs next to nothing.
    assert errors.position[-1] < (2e-3 if rate < 500.0 else 2e-4)


def test_short_segments_are_replayed_as_far_as_half_of_them_reaches():
    result = replay([(segment(100.0, 0.8), BIAS)], {"true": PHI})
    assert result.errors["true"].horizon[-1] <= 0.4
    assert result.windows == 2
    assert replay([(segment(100.0, 0.15), BIAS)], {"true": PHI}) is None
    assert replay([], {"true": PHI}) is None


def test_windows_do_not_cross_segments():
    first, second = segment(200.0, 2.5, 1), segment(200.0, 2.5, 2)
    result = replay([(first, BIAS), (second, BIAS)], {"true": PHI})
    assert result.windows == 4
    assert result.errors["true"].position.max() < 1e-3


def test_replay_rejects_inconsistent_body():
    with pytest.raises(SimulationError, match="not physically possible"):
        replay([(segment(100.0, 4.0), BIAS)], {"bad": -PHI})
    with pytest.raises(SimulationError, match="at least one body"):
        replay([(segment(100.0, 4.0), BIAS)], {})


def validated(recordings, settings: EstimatorSettings | None = None):
    settings = settings or EstimatorSettings()
    logs = [summarise_log(recording) for recording in recordings]
    return validate(logs, estimate_body([log.statistics for log in logs], settings), settings)


def noisy(seed: int, time: np.ndarray, phi=PHI, torque: float = 0.02, **options):
    sigma = {"force": 0.2, "torque": torque}
    return record(Path.random(seed), phi, time, ALL, noise=sigma, bias=BIAS, seed=seed, **options)


def test_a_good_log_has_scores_and_a_replay():
    validation = validated([noisy(1, np.arange(0.0, 20.0, 0.005))])
    assert validation.scores.r_squared.min() > 0.9
    assert list(validation.replay.errors) == [ESTIMATE]
    assert validation.missing == ()
    errors = validation.replay.errors[ESTIMATE]
    assert errors.position[-1] < 0.15
    assert errors.attitude[-1] < 0.15


def test_logs_with_gravity_of_their_own_are_each_replayed_with_it():
    """Two logs of one body, one of them in a world whose z axis points down."""
    time = np.arange(0.0, 20.0, 0.005)
    up = noisy(1, time)
    down = noisy(2, time, gravity=-GRAVITY)
    alone = max(validated([log]).replay.errors[ESTIMATE].position[-1] for log in (up, down))
    both = validated([up, down]).replay.errors[ESTIMATE].position[-1]
    assert both < 2.0 * alone


def test_a_least_squares_body_that_is_inconsistent_is_named_and_not_replayed():
    time = np.arange(0.0, 20.0, 0.005)
    plate = phi_from_inertia(1.0, np.array([0.05, 0.0, 0.02]), np.diag([1e-3, 3e-3, 4e-3]))
    for seed in range(20):
        validation = validated([noisy(seed, time, plate, torque=0.1)])
        if any("it is not physically consistent" in reason for reason in validation.missing):
            break
    assert list(validation.replay.errors) == [ESTIMATE]
    assert any(
        "No replay with the least-squares estimate: it is not physically consistent" in reason
        for reason in validation.missing
    )
    assert LEAST_SQUARES not in validation.replay.errors


def test_replay_of_log_without_position_names_missing_signal():
    time = np.arange(0.0, 20.0, 0.005)
    recording = record(
        Path.random(1), PHI, time, ("angular_velocity", "linear_acceleration"), kind="proper"
    )
    validation = validated([recording])
    assert validation.replay is None
    assert (
        "No replay: it needs time stamps, attitude and position in the log." in validation.missing
    )
