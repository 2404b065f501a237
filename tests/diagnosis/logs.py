"""Synthetic logs with noise, and what may be wrong with them."""

import numpy as np
from scipy.interpolate import CubicSpline

from identify.estimation import EstimatorSettings, body_system
from identify.estimation.least_squares import LeastSquaresFit, weighted_least_squares
from identify.logs import Recording
from identify.logs.synthetic import Noise, random_motion, synthetic_recording
from identify.regressors import block_statistics
from identify.signals import prepare
from tests.recordings import still_poses, with_signals, with_wrench
from tests.strategies import random_body

NOISE = Noise(position=1e-4, orientation=5e-4, force=0.03, torque=0.003)
PHI = random_body(np.random.default_rng(1), 1.3, 0.1)


def moving(
    seed: int, duration: float = 30.0, *, phi: np.ndarray = PHI, bandwidth_hz: float = 1.0
) -> Recording:
    rng = np.random.default_rng(seed)
    motion = random_motion(rng, bandwidth_hz=bandwidth_hz)
    return synthetic_recording(
        phi, rng=rng, motion=motion, duration=duration, rate_hz=100.0, noise=NOISE
    )


def still(seed: int, poses: int) -> Recording:
    """Static poses of `PHI`."""
    from scipy.spatial.transform import Rotation

    rng = np.random.default_rng(seed)
    log = still_poses(PHI, Rotation.random(poses, random_state=seed))
    sizes = np.array([0.03] * 3 + [0.003] * 3)
    return with_wrench(log, sizes * rng.normal(size=(poses, 6)))


def time_of(log: Recording) -> np.ndarray:
    assert log.time is not None
    return log.time


def late(log: Recording, delay: float) -> Recording:
    moved = {
        name: CubicSpline(time_of(log), log.signals[name])(time_of(log) - delay)
        for name in ("force", "torque")
    }
    return with_signals(log, **moved)


def fitted(*logs: Recording) -> LeastSquaresFit:
    statistics = [block_statistics(prepare(log, wide=True)) for log in logs]
    return weighted_least_squares(body_system(statistics, EstimatorSettings()))
