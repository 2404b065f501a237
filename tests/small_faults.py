"""Exact logs of a body at a high rate, small faults of their sensor, and what is logged of them.

Each fault returns the log that has it, and its docstring says which effect puts that right.
"""

import hashlib
from dataclasses import replace
from functools import lru_cache

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.signal import bilinear, lfilter, lfilter_zi
from scipy.spatial.transform import Rotation

from identify.estimation import EstimatorSettings, body_system
from identify.estimation.least_squares import LeastSquaresFit
from identify.logs import Recording
from identify.logs.synthetic import Noise, random_motion, synthetic_recording
from identify.regressors import Statistics
from tests.recordings import still_poses
from tests.strategies import random_body

PHI = random_body(np.random.default_rng(1), 1.3, 0.1)
WEIGHT = float(PHI[0]) * 9.80665
LEVER = float(np.linalg.norm(PHI[1:4]) / PHI[0])
NOISE = Noise(position=1e-4, orientation=5e-4, force=0.03, torque=0.003)
RATE_HZ, EVERY = 500.0, 5


def direction(*v: float) -> np.ndarray:
    return np.array(v) / np.linalg.norm(v)


TURN = np.radians(1.3) * direction(1.0, -2.0, 0.5)
TILT = np.radians(0.8) * direction(0.6, -0.8, 0.0)
SHIFT = 6e-3 * direction(1.0, 1.0, -1.0)
UNITS = np.repeat([1.0, LEVER], 3)
_CROSS = np.random.default_rng(0).uniform(-0.015, 0.015, (6, 6)) * (1.0 - np.eye(6))
CROSSTALK = np.eye(6) + UNITS[:, None] * _CROSS / UNITS
"""Sizes of small faults: turns [rad], a shift [m], and a map of the wrench."""


def exact(seed: int, duration: float = 20.0, phi: np.ndarray = PHI) -> Recording:
    """A log without noise, at a rate at which filters and delays are exact."""
    return _exact(seed, duration, tuple(phi.tolist()))


@lru_cache(maxsize=64)
def _exact(seed: int, duration: float, phi: tuple[float, ...]) -> Recording:
    rng = np.random.default_rng(seed)
    motion = random_motion(rng, bandwidth_hz=1.0)
    return synthetic_recording(phi, rng=rng, motion=motion, duration=duration, rate_hz=RATE_HZ)


def logged(log: Recording, seed: int = 0, noise: Noise | None = NOISE) -> Recording:
    """What is logged: some of the rows, with the noise of pose and sensor."""
    noise, rng = noise or Noise(), np.random.default_rng(seed)
    signals = {name: values[::EVERY] for name, values in log.signals.items()}
    for name in ("position", "force", "torque"):
        signals[name] = signals[name] + getattr(noise, name) * rng.normal(size=signals[name].shape)
    turns = Rotation.from_rotvec(noise.orientation * rng.normal(size=signals["position"].shape))
    signals["quaternion"] = (Rotation.from_quat(signals["quaternion"]) * turns).as_quat()
    return _of(replace(log, time=_time(log)[::EVERY]), signals)


def still(seed: int, poses: int = 24, phi: np.ndarray = PHI) -> Recording:
    """Static poses with the noise of the sensor."""
    sizes = np.repeat([NOISE.force, NOISE.torque], 3)
    turns = Rotation.random(poses, rng=np.random.default_rng(seed))
    return still_poses(phi, turns, noise=sizes, seed=seed)


def with_schema(log: Recording, **tables: dict[str, object]) -> Recording:
    return replace(log, schema={**log.schema, **tables})


def wrench_of(log: Recording) -> np.ndarray:
    return np.concatenate((log.signals["force"], log.signals["torque"]), axis=1)


def with_wrench(log: Recording, wrench: np.ndarray) -> Recording:
    return _of(log, {**log.signals, "force": wrench[:, :3], "torque": wrench[:, 3:]})


def late(log: Recording, delay: float) -> Recording:
    """The wrench of a row is that of some time before: the delay."""
    time = _time(log)
    return with_wrench(log, CubicSpline(time, wrench_of(log))(time - delay))


def low_passed(log: Recording, corner_hz: float) -> Recording:
    """A filter of first order, w = (1 + T d/dt) w_logged: delay T, filter −T²/2."""
    omega = 2.0 * np.pi * corner_hz
    b, a = bilinear([omega], [1.0, omega], RATE_HZ)
    wrench = wrench_of(log)
    first = lfilter_zi(b, a)[:, None] * wrench[0]
    return with_wrench(log, lfilter(b, a, wrench, axis=0, zi=first)[0])


def swinging(
    log: Recording, share: float, hertz: float, damping: float, at: np.ndarray
) -> Recording:
    """A part of the mass hangs on a spring with a damper along axes of the world, at rest at first.

    Its motion is integrated by Newton's law.
    """
    time, w = _time(log), 2.0 * np.pi * hertz
    turns = Rotation.from_quat(log.signals["quaternion"])
    point = CubicSpline(time, log.signals["position"] + turns.apply(at))
    acceleration = point.derivative(2)

    def slope(t: float, state: np.ndarray) -> np.ndarray:
        stretch, rate = state.reshape(2, 3)  # of the mass from the point
        pull = -(w**2) * stretch - 2.0 * damping * w * rate
        return np.concatenate((rate, pull - acceleration(t)))

    states = solve_ivp(slope, (time[0], time[-1]), np.zeros(6), t_eval=time, rtol=1e-7, atol=1e-9).y
    pull = -(w**2) * states[:3].T - 2.0 * damping * w * states[3:].T
    added = turns.inv().apply(share * PHI[0] * (pull - acceleration(time)))
    return with_wrench(log, wrench_of(log) + np.hstack((added, np.cross(at, added))))


def with_play(log: Recording, share: float) -> Recording:
    """Each channel follows with a dead zone, of a share of the range that it goes through."""
    wrench = wrench_of(log)
    half = 0.5 * share * np.ptp(wrench, axis=0)
    shown = wrench[:1]
    rows = [shown := np.clip(shown, w - half, w + half) for w in wrench]
    return with_wrench(log, np.concatenate(rows))


def mapped(log: Recording, G: np.ndarray) -> Recording:
    """The sensor reads G [f; t]: gain and crosstalk are those of its inverse."""
    return with_wrench(log, wrench_of(log) @ G.T)


def misaligned(log: Recording, turn: np.ndarray) -> Recording:
    """The sensor reads exp(turn×) of force and torque: misalignment −turn."""
    return mapped(log, np.kron(np.eye(2), Rotation.from_rotvec(turn).as_matrix()))


def tilted(log: Recording, turn: np.ndarray) -> Recording:
    """The pose is in a world frame turned by a horizontal vector: tilt (turn x, −turn y)."""
    world = Rotation.from_rotvec(turn)
    position = world.apply(np.array(log.signals["position"]))
    attitude = world * Rotation.from_quat(log.signals["quaternion"])
    return _of(log, {**log.signals, "position": position, "quaternion": attitude.as_quat()})


def displaced(log: Recording, shift: np.ndarray) -> Recording:
    """The pose is of a point so far from the wrench's: point −shift."""
    R = Rotation.from_quat(log.signals["quaternion"])
    return _of(log, {**log.signals, "position": log.signals["position"] + R.apply(shift)})


def slow_clock(log: Recording, rate: float) -> Recording:
    """The clock shows less time than passes: clock, the share that is missing."""
    return replace(log, time=_time(log) / (1.0 + rate), sha256=f"{log.sha256} {rate}")


def drifting(log: Recording, amplitudes: np.ndarray) -> Recording:
    """The offset goes as √2 cos(πt) of the share t of the log's time, once amplitudes."""
    share = np.linspace(0.0, 1.0, len(log))[:, None]
    return with_wrench(log, wrench_of(log) + np.sqrt(2.0) * np.cos(np.pi * share) * amplitudes)


def _time(log: Recording) -> np.ndarray:
    assert log.time is not None
    return log.time


def _of(log: Recording, signals: dict[str, np.ndarray]) -> Recording:
    content = hashlib.sha256(b"".join(np.ascontiguousarray(v).tobytes() for v in signals.values()))
    rows = len(signals["force"])
    return replace(log, signals=signals, sha256=content.hexdigest(), rows=rows)


def fit_at_weights(statistics: Statistics, fit: LeastSquaresFit) -> tuple[np.ndarray, np.ndarray]:
    """Unknowns and sensor offsets of other statistics with the weights of a fit.

    Normal equations without what noise adds to the columns, as the sensitivity to an error is that
    at weights that stay.
    """
    system, W = body_system([statistics], EstimatorSettings()), fit.weights
    rows = system.whitened_rows(W)
    H = rows.T @ rows - fit.noise_fraction * system.noise_moment(W)
    x = np.linalg.solve(H[:-1, :-1], H[:-1, -1])
    return x, system.offsets(x, W)
