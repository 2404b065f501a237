"""Detection of a sensor that was zeroed between static poses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from identify.arrays import Array
from identify.diagnosis.contacts import MIN_POSES, wrench_equations
from identify.diagnosis.spans import Span
from identify.significance import CLEAR_LIKELIHOOD_LEAD

_MIN_POSES_OF_PART = 2
"""Fewest poses before and after a step: six offsets explain a single pose exactly."""

_MAX_RESIDUAL_FRACTION = 0.25
"""Largest fraction of the squared residual of force or torque that remains with a step."""

_BODY_COLUMNS, _OFFSET_COLUMNS = slice(0, 4), slice(4, 10)
"""Columns of mass and first moment, and of the sensor offsets, in the equations of the poses."""

_TRACE_RIDGE = 1e-14
"""Ridge relative to the moments' trace, for directions that the poses do not identify."""

_POWER_ROUNDING = 1e-13
"""Share of the squared wrench below which a residual is rounding."""

_SETTLING_POSES = (1.0, 1.5, 2.0, 3.0, 4.0)
"""Number of poses in which a settling offset decays to 1/e."""


def find_zeroed_poses(rows: Array) -> tuple[Span, ...]:
    """Find the static pose from which on the sensor has another offset, if any.

    A step of the offset is compared by the Akaike information, corrected for few data (Hurvich and
    Tsai 1989), with none, with an offset that drifts from pose to pose or as a sensor that warms
    up does, and with another body from some pose on.

    `rows`: z = [1, ψ, w, …] of the poses, shape (n, K).
    Returns a "bias_step" from the last pose before the step to the first after it, numbered from
    zero.
    """
    n = len(rows)
    if n < MIN_POSES:
        return ()
    A, y, _ = wrench_equations(rows)
    z = np.concatenate((A[..., [0, 1, 2, 3, *range(10, 16)]], y[..., None]), axis=-1)
    parts = np.stack((z[:, :3], z[:, 3:]))
    moments = parts.swapaxes(-1, -2) @ parts
    edges = np.arange(_MIN_POSES_OF_PART, n - _MIN_POSES_OF_PART + 1)
    behind = moments[:, ::-1].cumsum(axis=1)[:, ::-1][:, edges]
    number = np.arange(n)
    settling = np.exp(-number / np.array([*_SETTLING_POSES, n / 4.0, n / 2.0])[:, None])
    shares = np.concatenate((number[None] / n, settling))
    weighted, squared = (
        np.einsum("wi,pijk->pwjk", power, moments) for power in (shares, shares**2)
    )
    constant = moments.sum(axis=1, keepdims=True)
    steps = _fit_models(_with_changing_parameters(constant, behind, behind, _OFFSET_COLUMNS), n)
    best = int(np.argmin(steps.akaike))
    without_step = _fit_models(constant, n)
    drifts = _fit_models(_with_changing_parameters(constant, weighted, squared, _OFFSET_COLUMNS), n)
    changes = _fit_models(_with_changing_parameters(constant, behind, behind, _BODY_COLUMNS), n)
    others = np.concatenate((without_step.akaike, drifts.akaike, changes.akaike))
    if steps.akaike[best] + 2.0 * np.log(len(edges)) + CLEAR_LIKELIHOOD_LEAD > others.min():
        return ()
    if not (steps.squares[best] < _MAX_RESIDUAL_FRACTION * without_step.squares[0]).any():
        return ()
    jump, k = steps.unknowns[best, -6:], float(edges[best])
    size = float(np.linalg.norm(jump[:3]))
    return (Span("bias_step", k - 1.0, k, 0, size, jump=tuple(jump.tolist())),)


def _with_changing_parameters(
    total: Array, weighted: Array, squared: Array, columns: slice
) -> Array:
    """Extend second moments of a regression so that some parameters may change between poses.

    `total`: ZᵀZ of force and of torque over all poses, Z = [columns | wrench], (2, 1, 11, 11);
    `weighted`: Σ s ZᵀZ of the poses' shares s, of m models, shape (2, m, 11, 11); `squared`: Σ s²
    ZᵀZ of the same models and shape.
    Shape (2, m, 11 + q, 11 + q), the wrench last.
    """
    q = columns.stop - columns.start
    augmented = np.zeros((*weighted.shape[:2], 11 + q, 11 + q))
    base, added = [*range(10), 10 + q], slice(10, 10 + q)
    augmented[..., np.array(base)[:, None], base] = total
    augmented[..., added, base] = weighted[..., columns, :]
    augmented[..., base, added] = weighted[..., :, columns]
    augmented[..., added, added] = squared[..., columns, columns]
    return augmented


class _ModelFits(NamedTuple):
    """Fits of m models.

    Attributes:
        akaike: corrected Akaike information, shape (m,); infinite if there are too few data.
        squares: residual sums of squares of force and torque, shape (m, 2).
        unknowns: fitted unknowns, shape (m, k).
    """

    akaike: Array
    squares: Array
    unknowns: Array


def _fit_models(moments: Array, poses: int) -> _ModelFits:
    """Fit models by least squares, with separate noise levels of force and torque.

    With n rows, k unknowns and residual sum of squares s of force or torque, the corrected Akaike
    information is Σ n (log s/n + (n + k) / (n − k − 2)).

    `moments`: [A | b]ᵀ[A | b] of force and of torque, shape (2, m, k + 1, k + 1).
    """
    total = moments.sum(axis=0)
    normal, right = total[:, :-1, :-1], total[:, :-1, -1:]
    ridge = _TRACE_RIDGE * np.trace(normal, axis1=1, axis2=2)[:, None, None]
    unknowns = np.linalg.solve(normal + ridge * np.eye(normal.shape[1]), right)
    residual = np.concatenate((unknowns, np.full((len(unknowns), 1, 1), -1.0)), axis=1)
    squares = (residual.swapaxes(1, 2) @ moments @ residual)[..., 0, 0].T
    squares = np.maximum(squares, _POWER_ROUNDING * moments[..., -1, -1].T)
    rows, free = 3 * poses, (moments.diagonal(0, 2, 3)[..., :-1] > 0.0).sum(axis=-1).T
    spare = rows - free - 2
    with np.errstate(divide="ignore"):
        each = rows * (np.log(squares / rows) + (rows + free) / np.maximum(spare, 0))
    akaike = np.where(spare > 0, each, np.inf).sum(axis=1)
    return _ModelFits(akaike, squares, unknowns[..., 0])
