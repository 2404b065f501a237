"""Bodies put together and taken apart: the ten parameters of rigidly joined bodies add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from identify.arrays import Array, Phi, PhiLike, as_array, as_real, seal
from identify.errors import ModelError
from identify.inertia.consistency import BodyKind, body_kinds, which_body
from identify.inertia.parameters import BodyT, InertialParameters, like
from identify.inertia.verdict import BodyVerdict, check

_ROUNDING_STEPS = 8.0
"""Rounding errors that may stand in each number of what is subtracted."""


class ImpossibleDifference(ModelError):
    """What is left when a body is taken away is no possible body.

    Attributes:
        verdict: what is wrong with it.
        index: which of a batch it is; () of a single one.
    """

    def __init__(self, verdict: BodyVerdict, index: tuple[int, ...]) -> None:
        self.verdict, self.index = verdict, index
        which = f" ({which_body(index)})" if index else ""
        super().__init__(
            f"with − without{which} is no possible body: {'; '.join(verdict.reasons)}. Expected "
            f"the second to be the same load without the payload, about the same point in the same "
            f"axes"
        )


@dataclass(frozen=True, slots=True)
class Difference:
    """What is left when a body is taken away, with what its uncertainty says of it.

    Attributes:
        phi: with − without, shape (10,).
        covariance: the sum of both, shape (10, 10); None where either is not known.
        verdict: whether it is a possible body; a violation that the rounding of the operands
            explains is by rounding.
        deviations: the largest violation in its own standard deviations; None where nothing is
            violated or no covariance is known. Two or three: noise. Twenty: not the same load, or
            not the same frame.
    """

    phi: Phi
    covariance: Array | None
    verdict: BodyVerdict
    deviations: float | None


@overload
def composite(phis: InertialParameters | Sequence[InertialParameters]) -> InertialParameters: ...
@overload
def composite(phis: Phi | Sequence[Phi]) -> Phi: ...
def composite(
    phis: InertialParameters | Sequence[InertialParameters] | Phi | Sequence[Phi],
) -> InertialParameters | Phi:
    """Parameters of bodies that are joined rigidly: their sum.

    Args:
        phis: the bodies along the last axis but one, all about the same point in the same axes
            (see `in_frame`), shape (..., n, 10); a batch or a list of `InertialParameters` too.
            Covariances of independent bodies add up too.

    Returns:
        Shape (..., 10); `InertialParameters` of such.
    """
    given = phis if isinstance(phis, Sequence) else (phis,)
    return like(np.sum(as_real(phis, "phis"), axis=-2), *given)


def subtract(with_: BodyT, without: BodyT) -> BodyT:
    """Parameters of the payload alone, with − without, checked to be possible bodies.

    What the rounding of the two explains is let pass; equal bodies leave a massless one.

    Args:
        with_: load and payload, shape (..., 10).
        without: the load alone, about the same point in the same axes, shape (..., 10).

    Returns:
        Shape (..., 10); `InertialParameters` where either is.

    Raises:
        ImpossibleDifference: a difference is no possible body; says which, why and by how much.
    """
    a, b = as_array(with_, "with", (..., 10)), as_array(without, "without", (..., 10))
    return like(_subtract(a, b), with_, without)


def _subtract(with_: Phi, without: Phi) -> Phi:
    rest = with_ - without
    doubtful = body_kinds(rest) == BodyKind.IMPOSSIBLE
    if doubtful.any():
        half_units = _rounding(with_, without)
        for index in np.argwhere(doubtful):
            where = tuple(int(i) for i in index)
            verdict = check(rest[where], half_units=half_units[where])
            if verdict.impossible and not verdict.by_rounding:
                raise ImpossibleDifference(verdict, where)
    return rest


def difference(
    with_: PhiLike,
    without: PhiLike,
    covariance_with: Array | None = None,
    covariance_without: Array | None = None,
) -> Difference:
    """The payload alone with its covariance and verdict, of two independent estimates.

    Noise alone can leave an impossible body, of a light payload on a heavy load: nothing is raised,
    and `deviations` says how far beyond its noise it is.

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
    verdict = check(phi, half_units=_rounding(a, b))
    if covariance_with is None or covariance_without is None:
        return Difference(phi, None, verdict, None)
    parts = (
        seal(covariance_with, "covariance_with", (10, 10)),
        seal(covariance_without, "covariance_without", (10, 10)),
    )
    covariance = seal(parts[0] + parts[1], "covariance", (10, 10))
    return Difference(phi, covariance, verdict, _deviations(verdict, covariance))


def _deviations(verdict: BodyVerdict, covariance: Array) -> float | None:
    if not verdict.violations:
        return None
    with np.errstate(divide="ignore"):
        return max(
            float(np.divide(v.absolute, np.sqrt(max(v.gradient @ covariance @ v.gradient, 0.0))))
            for v in verdict.violations
        )


def _rounding(with_: Phi, without: Phi) -> Array:
    """How far off rounding of the two leaves each number of their difference, shape (..., 10)."""
    sizes = np.abs(with_) + np.abs(without)
    groups = (sizes[..., :1], sizes[..., 1:4], sizes[..., 4:])
    largest = [np.broadcast_to(g.max(axis=-1, keepdims=True), g.shape) for g in groups]
    return _ROUNDING_STEPS * np.finfo(np.float64).eps * np.concatenate(largest, axis=-1)
