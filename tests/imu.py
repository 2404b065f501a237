"""Logs with an inertial measurement unit, each of its sensors with a clock of its own."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from tests.recordings import Path, Sines

PHI = np.array([1.3, 0.02, -0.01, 0.06, 0.02, 0.001, -0.002, 0.018, 0.0005, 0.009])
LEVER = (0.03, -0.04, 0.0331662)  # 60 mm
RATES = {"pose": 100.0, "gyro": 400.0, "acc": 250.0, "wrench": 700.0}
LEADS = {"pose": 0.0, "gyro": 0.05, "acc": 0.03, "wrench": 0.01}
STREAMS = {"pose": "pose", "gyro": "gyro", "acc": "accelerometer", "wrench": "wrench"}


@dataclass(frozen=True)
class Stopped(Sines):
    """Sines of a time that slows down from its stop on, and stands still two seconds later."""

    stop: float = 0.0

    @classmethod
    def of(cls, sines: Sines, stop: float) -> "Stopped":
        return cls(sines.amplitude, sines.frequency_hz, sines.phase, stop)

    def at(self, time: np.ndarray, order: int = 0) -> np.ndarray:
        u = np.clip((time - self.stop) / 2.0, 0.0, 1.0)
        stopped = np.minimum(time, self.stop) + 2.0 * (u - u**3 + 0.5 * u**4)
        rate, rate_of_rate = 1.0 - 3.0 * u**2 + 2.0 * u**3, 3.0 * (u**2 - u)
        value = Sines.at(self, stopped, order)
        if order == 0:
            return value
        if order == 1:
            return value * rate[:, None]
        return value * rate[:, None] ** 2 + Sines.at(self, stopped, 1) * rate_of_rate[:, None]


def columns(
    seed: int = 0,
    *,
    noise: float = 0.0,
    seconds: float = 12.0,
    rates: Mapping[str, float] = RATES,
    jitter: float = 0.0,
    turn: tuple[float, float, float] = (0.0, 0.0, 0.0),
    late: float = 0.0,
    gain: float = 1.0,
    angle: float = 0.9,
    stop: float | None = None,
) -> dict[str, np.ndarray]:
    """Columns of a log: stamps, and what is read at them.

    Args:
        seed: of the motion and the noise.
        noise: size of the noise, and of the offsets of gyro and accelerometer.
        seconds: length.
        rates: of each stream [Hz].
        jitter: of the stamps, in periods.
        turn: of the unit in the body.
        late: delay of the gyro [s].
        gain: of the accelerometer.
        angle: by which the body turns, about.
        stop: time from which the body slows down to a rest, within two seconds.
    """
    rng, path = np.random.default_rng(seed), Path.random(seed + 3, angle=angle)
    if stop is not None:
        path = Path(Stopped.of(path.place, stop), Stopped.of(path.angles, stop))
    R, r = Rotation.from_rotvec(turn), np.array(LEVER)
    t = {
        name: np.arange(rng.uniform(0.0, 0.5 / rate) + LEADS[name], seconds, 1.0 / rate)
        for name, rate in rates.items()
    }
    t = {k: x + jitter / rates[k] * rng.standard_normal(len(x)) for k, x in t.items()}

    def white(name: str, *size: float) -> np.ndarray:
        return noise * np.array(size) * rng.standard_normal((len(t[name]), len(size)))

    tilt = Rotation.from_rotvec(white("pose", *[3e-4] * 3))
    motion = path.motion(t["acc"])
    w = motion.angular_velocity
    turning = np.cross(motion.angular_acceleration, r) + np.cross(w, np.cross(w, r))
    read = R.inv().apply(motion.proper_acceleration + turning)
    return {
        "pose_t": t["pose"],
        "p": path.position(t["pose"]) + white("pose", *[1e-4] * 3),
        "q": (path.rotation(t["pose"]) * tilt).as_quat(),
        "gyro_t": t["gyro"],
        "gyro": R.inv().apply(path.angular_velocity(t["gyro"] - late))
        + white("gyro", *[3e-3] * 3)
        + 0.01 * noise,
        "acc_t": t["acc"],
        "acc": gain * (read + white("acc", *[0.03] * 3) + 0.1 * noise),
        "wrench_t": t["wrench"],
        "w": path.wrench(PHI, t["wrench"]) + white("wrench", *[0.05] * 3, *[4e-3] * 3),
    }


def schema(*, pose: bool = True, **imu: object) -> dict[str, object]:
    """The schema of those columns, with other keys of `[imu]`."""
    given = {"gyro": "gyro", "accelerometer": "acc", "mount": {"translation": LEVER}, **imu}
    whole = {
        "log": {"time": "wrench_t"},
        "streams": {group: {"time": f"{name}_t"} for name, group in STREAMS.items()},
        "imu": {key: value for key, value in given.items() if value is not None},
        "wrench": {"force": "w[0:3]", "torque": "w[3:6]", "frame": "body", "acts_on": "body"},
    }
    if pose:
        return whole | {"pose": {"position": "p", "quaternion": "q"}}
    del whole["streams"]["pose"]
    return whole


def in_files(folder, given: Mapping[str, np.ndarray], described: dict) -> tuple:
    """The columns as a file a stream in a folder, and their schema."""
    parts = {"pose": "pq", "gyro": ["gyro"], "acc": ["acc"], "wrench": "w"}
    folder.mkdir(exist_ok=True)
    streams = {}
    for name, group in STREAMS.items():
        if group in described["streams"]:
            own = {key: given[key] for key in (f"{name}_t", *parts[name])}
            np.savez(folder / f"{name}.npz", **own)
            streams[group] = {"time": f"{name}_t", "file": f"{name}.npz"}
    return folder, {**described, "streams": streams}
