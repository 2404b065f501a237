"""Whether a motion is still one that the steps follow, and the error where it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from identify.arrays import Array
from identify.errors import SimulationError
from identify.simulation.checks import first_of, spell_index

if TYPE_CHECKING:
    from identify.simulation.forced_body import ForcedBody

LARGEST_TURN = 1.0
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


def grew_beyond_bounds(time: float, index: tuple[int, ...]) -> Diverged:
    """The error of a motion under a sampled wrench that is not finite.

    Args:
        time: since the start [s].
        index: of the body in the batch, () where there is one.
    """
    return Diverged(
        f"the simulation{spell_index(index)} grew beyond all bounds at {time:.4g} s; take a "
        "smaller step, or check the wrench",
        time=time,
        index=index,
    )


def turned_too_far(turn: float, time: float, step: float, index: tuple[int, ...]) -> Diverged:
    """The error of a motion whose turn in a step is above `LARGEST_TURN`.

    Args:
        turn: in the step [rad].
        time: since the start [s].
        step: [s].
        index: of the body in the batch, () where there is one.
    """
    return Diverged(
        f"the body{spell_index(index)} turns by {turn:.3g} rad in a step of {step:g} s at "
        f"{time:.6g} s, more than the {LARGEST_TURN:g} rad that any integrator here can follow; "
        f"take a step of {0.1 * step / turn:.1g} s or less, or check the loads",
        time=time,
        index=index,
    )


def require_followed(motion: ForcedBody, phase: Array, time: float, step: float) -> None:
    """Looks at the phases of a batch after a step.

    Raises:
        Diverged: a body left the finite numbers, or turns too far in a step: says which, and when.
    """
    turn = np.asarray(step * motion.spin(phase))
    finite = np.asarray(np.isfinite(phase).all(axis=-1))
    good = finite & (turn <= LARGEST_TURN)
    if good.all():
        return
    index = first_of(~good)
    if finite[index] and turn[index] < BEYOND:
        raise turned_too_far(float(turn[index]), time, step, index)
    raise Diverged(
        f"the body{spell_index(index)} moved beyond all bounds at {time:.6g} s; check the loads, "
        f"or take a smaller step than {step:g} s",
        time=time,
        index=index,
    )
