"""Makes free_flight.parquet and truth.json: a free flyer turned by couples of thrusters.

    python generate.py

In free fall nothing but the couples acts: the centre of mass moves evenly, and the attitude follows
Euler's equations about it, I ω̇ = τ − ω × I ω, q̇ = ½ q ω. They are integrated by SciPy's DOP853 to
1e-12, apart from the toolkit's own equations; the couples are sums of sines and known exactly.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

HERE = Path(__file__).parent
SEED = 20
RATE_HZ, DURATION = 100.0, 30.0
MASS = 4.3
COM = np.array([0.012, -0.008, 0.015])
INERTIA_ABOUT_COM = np.array([[24.2, 0.9, -0.6], [0.9, 21.4, 0.4], [-0.6, 0.4, 19.7]]) * 1e-3
LARGEST_COUPLE = 0.09
FREQUENCIES_HZ = np.array([0.13, 0.29, 0.47, 0.71, 0.97])
NOISE = {"position": 5e-5, "attitude": 2e-4, "rate": 1e-3, "couple": 1e-3}


def couples(rng: np.random.Generator):
    """The couple in body axes as a function of time, three sums of five sines [N m]."""
    share = rng.uniform(0.5, 1.0, (3, len(FREQUENCIES_HZ)))
    amplitude = LARGEST_COUPLE * share / share.sum(axis=1, keepdims=True)
    phase = rng.uniform(0.0, 2.0 * np.pi, share.shape)

    def at(t):
        angle = 2.0 * np.pi * FREQUENCIES_HZ * np.asarray(t)[..., None, None] + phase
        return (amplitude * np.sin(angle)).sum(axis=-1)

    return at


def flight(couple, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Attitude (x, y, z, w) and angular velocity in body axes."""
    inverse = np.linalg.inv(INERTIA_ABOUT_COM)

    def derivative(t, state):
        x, y, z, w = state[:4]
        rate = state[4:]
        turning = 0.5 * np.array([[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]]) @ rate
        momentum = INERTIA_ABOUT_COM @ rate
        return np.concatenate((turning, inverse @ (couple(t) - np.cross(rate, momentum))))

    start = np.array([0.0, 0.0, 0.0, 1.0, 0.3, -0.2, 0.25])
    done = solve_ivp(
        derivative, time[[0, -1]], start, "DOP853", t_eval=time, rtol=1e-12, atol=1e-13
    )
    q = done.y[:4].T
    return q / np.linalg.norm(q, axis=1, keepdims=True), done.y[4:].T


def main(folder: Path = HERE) -> None:
    """Write both files to a folder."""
    rng = np.random.default_rng(SEED)
    time = np.arange(round(DURATION * RATE_HZ)) / RATE_HZ
    couple = couples(rng)
    q, rate = flight(couple, time)
    com_in_world = np.array([0.2, -0.1, 0.5]) + time[:, None] * [0.02, 0.01, -0.015]
    position = com_in_world - Rotation.from_quat(q).apply(COM)

    def noisy(values, sigma: float):
        return values + sigma * rng.standard_normal(values.shape)

    tilt = Rotation.from_rotvec(NOISE["attitude"] * rng.standard_normal(rate.shape))
    columns = {
        "t": time,
        **dict(zip(("px", "py", "pz"), noisy(position, NOISE["position"]).T, strict=True)),
        **dict(
            zip(("qx", "qy", "qz", "qw"), (Rotation.from_quat(q) * tilt).as_quat().T, strict=True)
        ),
        **dict(zip(("wx", "wy", "wz"), noisy(rate, NOISE["rate"]).T, strict=True)),
        **dict.fromkeys(("fx", "fy", "fz"), np.zeros(len(time))),
        **dict(zip(("tx", "ty", "tz"), noisy(couple(time), NOISE["couple"]).T, strict=True)),
    }
    table = pd.DataFrame({name: np.round(values, 7) for name, values in columns.items()})
    table.to_parquet(folder / "free_flight.parquet", index=False)
    outer = COM @ COM * np.eye(3) - np.outer(COM, COM)
    about_origin = INERTIA_ABOUT_COM + MASS * outer
    truth = {
        "mass": MASS,
        "com": COM.tolist(),
        "inertia_about_com": INERTIA_ABOUT_COM.tolist(),
        "phi": [MASS, *(MASS * COM).tolist(), *about_origin[np.triu_indices(3)].tolist()],
        "seed": SEED,
        "noise": NOISE,
    }
    (folder / "truth.json").write_text(json.dumps(truth, indent=2) + "\n")


if __name__ == "__main__":
    main()
