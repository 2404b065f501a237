"""Choice of the low-pass cut-off of a log and the segment length it requires."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from identify.arrays import Array
from identify.errors import LogError
from identify.signals.differentiator import Differentiator, default_cutoff_hz
from identify.signals.static_poses import IF_STATIC_POSES
from identify.signals.transform import BAND_EDGES_HZ
from identify.signals.white_noise import power_spectrum
from identify.significance import SIGNIFICANT_SIGMA
from identify.spatial import rotation_from_quaternion

_MAX_CUTOFF_SHARE = 0.2
"""Highest cut-off chosen automatically, as a share of the sampling rate."""

_MAX_POWER_ABOVE = 3e-4
"""Largest share of the power of the motion signals that may lie above the cut-off."""

_NOISE_NYQUIST_SHARE = 0.6
"""Share of the Nyquist frequency above which a spectrum counts as noise."""

_HANN_CORRELATION = 35.0 / 18.0
"""Sum of squared correlations Σρ² between neighbouring lines of a Hann-windowed spectrum."""


def motion_cutoff_hz(
    signals: Mapping[str, Array], rate_hz: float, default_hz: float | None = None
) -> float:
    """Choose the cut-off from the bandwidth of the motion: the default, or higher if it is faster.

    The signals considered are the direction of gravity in B, angular velocity and acceleration,
    each where its spectrum exceeds its noise; position and wrench may contain vibration that is
    not motion. So may an acceleration where no force acts: there it follows from the rotation.

    `default_hz`: lowest cut-off; by default that of the rate.
    """
    default = default_hz or default_cutoff_hz(rate_hz)
    moving = ["gyro", "angular_velocity"]
    if not in_free_flight(signals):
        moving += ["accelerometer", "linear_acceleration"]
    motion_signals = [signals[name] for name in moving if name in signals]
    if "quaternion" in signals:
        motion_signals.append(rotation_from_quaternion(signals["quaternion"])[:, 2])
    if all(
        power_share_above(signal, default, rate_hz) < _MAX_POWER_ABOVE for signal in motion_signals
    ):
        return default
    for edge in BAND_EDGES_HZ:
        if edge > _MAX_CUTOFF_SHARE * rate_hz:
            break
        if edge <= default:
            continue
        if all(
            power_share_above(signal, edge, rate_hz) < _MAX_POWER_ABOVE for signal in motion_signals
        ):
            return edge
        default = edge
    return default


def in_free_flight(signals: Mapping[str, Array]) -> bool:
    """Return whether no force acts on the body, so that accelerometers read no gravity."""
    return "force" in signals and not signals["force"].any()


def power_share_above(columns: Array, edge_hz: float, rate_hz: float) -> float:
    """Return a lower confidence limit of the share of a signal's power above a frequency."""
    frequency, power, averaged = power_spectrum(columns, rate_hz)
    noise = frequency > _NOISE_NYQUIST_SHARE * 0.5 * rate_hz
    floor = power[noise].mean(axis=0)
    above, moving = (frequency > edge_hz) & ~noise, (frequency > 0.0) & ~noise
    # The floor comes from the same spectrum, and neighbouring Hann-windowed lines correlate.
    variance_lines = above.sum() + above.sum() ** 2 / noise.sum()
    margin = SIGNIFICANT_SIGMA * floor * np.sqrt(_HANN_CORRELATION * variance_lines / averaged)
    excess = (power[above] - floor).sum(axis=0) - margin
    total = float(np.maximum((power[moving] - floor).sum(axis=0), 0.0).sum())
    return float(np.maximum(excess, 0.0).sum()) / total if total > 0.0 else 0.0


def shortest_segment_rows(rate_hz: float, cutoff_hz: float) -> float:
    """Return the fewest rows of a usable segment: two half windows of derivatives and one period.

    No array of that length is allocated: it may exceed any memory, or be infinite.
    """
    period = np.inf if cutoff_hz == 0.0 else np.ceil(rate_hz / cutoff_hz)
    return 2.0 * Differentiator.designed_half_window(rate_hz, cutoff_hz) + period


def choose_cutoff_hz(
    rate_hz: float,
    longest_segment: int,
    requested_hz: float | None,
    default_hz: float | None = None,
) -> tuple[float, bool]:
    """Choose the cut-off of a log by the length of its longest segment.

    `requested_hz`: cut-off given by the user, if any [Hz]; `default_hz`: cut-off required by the
    motion [Hz]; by default that of the rate.
    Returns the cut-off [Hz], and whether it was raised above the default because the segments are
    short.
    Raises `LogError`: the cut-off is impossible at this rate, or no segment is long enough.
    """
    if requested_hz is not None and not 0.0 < requested_hz < 0.45 * rate_hz:
        raise LogError(
            f"a cut-off of {requested_hz:g} Hz is impossible at {rate_hz:.4g} rows a second; "
            f"choose one above 0 and below {0.45 * rate_hz:.4g} Hz"
        )
    default_hz = default_hz or default_cutoff_hz(rate_hz)
    cutoff = default_hz if requested_hz is None else requested_hz
    if longest_segment >= shortest_segment_rows(rate_hz, cutoff):
        return cutoff, False
    if requested_hz is None:
        for raised in np.geomspace(default_hz, _MAX_CUTOFF_SHARE * rate_hz, 8)[1:].tolist():
            if raised > default_hz and longest_segment >= shortest_segment_rows(rate_hz, raised):
                return raised, True
        cutoff = max(default_hz, _MAX_CUTOFF_SHARE * rate_hz)
    need = shortest_segment_rows(rate_hz, cutoff)
    raise LogError(
        f"no segment without gaps or jumps is long enough for a cut-off of {cutoff:.3g} Hz, which "
        f"takes {need / rate_hz:.2g} s ({need:.6g} rows); the longest has {longest_segment} rows, "
        f"which would be {longest_segment / rate_hz:.2g} s. Choose a higher cut-off; if the time "
        f"is wrong, check `time_unit` or `rate_hz` in [log]; {IF_STATIC_POSES}"
    )
