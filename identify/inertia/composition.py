"""Composition and subtraction of bodies: the parameters of rigidly joined bodies add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from identify.arrays import Array, Phi, PhiLike, as_array, as_real, seal
from identify.errors import ModelError
from identify.inertia.consistency import BodyKind, body_kinds, format_body_index
from identify.inertia.parameters import BodyT, InertialParameters, match_input_type
from identify.inertia.verdict import BodyVerdict, check_consistency

_ROUNDING_ULPS = 8.0
"""Allowed rounding error of each subtracted number, in units of its machine epsilon."""


class ImpossibleDifference(ModelError):
    """The difference of two bodies is not physically consistent.

    Attributes:
        verdict: the violations of the difference.
        index: its index in the batch; () for a single body.
    """

    def __init__(self, verdict: BodyVerdict, index: tuple[int, ...]) -> None:
        self.verdict, self.index = verdict, index
        label = f" ({format_body_index(index)})" if index else ""
        super().__init__(
            f"with − without{label} is not physically consistent: {'; '.join(verdict.reasons)}. "
            f"Expected the second to be the same load without the payload, about the same point in "
            f"the same axes"
        )


@dataclass(frozen=True, slots=True)
class BodyDifference:
    """Difference of two bodies with its covariance and its physical consistency.

    Attributes:
        phi: with − without, shape (10,).
        covariance: sum of both covariances, shape (10, 10); None if either is unknown.
        verdict: whether the difference is physically consistent; a violation that the rounding of
            the operands explains is marked as by rounding.
        violation_sigmas: the largest violation in its own standard deviations; None if nothing is
            violated or no covariance is known. Two or three: noise. Twenty: not the same load, or
            not the same frame.
    """

    phi: Phi
    covariance: Array | None
    verdict: BodyVerdict
    violation_sigmas: float | None


@overload
def composite(phis: InertialParameters | Sequence[InertialParameters]) -> InertialParameters: ...
@overload
def composite(phis: Phi | Sequence[Phi]) -> Phi: ...
def composite(
    phis: InertialParameters | Sequence[InertialParameters] | Phi | Sequence[Phi],
) -> InertialParameters | Phi:
    """Return the parameters of rigidly joined bodies: their sum.

    Args:
        phis: the bodies along the last axis but one, all about the same point in the same axes
            (see `in_frame`), shape (..., n, 10); a batch or a list of `InertialParameters` too.
            Covariances of independent bodies add up too.

    Returns:
        Shape (..., 10); `InertialParameters` for `InertialParameters`.
    """
    bodies = phis if isinstance(phis, Sequence) else (phis,)
    return match_input_type(np.sum(as_real(phis, "phis"), axis=-2), *bodies)


def subtract(with_: BodyT, without: BodyT) -> BodyT:
    """Return a payload: the body with the payload minus the body without, checked for consistency.

    Violations that the rounding of the operands explains are accepted; equal bodies leave a
    massless one.

    Args:
        with_: load and payload, shape (..., 10).
        without: the load alone, about the same point in the same axes, shape (..., 10).

    Returns:
        Shape (..., 10); `InertialParameters` if either is.

    Raises:
        ImpossibleDifference: a difference is not physically consistent.
    """
    a, b = as_array(with_, "with", (..., 10)), as_array(without, "without", (..., 10))
    return match_input_type(_subtract_parameters(a, b), with_, without)


def _subtract_parameters(with_: Phi, without: Phi) -> Phi:
    payload = with_ - without
    doubtful = body_kinds(payload) == BodyKind.IMPOSSIBLE
    if doubtful.any():
        rounding_errors = _rounding_errors(with_, without)
        for entry in np.argwhere(doubtful):
            index = tuple(int(i) for i in entry)
            verdict = check_consistency(payload[index], rounding_errors=rounding_errors[index])
            if verdict.impossible and not verdict.by_rounding:
                raise ImpossibleDifference(verdict, index)
    return payload


def subtract_estimates(
    with_: PhiLike,
    without: PhiLike,
    covariance_with: Array | None = None,
    covariance_without: Array | None = None,
) -> BodyDifference:
    """Subtract an estimate without a payload from one with it; return the payload with covariance.

    Noise alone can make the difference inconsistent if a light payload is on a heavy load, so
    nothing is raised; `deviations` is the violation in standard deviations.

    Args:
        with_: load and payload, shape (10,).
        without: the load alone, about the same point in the same axes, shape (10,).
        covariance_with: of `with_`, shape (10, 10).
        covariance_without: of `without`, shape (10, 10).

    Raises:
        ModelError: not ten finite numbers, or a covariance of another shape.
    """
    a, b = seal(with_, "with", (10,)), seal(without, "without", (10,))
    phi = seal(a - b, "with − without", (10,))
    verdict = check_consistency(phi, rounding_errors=_rounding_errors(a, b))
    if covariance_with is None or covariance_without is None:
        return BodyDifference(phi, None, verdict, None)
    covariance_with = seal(covariance_with, "covariance_with", (10, 10))
    covariance_without = seal(covariance_without, "covariance_without", (10, 10))
    covariance = seal(covariance_with + covariance_without, "covariance", (10, 10))
    return BodyDifference(phi, covariance, verdict, _largest_deviation(verdict, covariance))


def _largest_deviation(verdict: BodyVerdict, covariance: Array) -> float | None:
    """Return by how many standard errors a difference violates physical consistency."""
    if not verdict.violations:
        return None
    with np.errstate(divide="ignore"):
        return max(
            float(np.divide(v.absolute, np.sqrt(max(v.gradient @ covariance @ v.gradient, 0.0))))
            for v in verdict.violations
        )


def _rounding_errors(with_: Phi, without: Phi) -> Array:
    """Return a bound on the rounding error of each parameter of a difference, shape (..., 10)."""
    sizes = np.abs(with_) + np.abs(without)
    groups = (sizes[..., :1], sizes[..., 1:4], sizes[..., 4:])
    largest = [np.broadcast_to(g.max(axis=-1, keepdims=True), g.shape) for g in groups]
    return _ROUNDING_ULPS * np.finfo(np.float64).eps * np.concatenate(largest, axis=-1)
