"""Block statistics of simulated samples: a body, a well exciting motion, a bias and white noise."""

from dataclasses import dataclass

import numpy as np

from identify.estimation import EstimatorSettings, body_system, weighted_least_squares
from identify.inertia import inertia_about_com, phi_from_inertia
from identify.regressors import newton_euler_wrench
from identify.regressors.newton_euler import regressor_from_features
from identify.spatial import BodyMotion
from tests.regressors.rows import statistics_of_rows
from tests.strategies import random_motion


@dataclass(frozen=True)
class Samples:
    motion: BodyMotion
    wrench: np.ndarray

    @property
    def rows(self) -> np.ndarray:
        ones = np.ones((len(self.wrench), 1))
        return np.concatenate((ones, self.motion.features, self.wrench), axis=1)

    def blocks(self, effective: float | None = None, noise: np.ndarray | None = None):
        if noise is not None:
            noise = np.concatenate(([0.0], noise))
        return statistics_of_rows(self.rows, effective, noise=noise)


def size_of(phi: np.ndarray) -> float:
    """Root mean square distance of the mass from its centre."""
    return float(np.sqrt(0.5 * np.trace(inertia_about_com(phi)) / phi[0]))


def samples(
    phi: np.ndarray,
    rng: np.random.Generator,
    count: int = 300,
    *,
    noise: float | np.ndarray = 0.0,
    bias: np.ndarray | float = 0.0,
    motion: BodyMotion | None = None,
) -> Samples:
    motion = motion or random_motion(rng, count, size_of(phi))
    wrench = newton_euler_wrench(phi, motion) + bias
    return Samples(motion, wrench + rng.normal(size=wrench.shape) * noise)


def wrench_noise(phi: np.ndarray, share: float) -> np.ndarray:
    """Standard deviations that are a share of the body's weight, and of its torque at body size."""
    return share * 9.81 * phi[0] * np.repeat([1.0, size_of(phi)], 3)


def flat_body(rng: np.random.Generator, sides: tuple[float, float, float]) -> np.ndarray:
    """A box of 1 g to 100 t with the given relative sides; one or two of them may be zero."""
    mass = 10.0 ** rng.uniform(-3.0, 5.0)
    size = (mass / 10.0 ** rng.uniform(2.0, 4.0)) ** (1.0 / 3.0) * 10.0 ** rng.uniform(0.0, 0.7)
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    spread = (axes * np.square(sides)) @ axes.T
    inertia = mass * size**2 / 12.0 * (np.trace(spread) * np.eye(3) - spread)
    return phi_from_inertia(mass, size * rng.uniform(-2.0, 2.0, 3), inertia)


def residual_rows(rows: np.ndarray, phi: np.ndarray) -> np.ndarray:
    """Residuals w − Y(ψ) φ of rows z = [1, ψ, w], shape (n, 19) to (n, 6)."""
    return rows[:, 13:] - regressor_from_features(rows[:, 1:13]) @ phi


def fitted(log: Samples, settings=None, effective: float | None = None):
    """The least-squares part of `estimate_body`."""
    return fit_of([log.blocks(effective)], settings)


def fit_of(logs, settings=None):
    """The least-squares part of `estimate_body`."""
    settings = settings or EstimatorSettings()
    return weighted_least_squares(body_system(logs, settings), settings.all_terms)
