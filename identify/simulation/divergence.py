"""Whether a motion is still one that the steps follow."""

from __future__ import annotations

import numpy as np

from identify.arrays import Array
from identify.errors import SimulationError
from identify.simulation.forced_body import ForcedBody

LARGEST_TURN = 1.0
"""Angle [rad] a body may turn by in one step. Beyond it no method here has two digits left, and
from half a turn on the attitudes no longer tell the rotation between them."""


def require_followed(motion: ForcedBody, phase: Array, time: float, step: float) -> None:
    """Looks at the phases of a batch after a step.

    Raises:
        SimulationError: a body left the finite numbers, or turns too far in a step: says which,
            and when.
    """
    turn = np.asarray(step * motion.spin(phase))
    finite = np.asarray(np.isfinite(phase).all(axis=-1))
    good = finite & (turn <= LARGEST_TURN)
    if good.all():
        return
    index = tuple(int(i) for i in np.argwhere(~good)[0])
    who = f"the body of batch index {', '.join(map(str, index))}" if index else "the body"
    if not (finite[index] and np.isfinite(turn[index])):
        raise SimulationError(
            f"{who} moved beyond all bounds at {time:.6g} s; check the loads, or take a smaller "
            f"step than {step:g} s"
        )
    raise SimulationError(
        f"{who} turns by {turn[index]:.3g} rad in a step of {step:g} s at {time:.6g} s, more than "
        f"the {LARGEST_TURN:g} rad that any integrator here can follow; take a step of "
        f"{0.1 * step / turn[index]:.1g} s or less, or check the loads"
    )
