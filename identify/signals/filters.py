"""The highest frequency that is taken of a log, and what it asks of the log's length."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from identify.arrays import Array
from identify.errors import LogError
from identify.signals.kernels import Differentiator, default_cutoff_hz
from identify.signals.noise import power_spectrum
from identify.signals.transform import BAND_EDGES_HZ
from identify.significance import SIGNIFICANT_SIGMA
from identify.spatial import rotation_from_quaternion

_HIGHEST_SHARE = 0.2
"""Highest cut-off that is chosen, of the sampling rate."""

_MOTION_ABOVE = 3e-4
"""Share of the motion's power that may lie above the cut-off: of its acceleration that is more."""

_NOISE_FROM = 0.6
"""Share of half the sampling rate above which a spectrum is noise."""

_HANN = 35.0 / 18.0
"""Frequencies of a spectrum by Hann windows that vary as one: Σρ² of its lines."""


def motion_cutoff_hz(
    signals: Mapping[str, Array], rate_hz: float, least_hz: float | None = None
) -> float:
    """The cut-off below which the body turns and accelerates: the default, or higher for fast ones.

    What counts is the direction of gravity in B, angular velocity and acceleration, each as far as
    its spectrum stands out of its noise; position and wrench may hold vibration that is no motion.

    Args:
        signals: of the longest segment, by name.
        rate_hz: its sampling rate.
        least_hz: in place of the default.
    """
    default = least_hz or default_cutoff_hz(rate_hz)
    moving = ("gyro", "angular_velocity", "accelerometer", "linear_acceleration")
    found = [signals[name] for name in moving if name in signals]
    if "quaternion" in signals:
        found.append(rotation_from_quaternion(signals["quaternion"])[:, 2])
    if all(_share_above(each, default, rate_hz) < _MOTION_ABOVE for each in found):
        return default
    for edge in BAND_EDGES_HZ:
        if edge > _HIGHEST_SHARE * rate_hz:
            break
        if edge <= default:
            continue
        if all(_share_above(each, edge, rate_hz) < _MOTION_ABOVE for each in found):
            return edge
        default = edge
    return default


def _share_above(columns: Array, edge_hz: float, rate_hz: float) -> float:
    """Share of a signal's power over its noise that is surely above a frequency."""
    frequency, power, averaged = power_spectrum(columns, rate_hz)
    noise = frequency > _NOISE_FROM * 0.5 * rate_hz
    floor = power[noise].mean(axis=0)
    above, moving = (frequency > edge_hz) & ~noise, (frequency > 0.0) & ~noise
    # The floor is read off the same spectrum, and neighbours of a Hann window go together.
    counts = above.sum() + above.sum() ** 2 / noise.sum()
    chance = SIGNIFICANT_SIGMA * floor * np.sqrt(_HANN * counts / averaged)
    fast = (power[above] - floor).sum(axis=0) - chance
    whole = float(np.maximum((power[moving] - floor).sum(axis=0), 0.0).sum())
    return float(np.maximum(fast, 0.0).sum()) / whole if whole > 0.0 else 0.0


def shortest_segment(rate_hz: float, cutoff_hz: float) -> float:
    """Rows of the shortest segment that is used: what derivatives need, and a period more.

    Nothing of that length is made: it may be beyond any memory, or infinite.
    """
    period = np.inf if cutoff_hz == 0.0 else np.ceil(rate_hz / cutoff_hz)
    return 2.0 * Differentiator.half_window_of(rate_hz, cutoff_hz) + period


def choose_cutoff_hz(
    rate_hz: float, longest: int, asked: float | None, default: float | None = None
) -> tuple[float, bool]:
    """The cut-off for a log whose longest segment has so many rows.

    Args:
        rate_hz: its sampling rate.
        longest: rows of its longest segment.
        asked: what a person asked for, if anything.
        default: what the motion asks for; that of the rate where not given.

    Returns:
        The cut-off [Hz], and whether it had to be raised above the default because the segments
        are short.

    Raises:
        LogError: it cannot be had at this rate, or no segment is long enough.
    """
    if asked is not None and not 0.0 < asked < 0.45 * rate_hz:
        raise LogError(
            f"a cut-off of {asked:g} Hz cannot be had at {rate_hz:.4g} rows a second; choose one "
            f"above 0 and below {0.45 * rate_hz:.4g} Hz"
        )
    default = default or default_cutoff_hz(rate_hz)
    wanted = default if asked is None else asked
    if longest >= shortest_segment(rate_hz, wanted):
        return wanted, False
    if asked is None:
        for cutoff in np.geomspace(default, _HIGHEST_SHARE * rate_hz, 8)[1:].tolist():
            if cutoff > default and longest >= shortest_segment(rate_hz, cutoff):
                return cutoff, True
        wanted = max(default, _HIGHEST_SHARE * rate_hz)
    need = shortest_segment(rate_hz, wanted)
    raise LogError(
        f"no segment without gaps or jumps is long enough for a cut-off of {wanted:.3g} Hz, which "
        f"takes {need / rate_hz:.2g} s ({need:.6g} rows); the longest has {longest} rows, which "
        f"would be {longest / rate_hz:.2g} s. Choose a higher cut-off; if the time is wrong, check "
        f"`time_unit` or `rate_hz` in [log]; if each row is a still pose, set `still = true` there"
    )
