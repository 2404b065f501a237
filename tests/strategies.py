"""Random bodies, poses and motions: from a gram to a hundred tonnes, degenerate ones among them."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from identify.inertia import phi_from_inertia
from identify.spatial import BodyMotion, Pose, rotation_from_quaternion


def vectors(size: int = 3, largest: float = 1.0) -> st.SearchStrategy[np.ndarray]:
    """Vectors of numbers that are zero or of ordinary size, never subnormal."""
    entry = st.floats(-1.0, 1.0, width=32).map(lambda x: 0.0 if abs(x) < 1e-6 else x)
    return arrays(np.float64, size, elements=entry).map(lambda v: largest * v)


@st.composite
def quaternions(draw: st.DrawFn) -> np.ndarray:
    """Unit quaternions, half of them with a scalar part below zero."""
    q = draw(vectors(4).filter(lambda v: np.linalg.norm(v) > 1e-3))
    return q / np.linalg.norm(q)


def rotations() -> st.SearchStrategy[np.ndarray]:
    return quaternions().map(rotation_from_quaternion)


@st.composite
def poses(draw: st.DrawFn, largest: float = 2.0) -> Pose:
    return Pose(draw(rotations()), draw(vectors(3, largest)))


def masses() -> st.SearchStrategy[float]:
    """1 g to 100 t, evenly in their logarithm."""
    return st.floats(-3.0, 5.0).map(lambda exponent: 10.0**exponent)


@st.composite
def bodies(draw: st.DrawFn, *, flat: bool | None = None, offset: float = 2.0) -> np.ndarray:
    """Ten parameters of a body that some density realises.

    Args:
        draw: given by Hypothesis.
        flat: True for plates and rods of no thickness, False for bodies with extent in every
            direction, None for any of both and what is nearly flat.
        offset: largest distance of the centre of mass from the origin, in body sizes.
    """
    mass = draw(masses())
    density = 10.0 ** draw(st.floats(2.0, 4.0))
    size = (mass / density) ** (1.0 / 3.0) * 10.0 ** draw(st.floats(0.0, 0.7))
    kinds = {
        None: ["full", "thin plate", "thin rod", "plate", "rod"],
        True: ["plate", "rod"],
        False: ["full"],
    }[flat]
    kind = draw(st.sampled_from(kinds))
    second, third = draw(st.floats(0.1, 1.0)), draw(st.floats(0.1, 1.0))
    thin = 10.0 ** draw(st.floats(-5.0, -2.0))
    sides = {
        "full": (1.0, second, third),
        "thin plate": (1.0, second, thin),
        "thin rod": (1.0, thin, thin),
        "plate": (1.0, second, 0.0),
        "rod": (1.0, 0.0, 0.0),
    }[kind]
    axes = draw(rotations())
    spread = (axes * np.square(sides)) @ axes.T
    inertia = mass * size**2 / 12.0 * (np.trace(spread) * np.eye(3) - spread)
    return phi_from_inertia(mass, draw(vectors(3, offset * size)), inertia)


@st.composite
def motions(draw: st.DrawFn, count: int = 1) -> BodyMotion:
    """Samples of a motion, each independent of the others."""
    samples = st.tuples(*(vectors(3 * count, largest) for largest in (20.0, 6.0, 30.0)))
    a, w, alpha = (values.reshape(count, 3) for values in draw(samples))
    return BodyMotion(a, w, alpha)


def seeds() -> st.SearchStrategy[int]:
    return st.integers(0, 2**32 - 1)


def random_motion(rng: np.random.Generator, count: int, length: float = 0.3) -> BodyMotion:
    """Well exciting samples for a body of the given size: a few m/s² of every kind."""
    return BodyMotion(
        rng.normal([0.0, 0.0, 3.0], 6.0, (count, 3)),
        rng.normal(0.0, np.sqrt(3.0 / length), (count, 3)),
        rng.normal(0.0, 4.0 / length, (count, 3)),
    )


def random_body(rng: np.random.Generator, mass: float = 1.0, size: float = 0.2) -> np.ndarray:
    """A full body: a cloud of points about an origin that is not its centre of mass."""
    points = size * (
        rng.normal(size=(40, 3)) * rng.uniform(0.3, 1.0, 3) + rng.uniform(-0.5, 0.5, 3)
    )
    weights = rng.uniform(0.2, 1.0, 40)
    return phi_of_points(points, mass * weights / weights.sum())


def phi_of_points(points: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Ten parameters of point masses, straight from the integrals."""
    inertia = sum(
        m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(weights, points, strict=True)
    )
    six = inertia[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
    return np.concatenate(([weights.sum()], weights @ points, six))
