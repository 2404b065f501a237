import numpy as np
from hypothesis import given, strategies as st

from identify.inertia import InertialParameters
from identify.logs import synthetic_recording
from identify.regressors import FEATURE_TENSOR
from identify.signals.predicted_wrench import PredictedWrench
from identify.signals.wrench_play import WrenchPlay, play
from tests.close import assert_close
from tests.recordings import with_wrench
from tests.strategies import seeds

BODY = InertialParameters.from_com(1.3, [0.02, -0.01, 0.06], np.diag([3e-3, 2.5e-3, 2e-3]))


@given(seeds(), st.floats(1e-3, 3.0))
def test_play_keeps_its_output_until_the_dead_zone_is_crossed(seed, width):
    x = np.cumsum(np.random.default_rng(seed).normal(size=(60, 2)), axis=0)
    y = play(x, np.array([width, 0.0]))
    assert (np.abs(y - x) <= 0.5 * width * (1.0 + 1e-12)).all()
    assert_close(y[:, 1], x[:, 1], 1e-15)
    moved = np.diff(y[:, 0]) != 0.0
    at_edge = np.isclose(np.abs(y - x)[1:, 0], 0.5 * width, rtol=1e-9)
    assert (at_edge | ~moved).all()


@given(seeds())
def test_play_depends_on_the_path_alone_and_not_on_its_speed(seed):
    x = np.cumsum(np.random.default_rng(seed).normal(size=40))
    fine = np.interp(np.arange(0.0, 39.01, 0.25), np.arange(40.0), x)
    width = np.array([1.5])
    assert_close(play(fine[:, None], width)[::4], play(x[:, None], width), 1e-12)


def test_widths_are_compared_at_once():
    x = np.random.default_rng(1).normal(size=(50, 1))
    widths = np.array([0.1, 0.5, 2.0])
    for k, width in enumerate(widths.tolist()):
        assert_close(play(x, widths)[:, k], play(x, np.array([width]))[:, 0], 1e-15)


def test_a_wrench_with_play_comes_back_as_it_was():
    log = synthetic_recording(BODY, rng=np.random.default_rng(2), duration=10.0, rate_hz=200.0)
    wrench = np.hstack((log.signals["force"], log.signals["torque"]))
    widths = 0.04 * np.ptp(wrench, axis=0)
    body = PredictedWrench.of(FEATURE_TENSOR, BODY.phi, np.zeros(6), 10.0)
    error = play(wrench, widths) - wrench
    removed = WrenchPlay(tuple(widths.tolist()), body).removed_from(with_wrench(log, error))
    again = np.hstack((removed.signals["force"], removed.signals["torque"]))
    inner = slice(300, -300)
    away = np.sqrt(np.mean((again - wrench)[inner] ** 2, axis=0))
    assert (away < 0.1 * np.sqrt(np.mean(error[inner] ** 2, axis=0))).all()
