"""Rounding of a wrench to the steps of a register, and what it adds to a wrench on average.

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
from identify.signals.preparation import full_rate
from identify.signals.prepared import FullRate
from identify.spatial.columns import PSI, W

COARSE_STEP_SIGMAS = 2.0
"""Standard deviations of the noise from which on a step matters: below, noise makes the error of
rounding another noise, on average zero to half a hundredth of it."""

_STEP_TOLERANCE = 0.1
"""Share of a step by which values may miss the steps of a register."""

_NEIGHBOUR_STEPS = 3
"""Steps on either side that noise may round to: of noise below half a step no more than 1e-6."""

_MIN_NOISE_STEPS = 1e-6
"""Noise below this share of a step rounds as none."""

_WRENCH_BAND_SHARE = 1.0 / 3.0
"""Band of the wrench of the body, as a share of that of derivatives."""

MIN_VALUES, MIN_VALUES_STILL = 3, 10
"""Values that a channel of a register takes, and in still poses: there a body's own wrench in a few
attitudes along axes takes fewer, evenly apart."""

_EQUAL_VALUES = 1e-9
"""Share of the range below which two values are one."""


class Quantiser(NamedTuple):
    """The values that a register gives: whole numbers of steps from a first.

    Attributes:
        size: of a step, zero where values are not of a register.
        first: one of the values.
    """

    size: float
    first: float


def fit_quantiser(values: Array, fewest: int = MIN_VALUES) -> Quantiser:
    """The steps of a channel, of the values it takes.

    Args:
        values: in any order, shape (n,).
        fewest: different values that tell steps.
    """
    taken = np.unique(values)
    if len(taken) < fewest:
        return Quantiser(0.0, 0.0)
    apart = np.diff(taken)
    apart = apart[apart > _EQUAL_VALUES * (taken[-1] - taken[0])]
    # The least distance has the rounding of decimals: all together tell it better.
    number = np.append(0.0, np.cumsum(np.rint(apart / apart.min())))
    taken = taken[0] + np.append(0.0, np.cumsum(apart))
    size, first = np.polyfit(number, taken, 1)
    off = np.abs(taken - first - size * number).max()
    return (
        Quantiser(float(size), float(first))
        if off <= _STEP_TOLERANCE * size
        else Quantiser(0.0, 0.0)
    )


def mean_quantisation_error(true: Array, step: float, first: float, noise: float) -> Array:
    """What rounding adds on average to values with normal noise, in their unit.

    With μ and σ of a value in steps from the nearest that the register gives, the mean of what is
    given is Σ_j Φ((μ − j − ½)/σ) − Φ((−μ − j − ½)/σ).

    Args:
        true: values without noise, any shape.
        step: of the register.
        first: a value that it gives.
        noise: standard deviation.
    """
    at = (true - first) / step
    at = at - np.rint(at)
    sigma = max(noise / step, _MIN_NOISE_STEPS)
    edges = np.arange(_NEIGHBOUR_STEPS) + 0.5
    given = sum(ndtr((at - edge) / sigma) - ndtr((-at - edge) / sigma) for edge in edges.tolist())
    return np.asarray(step * (given - at))


@dataclass(frozen=True, slots=True)
class Rounding:
    """How the wrench of a log was rounded, and the body that tells what of it was lost.

    Attributes:
        steps: of each channel of the wrench as it is logged, [f; t] [N, N m].
        noise: standard deviation of each, of what was rounded about the wrench of the body.
        body: maps ψ to the wrench of the body at Bo in B, by rows, (6, 12).
        offset: of the sensor at Bo in B.
        cutoff_hz: that derivatives are made for.
    """

    steps: tuple[Quantiser, ...]
    noise: tuple[float, ...]
    body: tuple[tuple[float, ...], ...]
    offset: tuple[float, ...]
    cutoff_hz: float | None

    @property
    def coarse(self) -> tuple[bool, ...]:
        """Of which channels a step is large beside the noise."""
        return tuple(
            step.size > COARSE_STEP_SIGMAS * noise
            for step, noise in zip(self.steps, self.noise, strict=True)
        )

    @property
    def _finding(self) -> Finding:
        """What was rounded, and that it was taken off."""
        said, sizes = [], np.where(self.coarse, [step.size for step in self.steps], 0.0)
        for name, unit, half in (("force", "N", sizes[:3]), ("torque", "N m", sizes[3:])):
            if half.any():
                said.append(f"the {name} is logged in steps of {half.max():.3g} {unit}")
        return Finding(
            "wrench_rounded",
            "info",
            f"{' and '.join(said)}, more than twice the noise: what rounding adds on average to "
            "the wrench of the body was worked out and taken off.",
            "Log with finer steps if you can, or choose a smaller range of the sensor.",
            {"steps": sizes.tolist(), "noise": list(self.noise)},
        )

    def dequantised(self, recording: Recording) -> Recording:
        """The recording without what rounding adds on average to the wrench of the body.

        Rows at the edges, whose motion cannot be differentiated, stay as they are.
        """
        try:
            parts = full_rate(recording, self.cutoff_hz)
        except LogError:  # too few rows to see a motion
            return recording
        still = recording.time is None or recording.still
        stamps = np.arange(float(len(recording))) if still else np.asarray(recording.time)
        stamps = stamps - recording.wrench_delay
        added = np.zeros((len(recording), 6))
        for part in parts:
            inner, wrench = self.wrench_of(recording, part)
            if not len(wrench):
                continue
            time = part.time[inner]
            rows = (stamps >= time[0]) & (stamps <= time[-1])
            for k in np.flatnonzero(self.coarse).tolist():
                true = np.interp(stamps[rows], time, wrench[:, k])
                added[rows, k] = mean_quantisation_error(true, *self.steps[k], self.noise[k])
        signals: Mapping[str, Array] = {
            **recording.signals,
            "force": recording.signals["force"] - added[:, :3],
            "torque": recording.signals["torque"] - added[:, 3:],
        }
        findings = (*recording.findings, self._finding)
        return replace(recording, signals=signals, findings=findings)

    def wrench_of(self, recording: Recording, part: FullRate) -> tuple[slice, Vec6]:
        """The wrench of the body and the offset as it is logged, and of which samples it is.

        Noise of the motion, differentiated, may be more than a step; below the cut-off it is less.
        """
        left = part.columns[:, W] - part.columns[:, PSI] @ np.array(self.body).T
        wrench = part.logged_wrench - part.at_sensor(recording, left - np.array(self.offset))
        if part.rate_hz is None or part.cutoff_hz is None:
            return slice(None), wrench
        smooth = Differentiator.design(part.rate_hz, _WRENCH_BAND_SHARE * part.cutoff_hz)
        inner = slice(smooth.half_window, max(smooth.half_window, len(wrench) - smooth.half_window))
        if inner.stop <= inner.start:
            return slice(0), wrench[:0]
        return inner, smooth.apply(wrench, 0)
