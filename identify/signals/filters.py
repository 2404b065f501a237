"""The filters of a log: the low-pass all columns share, and the differentiator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.errors import LogError
from identify.signals.kernels import Differentiator, LowPass, default_cutoff_hz

_HIGHEST_SHARE = 0.2
"""Highest cut-off that is chosen for short segments, of the sampling rate."""


@dataclass(frozen=True, slots=True)
class Filters:
    """A low-pass and a differentiator of one sampling rate.

    Attributes:
        lowpass: for all columns alike.
        differentiator: for what a log does not give.
    """

    lowpass: LowPass
    differentiator: Differentiator

    @classmethod
    def design(cls, rate_hz: float, cutoff_hz: float) -> Filters:
        """The filters of a sampling rate and a cut-off."""
        return cls(LowPass.design(rate_hz, cutoff_hz), Differentiator.design(rate_hz, cutoff_hz))


def shortest_segment(rate_hz: float, cutoff_hz: float) -> float:
    """Rows of the shortest segment that the filters leave one output or more of.

    Nothing of that length is made: it may be beyond any memory, or infinite.
    """
    halo = LowPass.halo_of(rate_hz, cutoff_hz) + Differentiator.halo_of(rate_hz, cutoff_hz)
    return 2.0 * halo + 1.0


def choose_cutoff_hz(rate_hz: float, longest: int, asked: float | None) -> tuple[float, bool]:
    """The cut-off for a log whose longest segment has so many rows.

    Args:
        rate_hz: its sampling rate.
        longest: rows of its longest segment.
        asked: what a person asked for, if anything.

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
    default = default_cutoff_hz(rate_hz)
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
