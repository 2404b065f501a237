"""Play of a sensor: its wrench follows the true one by a dead zone, like gears with backlash.

Visintin, "Differential Models of Hysteresis" (1994), chapter III.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array
from identify.logs import Recording
from identify.signals.predicted_wrench import PredictedWrench


def play(values: Array, widths: Array) -> Array:
    """Return the output of a play operator: the last one, moved as far as its dead zone demands.

    y_k = min(max(y_{k−1}, x_k − w/2), x_k + w/2), with y_0 = x_0.

    `values`: consecutive inputs x, shape (n, …, c); `widths`: of the dead zones w, in their units,
    shape (…, c).
    Returns outputs of the broadcast shape.
    """
    outputs = np.empty(np.broadcast_shapes(values.shape, (1, *widths.shape)))
    below, above = values - widths / 2.0, values + widths / 2.0
    last = np.broadcast_to(values[0], outputs.shape[1:]).copy()
    for output, low, high in zip(outputs, below, above, strict=True):
        np.clip(last, low, high, out=last)
        output[...] = last
    return outputs


@dataclass(frozen=True, slots=True)
class WrenchPlay:
    """Play of the channels of a wrench, with the body whose wrench predicts its error.

    Attributes:
        widths: width of the dead zone of each channel as logged [N, N m].
        body: wrench of the body, which is transformed to the channels.
    """

    widths: tuple[float, ...]
    body: PredictedWrench

    def removed_from(self, recording: Recording) -> Recording:
        """Subtract the error of the play at the body's wrench from a recording."""
        widths = np.array(self.widths)
        return self.body.without_error(recording, lambda true: play(true, widths) - true)
