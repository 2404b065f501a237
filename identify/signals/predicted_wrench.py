"""The wrench of a body whose parameters are known, and errors of the sensor that follow from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from identify.arrays import Array, Phi, Vec6
from identify.errors import LogError
from identify.logs import Recording
from identify.signals.differentiator import Differentiator
from identify.signals.preparation import full_rate_segments
from identify.signals.prepared_log import FullRateSegment
from identify.spatial.columns import FEATURES, WRENCH

_WRENCH_BAND_SHARE = 1.0 / 3.0
"""Cut-off of the body's predicted wrench, as a fraction of the cut-off of the derivatives."""


@dataclass(frozen=True, slots=True)
class PredictedWrench:
    """Wrench of a body and of the sensor's offset, as a log's motion predicts it.

    Attributes:
        feature_wrench_map: maps ψ to the wrench of the body at Bo in B, by rows, (6, 12).
        offset: of the sensor at Bo in B.
        cutoff_hz: of the derivatives.
    """

    feature_wrench_map: tuple[tuple[float, ...], ...]
    offset: tuple[float, ...]
    cutoff_hz: float | None

    @classmethod
    def of(
        cls, feature_tensor: Array, phi: Phi, offset: Vec6, cutoff_hz: float | None
    ) -> PredictedWrench:
        """Predict the wrench of a body φ by the tensor that maps ψ and φ to it, (12, 6, 10)."""
        by_rows = (feature_tensor @ phi).T.tolist()
        return cls(tuple(map(tuple, by_rows)), tuple(offset.tolist()), cutoff_hz)

    def without_error(self, recording: Recording, error_of: Callable[[Vec6], Vec6]) -> Recording:
        """Subtract from a recording the error that the sensor makes at the predicted wrench.

        `recording`: the log as it was read when the body was fitted; `error_of`: function of
        consecutive wrenches in the log's axes, shape (n, 6).
        """

        def error_in(part: FullRateSegment, stamps: Array) -> Vec6:
            error = np.zeros((len(stamps), 6))
            inner, wrench = self.body_wrench(recording, part)
            time = part.time[inner]
            if not len(time):
                return error
            rows = (stamps >= time[0]) & (stamps <= time[-1])
            if rows.any():
                true = [np.interp(stamps[rows], time, channel) for channel in wrench.T]
                error[rows] = error_of(np.stack(true, axis=-1))
            return error

        return subtract_error(recording, self.cutoff_hz, error_in)

    def body_wrench(self, recording: Recording, part: FullRateSegment) -> tuple[slice, Vec6]:
        """Return a range of samples, and the wrench of body and offset there in the log's axes.

        Differentiated noise of the motion may exceed a step of the sensor, so the wrench is
        low-passed. It is the logged wrench less the residual, which is small at the sensor too.
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


def subtract_error(
    recording: Recording,
    cutoff_hz: float | None,
    error_in: Callable[[FullRateSegment, Array], Vec6],
) -> Recording:
    """Subtract from a recording an error of the wrench that its motion predicts.

    Rows at the edges, whose motion cannot be differentiated, are unchanged.

    `cutoff_hz`: of the derivatives; `error_in`: function of a segment and of times of rows within
    it [s], shape (n,), that returns the error in the log's axes, shape (n, 6).
    """
    try:
        parts = full_rate_segments(recording, cutoff_hz)
    except LogError:  # too few rows to see a motion
        return recording
    still = recording.time is None or recording.still
    stamps = np.arange(float(len(recording))) if still else np.asarray(recording.time)
    stamps = stamps - recording.wrench_delay
    error = np.zeros((len(recording), 6))
    for part in parts:
        if not len(part.time):  # the header of a log
            continue
        rows = (stamps >= part.time[0]) & (stamps <= part.time[-1])
        if rows.any():
            error[rows] = error_in(part, stamps[rows])
    signals: Mapping[str, Array] = {
        **recording.signals,
        "force": recording.signals["force"] - error[:, :3],
        "torque": recording.signals["torque"] - error[:, 3:],
    }
    return replace(recording, signals=signals)
