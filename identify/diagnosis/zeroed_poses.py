"""Still poses from one of which on the sensor has another offset, as if zeroed among them."""

from __future__ import annotations

import numpy as np

from identify.arrays import Array
from identify.diagnosis.robust import FEWEST_POSES, wrench_equations
from identify.diagnosis.spans import Span

_FEWEST_OF_PART = 2
"""Poses before and after: the six offsets of one pose alone explain whatever it is."""

_LEAD = 20.0
"""Akaike information by which a step has to be likelier than anything else that was tried."""

_MOST_LEFT = 0.25
"""Share of the squared residual that it may leave, of the force or of the torque."""

_WARMS_UP = (1.0, 1.5, 2.0, 3.0, 4.0)
"""Poses in which an offset that settles falls to 1/e."""


def zeroed_poses(rows: Array) -> tuple[Span, ...]:
    """The pose from which on the offset of the sensor is another one, if any.

    A step of the offset is compared by the Akaike information, corrected for few data (Hurvich and
    Tsai 1989), with none, with an offset that drifts from pose to pose or as a sensor that warms
    up does, and with another body from some pose on.

    Args:
        rows: z = [1, ψ, w, …] of the poses, shape (n, K).

    Returns:
        A "bias_step" from the last pose before it to the first after it, by number from zero.
    """
    n = len(rows)
    if n < FEWEST_POSES:
        return ()
    A, y, _ = wrench_equations(rows)
    body, offsets = A[..., [0, 1, 2, 3]], A[..., 10:]
    constant = np.concatenate((body, offsets), axis=-1)
    edges = range(_FEWEST_OF_PART, n - _FEWEST_OF_PART + 1)
    after = [(np.arange(n) >= k)[:, None, None] for k in edges]
    search = 2.0 * np.log(len(edges))
    steps = [_information(np.concatenate((constant, offsets * own), axis=-1), y) for own in after]
    best = int(np.argmin([information for information, _ in steps]))
    number = np.arange(n)[:, None, None]
    drifts = [number / n, *(np.exp(-number / poses) for poses in (*_WARMS_UP, n / 4.0, n / 2.0))]
    others = [constant, *(np.concatenate((constant, offsets * d), axis=-1) for d in drifts)]
    others += [np.concatenate((constant, body * own), axis=-1) for own in after]
    compared = [_information(other, y) for other in others]
    information, left = steps[best]
    if information + search + _LEAD > min(each for each, _ in compared):
        return ()
    if not (left < _MOST_LEFT * compared[0][1]).any():
        return ()
    model = np.concatenate((constant, offsets * after[best]), axis=-1).reshape(6 * n, -1)
    jump = (np.linalg.pinv(model, rcond=1e-9) @ y.reshape(-1))[-6:]
    k = edges[best]
    size = float(np.linalg.norm(jump[:3]))
    return (Span("bias_step", k - 1.0, float(k), 0, size, jump=tuple(jump.tolist())),)


def _information(A: Array, y: Array) -> tuple[float, Array]:
    """Corrected Akaike information of force and torque, each of a noise of its own.

    Returns:
        The information, infinite where there are too few data, and the sums of squares left, (2,).
    """
    n, total = len(y), 0.0
    model = A.reshape(6 * n, -1)
    left = y - (model @ (np.linalg.pinv(model, rcond=1e-9) @ y.reshape(-1))).reshape(n, 6)
    squares = np.array([np.sum(part**2) for part in (left[:, :3], left[:, 3:])])
    for part, square in zip((A[:, :3], A[:, 3:]), squares, strict=True):
        free = int(np.any(part != 0.0, axis=(0, 1)).sum())
        spare = 3 * n - free - 2
        if spare <= 0:
            return np.inf, squares
        total += 3 * n * (np.log(square / (3 * n) + 1e-24) + (3 * n + free) / spare)
    return total, squares
