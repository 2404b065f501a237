"""Whether a motion is still one that the steps follow, and the error where it is not."""

from __future__ import annotations

from identify.errors import SimulationError
from identify.simulation.checks import spell_index

LARGEST_STEP_TURN = 1.0
"""Angle [rad] a body may turn by in one step. Beyond it no method here has two digits left, and
from half a turn on the attitudes no longer tell the rotation between them."""

BEYOND = 1e6
"""A turn in a step [rad] that no smaller step would mend: the motion has no bounds."""


class Diverged(SimulationError):
    """A motion left the finite numbers, or turns by more in a step than any method can follow.

    Attributes:
        time: since the start [s].
        index: of the body in the batch; () where there is one body.
    """

    def __init__(self, message: str, *, time: float, index: tuple[int, ...]) -> None:
        self.time, self.index = time, index
        super().__init__(message)


def diverged(turn: float, time: float, step: float, index: tuple[int, ...]) -> Diverged:
    """The error of a motion whose turn in a step is above `LARGEST_STEP_TURN`, or no number.

    `turn` [rad] is that of the step, `time` [s] since the start; `index` is that of the body in the
    batch, () where there is one.
    """
    body = f"the body{spell_index(index)}"
    if turn < BEYOND:
        message = (
            f"{body} turns by {turn:.3g} rad in a step of {step:g} s at {time:.6g} s, more than "
            f"the {LARGEST_STEP_TURN:g} rad that any integrator here can follow; take a step of "
            f"{0.1 * step / turn:.1g} s or less, or check the loads"
        )
    else:
        message = (
            f"{body} moved beyond all bounds at {time:.6g} s; check the loads, or take a smaller "
            f"step than {step:g} s"
        )
    return Diverged(message, time=time, index=index)
