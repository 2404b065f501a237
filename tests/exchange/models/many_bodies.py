"""Many consistent bodies from 1 g to 100 t: full, thin, and exact plates and rods."""

import numpy as np

from identify.inertia import phi_from_inertia
from identify.spatial import rotation_from_quaternion


def many_bodies(rng: np.random.Generator, count: int) -> list[np.ndarray]:
    return [_body(rng, index % 5) for index in range(count)]


def allowed(phi: np.ndarray) -> float:
    """Nine digits and a margin of 1e-9; a rod of a gram is moved more, to MuJoCo's 1e-14 kg m²."""
    return 2e-8 + 2e-14 / float(phi[[4, 7, 9]].sum())


def _body(rng: np.random.Generator, kind: int) -> np.ndarray:
    mass = 10.0 ** rng.uniform(-3.0, 5.0)
    size = (mass / 10.0 ** rng.uniform(2.0, 4.0)) ** (1.0 / 3.0) * 10.0 ** rng.uniform(0.0, 0.7)
    thin = 10.0 ** rng.uniform(-5.0, -2.0)
    second, third = rng.uniform(0.1, 1.0, 2)
    sides = (
        (1.0, second, third),
        (1.0, second, thin),
        (1.0, thin, thin),
        (1.0, second, 0.0),
        (1.0, 0.0, 0.0),
    )[kind]
    q = rng.normal(size=4)
    R = rotation_from_quaternion(q / np.linalg.norm(q)) if rng.random() < 0.7 else np.eye(3)
    spread = (R * np.square(sides)) @ R.T
    inertia = mass * size**2 / 12.0 * (np.trace(spread) * np.eye(3) - spread)
    return phi_from_inertia(mass, rng.uniform(-2.0, 2.0, 3) * size, inertia)
