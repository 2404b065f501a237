"""Limits on the rotation per step, and the error of a diverged simulation."""

from __future__ import annotations

from identify.errors import SimulationError
from identify.simulation.checks import format_batch_index

MAX_STEP_ANGLE = 1.0
"""Maximum rotation in one step [rad]. Beyond it no method here has two digits, and from half a
turn on attitudes do not determine the rotation between them."""

UNBOUNDED_ANGLE = 1e6
"""Rotation in one step [rad] from which on the motion is unbounded, whatever the step."""


class Diverged(SimulationError):
    """A simulation diverged: its state is not finite, or the rotation per step is too large.

    Attributes:
        time: time since the start [s].
        index: index of the body in the batch; () for a single body.
    """

    def __init__(self, message: str, *, time: float, index: tuple[int, ...]) -> None:
        self.time, self.index = time, index
        super().__init__(message)


def diverged(turn: float, time: float, step: float, index: tuple[int, ...]) -> Diverged:
    """Create the error for a rotation `turn` in one step [rad] above `MAX_STEP_ANGLE`, or NaN.

    `time` [s] is since the start; `index` is that of the body in the batch, () for a single body.
    """
    body = f"the body{format_batch_index(index)}"
    if turn < UNBOUNDED_ANGLE:
        message = (
            f"{body} turns by {turn:.3g} rad in a step of {step:g} s at {time:.6g} s, more than "
            f"the {MAX_STEP_ANGLE:g} rad that any integrator here can follow; take a step of "
            f"{0.1 * step / turn:.1g} s or less, or check the loads"
        )
    else:
        message = (
            f"{body} moved beyond all bounds at {time:.6g} s; check the loads, or take a smaller "
            f"step than {step:g} s"
        )
    return Diverged(message, time=time, index=index)
