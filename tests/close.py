"""Comparisons that scale by the problem: NumPy's default `atol` passes any inertia below 1e-8."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike


def assert_close(
    actual: ArrayLike,
    expected: ArrayLike,
    rtol: float = 1e-10,
    *,
    scale: ArrayLike | None = None,
) -> None:
    """Arrays agree within `rtol` of `scale`: of the largest expected entry, if none is given."""
    actual, expected = np.asarray(actual, dtype=float), np.asarray(expected, dtype=float)
    assert actual.shape == expected.shape, f"shape {actual.shape}, expected {expected.shape}"
    assert np.isfinite(actual).all(), f"not finite: {actual}"
    assert np.isfinite(expected).all(), f"expected something that is not finite: {expected}"
    scale = np.abs(expected).max(initial=0.0) if scale is None else np.asarray(scale, dtype=float)
    error = np.abs(actual - expected)
    excess = error - rtol * scale
    if (excess <= 0.0).all():
        return
    where = tuple(int(i) for i in np.unravel_index(np.argmax(excess), excess.shape))
    share = error[where] / max(np.broadcast_to(scale, error.shape)[where], np.finfo(float).tiny)
    raise AssertionError(
        f"entry {where} is {actual[where]!r}, expected {expected[where]!r}: "
        f"off by {share:.2e} of the scale, allowed {rtol:g}"
    )


class GroupErrors(NamedTuple):
    """Relative errors of mass, first moment and inertia: |Δm|/m, ‖Δh‖/‖h‖, ‖ΔI‖/‖I‖."""

    mass: float
    first_moment: float
    inertia: float


def group_errors(phi: ArrayLike, truth: ArrayLike) -> GroupErrors:
    """Errors by group, matrices in the Frobenius norm.

    A centre of mass that is all but at the origin is judged by the body's size.
    """
    phi, truth = np.asarray(phi), np.asarray(truth)
    twice = np.array([1.0, 2.0, 2.0, 1.0, 2.0, 1.0])  # off-diagonal entries stand in a matrix twice
    difference = phi - truth

    def norm(six: np.ndarray) -> float:
        return float(np.sqrt(np.sum(twice * six**2)))

    moment = float(np.linalg.norm(truth[1:4]))
    sized = truth[0] * np.sqrt(0.5 * (truth[4] + truth[7] + truth[9]) / truth[0])
    return GroupErrors(
        mass=float(abs(difference[0]) / abs(truth[0])),
        first_moment=float(
            np.linalg.norm(difference[1:4]) / (moment if moment > 0.01 * sized else sized)
        ),
        inertia=norm(difference[4:]) / norm(truth[4:]),
    )


def body_scale(phi: ArrayLike) -> np.ndarray:
    """Scale of each of the ten parameters about this origin: m, m L, m L² with L² = tr S / m."""
    phi = np.asarray(phi)
    mass = phi[..., 0]
    length = np.sqrt(0.5 * (phi[..., 4] + phi[..., 7] + phi[..., 9]) / mass)
    return np.concatenate(
        (
            mass[..., None],
            np.repeat((mass * length)[..., None], 3, axis=-1),
            np.repeat((mass * length**2)[..., None], 6, axis=-1),
        ),
        axis=-1,
    )


def assert_same_body(phi: ArrayLike, truth: ArrayLike, rtol: float = 1e-10) -> None:
    """Ten parameters agree, each within `rtol` of its own scale."""
    assert_close(phi, truth, rtol, scale=body_scale(truth))
