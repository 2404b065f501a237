"""Resonance of a body: a spring with a damper passes on the force on a part of it, or on all of it.

With ω = 2πf and damping ratio ζ, the force F on the part's mass arrives as H F,
H = (2ζω s + ω²) / (s² + 2ζω s + ω²): liquids (Ibrahim, "Liquid Sloshing Dynamics" (2005), chapter
5), hanging parts, mounts that flex.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.signal import TransferFunction, lfilter

from identify.arrays import Array, Mat33, Vec6
from identify.logs import Recording
from identify.signals.predicted_wrench import subtract_error
from identify.signals.prepared_log import FullRateSegment
from identify.spatial.columns import (
    ANGULAR_ACCELERATION,
    FEATURES,
    PRODUCT_COLUMNS,
    PROPER_ACCELERATION,
)
from identify.spatial.rotations import hat


@dataclass(frozen=True, slots=True)
class WrenchResonance:
    """Resonance of a part of a body.

    Attributes:
        frequency_hz: natural frequency f [Hz].
        damping: damping ratio ζ.
        part: mass and first moment m_s, m_s p about Bo in B of the part that moves.
        in_world: whether it moves along axes of the world, like a liquid, not of the body.
        cutoff_hz: of the derivatives.
    """

    frequency_hz: float
    damping: float
    part: tuple[float, ...]
    in_world: bool
    cutoff_hz: float | None

    def removed_from(self, recording: Recording) -> Recording:
        """Subtract from a recording the wrench that the resonance adds."""

        def error_in(part: FullRateSegment, stamps: Array) -> Vec6:
            if part.rate_hz is None:
                return np.zeros((len(stamps), 6))
            force = resonant_force(
                part.columns[:, FEATURES],
                part.rotation if self.in_world else None,
                self.frequency_hz,
                self.damping,
                1.0 / part.rate_hz,
            ) @ np.array(self.part)
            place = np.array(self.part[1:]) / self.part[0]
            added = part.at_sensor(recording, np.hstack((force, np.cross(place, force))))
            return np.stack([np.interp(stamps, part.time, x) for x in added.T], axis=-1)

        return subtract_error(recording, self.cutoff_hz, error_in)


def resonant_force(
    features: Array, rotation: Mat33 | None, frequency_hz: float, damping: float, period: float
) -> Array:
    """Return the force that a resonance adds for each of m_s and m_s p of the part that moves.

    It is Rᵀ (H − 1) R F, for the force F(ψ) of each, and acts at p.

    `features`: ψ at even times, shape (n, 12); `rotation`: R of the axes along which the part
    moves, from B, shape (n, 3, 3), None for the body's; `period`: [s].
    Returns forces in B, shape (n, 3, 4).
    """
    # a' + α × p + ω × (ω × p), with ω × (ω × p) = (ω ωᵀ − |ω|²) p
    products = features[:, np.array(PRODUCT_COLUMNS)]
    squared_rate = np.trace(products, axis1=1, axis2=2)[:, None, None]
    of_moment = hat(features[:, ANGULAR_ACCELERATION]) + products - squared_rate * np.eye(3)
    force = np.concatenate((features[:, PROPER_ACCELERATION, None], of_moment), axis=2)
    if rotation is not None:
        force = rotation @ force
    added = passed_on(force, frequency_hz, damping, period) - force
    return added if rotation is None else np.swapaxes(rotation, 1, 2) @ added


def passed_on(values: Array, frequency_hz: float, damping: float, period: float) -> Array:
    """Return what a spring with a damper passes on of forces on its mass, from rest.

    y'' + 2ζω y' + ω² y = 2ζω x' + ω² x with ω = 2πf, exact for x that is linear between samples.

    `values`: x at even times, shape (n, …); `frequency_hz`, `damping`: f, ζ; `period`: [s].
    """
    w = 2.0 * np.pi * frequency_hz
    spring = TransferFunction([2.0 * damping * w, w**2], [1.0, 2.0 * damping * w, w**2])
    sampled = spring.to_discrete(period, method="foh")
    first = values[:1]
    return first + lfilter(sampled.num, sampled.den, values - first, axis=0)
