"""Quantisation of a wrench, and correction of its mean error.

Widrow and Kollár, "Quantization Noise" (2008).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from identify.arrays import Array, Vec6
from identify.findings import Finding
from identify.logs import Recording
from identify.signals.predicted_wrench import PredictedWrench

COARSE_STEP_SIGMAS = 2.0
"""Quantisation step, in standard deviations of the noise, above which the mean error matters;
below, the noise reduces it to under half a per cent."""

_STEP_TOLERANCE = 0.1
"""Largest deviation of values from a quantiser's levels, as a share of its step."""

_LEVELS_REACHED_BY_NOISE = 3
"""Quantisation levels on either side that noise may reach: below half a step, with p < 1e-6."""

_MIN_NOISE_STEPS = 1e-6
"""Smallest noise considered, as a share of the quantisation step."""

MIN_VALUES, MIN_VALUES_STATIC = 3, 10
"""Minimum number of values that show a quantiser, in motion and in static poses: that of a body
in a few attitudes along axes also takes a few evenly spaced values."""

_EQUAL_VALUES = 1e-9
"""Largest difference of equal values, as a share of the range."""


class Quantiser(NamedTuple):
    """Uniform quantiser: its output levels are whole numbers of steps from a first one.

    Attributes:
        step: quantisation step; zero if values are not quantised.
        level: one of the levels.
    """

    step: float
    level: float


def fit_quantiser(values: Array, min_distinct: int = MIN_VALUES) -> Quantiser:
    """Fit a quantiser to the values of a channel.

    `values`: in any order, shape (n,).
    """
    values_taken = np.unique(values)
    if len(values_taken) < min_distinct:
        return Quantiser(0.0, 0.0)
    gaps = np.diff(values_taken)
    gaps = gaps[gaps > _EQUAL_VALUES * (values_taken[-1] - values_taken[0])]
    # The smallest gap contains decimal rounding; a fit to all levels is more accurate.
    number = np.append(0.0, np.cumsum(np.rint(gaps / gaps.min())))
    values_taken = values_taken[0] + np.append(0.0, np.cumsum(gaps))
    size, first = np.polyfit(number, values_taken, 1)
    deviation = np.abs(values_taken - first - size * number).max()
    return (
        Quantiser(float(size), float(first))
        if deviation <= _STEP_TOLERANCE * size
        else Quantiser(0.0, 0.0)
    )


def mean_quantisation_error(true: Array, step: float, first: float, noise: float) -> Array:
    """Return the mean quantisation error of values with normal noise, in their unit.

    With μ and σ of a value in steps from the nearest level, the mean output is
    Σ_j Φ((μ − j − ½)/σ) − Φ((−μ − j − ½)/σ).

    `true`: values without noise, any shape; `noise`: standard deviation.
    """
    offset = (true - first) / step
    offset = offset - np.rint(offset)
    sigma = max(noise / step, _MIN_NOISE_STEPS)
    edges = np.arange(_LEVELS_REACHED_BY_NOISE) + 0.5
    mean_output = sum(
        ndtr((offset - edge) / sigma) - ndtr((-offset - edge) / sigma) for edge in edges.tolist()
    )
    return np.asarray(step * (mean_output - offset))


@dataclass(frozen=True, slots=True)
class WrenchQuantisation:
    """Quantisation of the wrench of a log, with the body whose wrench predicts its mean error.

    Attributes:
        quantisers: quantiser of each channel of the wrench as logged, [f; t] [N, N m].
        noise: standard deviation of each channel before quantisation, about the body's wrench.
        body: wrench of the body, which is transformed to the channels.
    """

    quantisers: tuple[Quantiser, ...]
    noise: tuple[float, ...]
    body: PredictedWrench

    @property
    def is_coarse(self) -> tuple[bool, ...]:
        """Whether the quantisation step of each channel is large compared with the noise."""
        return tuple(
            step.step > COARSE_STEP_SIGMAS * noise
            for step, noise in zip(self.quantisers, self.noise, strict=True)
        )

    @property
    def _finding(self) -> Finding:
        """Finding that the wrench is quantised and was corrected."""
        parts, sizes = [], np.where(self.is_coarse, [step.step for step in self.quantisers], 0.0)
        for name, unit, axes in (("force", "N", sizes[:3]), ("torque", "N m", sizes[3:])):
            if axes.any():
                parts.append(f"the {name} is logged in steps of {axes.max():.3g} {unit}")
        return Finding(
            "wrench_rounded",
            "info",
            f"{' and '.join(parts)}, more than twice the noise: the mean rounding error of the "
            "body's wrench was subtracted.",
            "Log with finer steps if possible, or choose a smaller range of the sensor.",
            {"steps": sizes.tolist(), "noise": list(self.noise)},
        )

    def dequantised(self, recording: Recording) -> Recording:
        """Subtract the mean quantisation error of the body's wrench from a recording."""

        def error_of(true: Vec6) -> Vec6:
            mean_error = np.zeros_like(true)
            for k in np.flatnonzero(self.is_coarse).tolist():
                mean_error[:, k] = mean_quantisation_error(
                    true[:, k], *self.quantisers[k], self.noise[k]
                )
            return mean_error

        dequantised = self.body.without_error(recording, error_of)
        if dequantised is recording:
            return recording
        return replace(dequantised, findings=(*recording.findings, self._finding))
