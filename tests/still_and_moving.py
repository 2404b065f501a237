"""Logs of a body that turns from one attitude at rest to the next, with a gyro and a wrench.

Each turn is about an axis that stands still in the body, so that ω and α are those of its angle.
"""

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from identify.inertia import inertia_about_com
from identify.logs import Recording, read_log
from tests.recordings import GRAVITY, WRENCH_ARRAYS

PHI = np.array([1.3, 0.02, -0.01, 0.06, 0.02, 0.001, -0.002, 0.018, 0.0005, 0.009])


def still_and_moving(
    seed: int = 0,
    *,
    noise: float = 0.0,
    attitudes: int = 10,
    rate_hz: float = 200.0,
    still: float = 1.2,
    moving: float = 1.0,
    offset: tuple[float, ...] = (3.0, -2.0, 5.0, 0.1, -0.2, 0.05),
    phi: np.ndarray = PHI,
    gyro_turn: np.ndarray | None = None,
    gravity_accuracy: float = 0.0,
    **of_wrench: Any,
) -> Recording:
    """A log with `gyro`, `force` and `torque` alone.

    Args:
        seed: of the attitudes and the noise.
        noise: size of the noise.
        attitudes: in which it stands still.
        rate_hz: of the rows.
        still, moving: how long it stands, and turns [s].
        offset: of the wrench sensor [N, N m].
        phi: the body.
        gyro_turn: rotation from the body's axes to those in which the gyro's readings are logged.
        gravity_accuracy: key of `[world]`.
        of_wrench: keys of `[wrench]`.
    """
    rng = np.random.default_rng(seed)
    turns = Rotation.random(attitudes - 1, random_state=rng).as_rotvec()
    turns *= rng.uniform(1.2, 2.2, (attitudes - 1, 1)) / np.linalg.norm(turns, axis=1)[:, None]
    steps = rng.uniform(-0.3, 0.3, (attitudes - 1, 3))
    period = still + moving
    t = np.arange(0.0, attitudes * still + (attitudes - 1) * moving, 1.0 / rate_hz)
    leg = np.minimum((t / period).astype(int), attitudes - 2)
    s = np.clip((t - leg * period - still) / moving, 0.0, 1.0)
    way = s**4 * (35.0 - 84.0 * s + 70.0 * s**2 - 20.0 * s**3)
    speed = 140.0 * (s * (1.0 - s)) ** 3 / moving
    change = 420.0 * (s * (1.0 - s)) ** 2 * (1.0 - 2.0 * s) / moving**2
    R = [Rotation.random(random_state=rng)]
    for turn in turns:
        R.append(R[-1] * Rotation.from_rotvec(turn))
    begin = Rotation.concatenate(R[:-1])[leg]
    attitude = begin * Rotation.from_rotvec(way[:, None] * turns[leg])
    w, alpha = speed[:, None] * turns[leg], change[:, None] * turns[leg]
    a = attitude.inv().apply(change[:, None] * steps[leg] - GRAVITY)
    com, Ic = phi[1:4] / phi[0], inertia_about_com(phi)
    force = phi[0] * (a + np.cross(alpha, com) + np.cross(w, np.cross(w, com)))
    torque = alpha @ Ic + np.cross(w, w @ Ic) + np.cross(com, force)
    sizes = noise * np.array([0.05] * 3 + [4e-3] * 3)
    read = np.hstack((force, torque)) + offset + sizes * rng.standard_normal((len(t), 6))
    gyro = w + noise * 3e-3 * rng.standard_normal(w.shape)
    if gyro_turn is not None:
        gyro = gyro @ gyro_turn.T
    return read_log(
        {"time": t, "gyro": gyro, "force": read[:, :3], "torque": read[:, 3:]},
        {
            "log": {"time": "time"},
            "world": {"gravity_accuracy": gravity_accuracy},
            "imu": {"gyro": "gyro"},
            "wrench": WRENCH_ARRAYS | of_wrench,
        },
    )
