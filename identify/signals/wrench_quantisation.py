"""Quantisation of a wrench, and correction of its mean error.

Widrow and Kollár, "Quantization Noise" (2008).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from identify.arrays import Array, Vec6
from identify.errors import LogError
from identify.findings import Finding
from identify.logs import Recording
from identify.signals.differentiator import Differentiator
from identify.signals.preparation import full_rate_segments
from identify.signals.prepared_log import FullRateSegment
from identify.spatial.columns import FEATURES, WRENCH

COARSE_STEP_SIGMAS = 2.0
"""Quantisation step, in standard deviations of the noise, above which the mean error matters;
below, the noise reduces it to under half a per cent."""

_STEP_TOLERANCE = 0.1
"""Largest deviation of values from a quantiser's levels, as a share of its step."""

_LEVELS_REACHED_BY_NOISE = 3
"""Quantisation levels on either side that noise may reach: below half a step, with p < 1e-6."""

_MIN_NOISE_STEPS = 1e-6
"""Smallest noise considered, as a share of the quantisation step."""

_WRENCH_BAND_SHARE = 1.0 / 3.0
"""Cut-off of the body's predicted wrench, as a fraction of the cut-off of the derivatives."""

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
        feature_wrench_map: maps ψ to the wrench of the body at Bo in B, by rows, (6, 12).
        offset: of the sensor at Bo in B.
        cutoff_hz: of the derivatives.
    """

    quantisers: tuple[Quantiser, ...]
    noise: tuple[float, ...]
    feature_wrench_map: tuple[tuple[float, ...], ...]
    offset: tuple[float, ...]
    cutoff_hz: float | None

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
        """Subtract the mean quantisation error of the body's wrench from a recording.

        Rows at the edges, whose motion cannot be differentiated, are unchanged.
        """
        try:
            parts = full_rate_segments(recording, self.cutoff_hz)
        except LogError:  # too few rows to see a motion
            return recording
        still = recording.time is None or recording.still
        stamps = np.arange(float(len(recording))) if still else np.asarray(recording.time)
        stamps = stamps - recording.wrench_delay
        mean_error = np.zeros((len(recording), 6))
        for part in parts:
            inner, wrench = self.body_wrench(recording, part)
            if not len(wrench):
                continue
            time = part.time[inner]
            rows = (stamps >= time[0]) & (stamps <= time[-1])
            for k in np.flatnonzero(self.is_coarse).tolist():
                true = np.interp(stamps[rows], time, wrench[:, k])
                mean_error[rows, k] = mean_quantisation_error(
                    true, *self.quantisers[k], self.noise[k]
                )
        signals: Mapping[str, Array] = {
            **recording.signals,
            "force": recording.signals["force"] - mean_error[:, :3],
            "torque": recording.signals["torque"] - mean_error[:, 3:],
        }
        findings = (*recording.findings, self._finding)
        return replace(recording, signals=signals, findings=findings)

    def body_wrench(self, recording: Recording, part: FullRateSegment) -> tuple[slice, Vec6]:
        """Return a range of samples, and the wrench of body and offset there in the log's axes.

        Differentiated noise of the motion may exceed a step, so the wrench is low-passed.
        """
        residual = (
            part.columns[:, WRENCH]
            - part.columns[:, FEATURES] @ np.array(self.feature_wrench_map).T
        )
        wrench = part.logged_wrench - part.at_sensor(recording, residual - np.array(self.offset))
        if part.rate_hz is None or part.cutoff_hz is None:
            return slice(None), wrench
        smooth = Differentiator.design(part.rate_hz, _WRENCH_BAND_SHARE * part.cutoff_hz)
        inner = slice(smooth.half_window, max(smooth.half_window, len(wrench) - smooth.half_window))
        if inner.stop <= inner.start:
            return slice(0), wrench[:0]
        return inner, smooth.apply(wrench, 0)
