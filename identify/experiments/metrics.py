"""Scores of an output, most of them against the true body, as columns of the results.

A new metric is a function and one line of `METRICS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.linalg import eigh

from identify.arrays import Array, Phi, Vec3
from identify.estimation.intervals import NAMES, derived
from identify.experiments.estimators import EstimatorOutput
from identify.experiments.study import Truth
from identify.inertia import (
    PHI,
    inertia_about_com,
    inertia_about_origin,
    is_consistent,
    pseudo_inertia,
    smallest_pseudo_eigenvalue,
)

Values: TypeAlias = Mapping[str, float | None]
"""Columns and their values; None where there is nothing to say."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric.

    Attributes:
        name: in study files.
        columns: that it fills.
        score: from the output, and the truth where the log's source knows it, to the columns.
    """

    name: str
    columns: tuple[str, ...]
    score: Callable[[EstimatorOutput, Truth | None], Values]


def mass_error(phi: Phi, truth: Phi) -> float:
    """|Δm| / m [%]."""
    return float(100.0 * abs(phi[0] - truth[0]) / truth[0])


def first_moment_error(phi: Phi, truth: Phi) -> float:
    """‖Δh‖ / ‖h‖ [%]."""
    return float(100.0 * np.linalg.norm(phi[1:4] - truth[1:4]) / np.linalg.norm(truth[1:4]))


def relative_inertia_error(phi: Phi, truth: Phi) -> float:
    """‖ΔI‖ / ‖I‖ about Bo, Frobenius norms [%]."""
    true = inertia_about_origin(truth)
    return float(100.0 * np.linalg.norm(inertia_about_origin(phi) - true) / np.linalg.norm(true))


def com_error(phi: Phi, truth: Phi, sides: Vec3) -> float:
    """Mean over the axes of |Δc_i| by the side of the bounding box [%].

    As published with the STARS tools: Nadeau, Giamou and Kelly (ICRA 2023).
    """
    offset = phi[1:4] / phi[0] - truth[1:4] / truth[0]
    return float(100.0 * np.mean(np.abs(offset) / sides))


def inertia_error(phi: Phi, truth: Phi, sides: Vec3) -> float:
    """Mean over six entries of |ΔI_ij / (m/12 (δ_ij aᵀa − a_i a_j))| [%], published as `com_error`.

    Args:
        phi: the estimate; ΔI is its error about Bo.
        truth: the true body, of mass m.
        sides: sides a of its bounding box [m], shape (3,).
    """
    box = truth[0] / 12.0 * (sides @ sides * np.eye(3) - np.outer(sides, sides))
    change = inertia_about_origin(phi) - inertia_about_origin(truth)
    return float(100.0 * np.mean(np.abs(change / box)[np.triu_indices(3)]))


def consistent(output: EstimatorOutput) -> float:
    """1 where some density realises the body (`is_consistent`), as a plate is one; else 0."""
    return float(is_consistent(output.phi))


def riemannian_distance(phi: Phi, truth: Phi) -> float:
    """Geodesic distance of pseudo-inertias, √(½ Σ log² λ), λ the eigenvalues of Π⁻¹ Π_true.

    It is the same in every frame and unit. NaN where the estimate is not positive definite: the
    distance of a plate to a solid body is infinite.
    """
    if not smallest_pseudo_eigenvalue(phi) > 0.0:
        return float("nan")
    ratios = eigh(pseudo_inertia(phi), pseudo_inertia(truth), eigvals_only=True)
    if not ratios[0] > 0.0:
        return float("nan")
    return float(np.sqrt(0.5 * np.sum(np.log(ratios) ** 2)))


def covered(output: EstimatorOutput, truth: Phi | None) -> Values:
    """1 where the interval holds the true value, 0 where not; nothing where there is none.

    What was given, not estimated, has an interval of no width, which is no claim to be tested.
    """
    return {
        name: float(bound[0] <= value <= bound[1])
        for name, value in zip(NAMES, _values(truth), strict=True)
        if (bound := output.intervals.get(name)) is not None and bound[0] < bound[1]
    }


def half_width(output: EstimatorOutput, truth: Phi | None) -> Values:
    """Half of each interval, in the parameter's unit."""
    return {
        name: 0.5 * (bound[1] - bound[0])
        for name in NAMES
        if (bound := output.intervals.get(name)) is not None
    }


def error(output: EstimatorOutput, truth: Phi | None) -> Values:
    """Estimate less truth, signed, in the parameter's unit."""
    difference = _values(output.phi) - _values(truth)
    return dict(zip(NAMES, map(float, difference), strict=True))


def estimate(output: EstimatorOutput, truth: Phi | None) -> Values:
    """The ten parameters themselves."""
    return dict(zip(PHI, map(float, output.phi), strict=True))


def _values(phi: Phi | None) -> Array:
    if phi is None:
        return np.full(len(NAMES), np.nan)
    return np.concatenate((phi, derived(phi), np.linalg.eigvalsh(inertia_about_com(phi))))


def _of_output(name: str, score: Callable[[EstimatorOutput], float]) -> Metric:
    """A metric of one column that needs no truth."""
    return Metric(name, (name,), lambda output, truth: {name: score(output)})


def _of_truth(name: str, score: Callable[..., float], *needed: str) -> Metric:
    """A metric of one column that compares with the truth, of which it needs some attributes.

    It is empty where one of them is not known.
    """

    def values(output: EstimatorOutput, truth: Truth | None) -> Values:
        known = [getattr(truth, each, None) for each in needed]
        return {name: None if any(k is None for k in known) else score(output.phi, *known)}

    return Metric(name, (name,), values)


def _by_parameter(
    name: str,
    score: Callable[[EstimatorOutput, Phi | None], Values],
    *,
    needs_truth: bool = True,
    names: tuple[str, ...] = NAMES,
) -> Metric:
    """A metric with a column `name_parameter` for each parameter; empty where `score` has none."""

    def values(output: EstimatorOutput, truth: Truth | None) -> Values:
        phi = None if truth is None else truth.phi
        found = {} if phi is None and needs_truth else score(output, phi)
        return {f"{name}_{each}": found.get(each) for each in names}

    return Metric(name, tuple(f"{name}_{each}" for each in names), values)


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        _of_truth("mass_error", mass_error, "phi"),
        _of_truth("first_moment_error", first_moment_error, "phi"),
        _of_truth("relative_inertia_error", relative_inertia_error, "phi"),
        _of_truth("com_error", com_error, "phi", "sides"),
        _of_truth("inertia_error", inertia_error, "phi", "sides"),
        _of_truth("riemannian", riemannian_distance, "phi"),
        _of_output("consistent", consistent),
        _of_output("n_identifiable", lambda output: float(output.n_identifiable)),
        _by_parameter("covered", covered),
        _by_parameter("half_width", half_width, needs_truth=False),
        _by_parameter("error", error),
        _by_parameter("estimate", estimate, needs_truth=False, names=PHI),
    )
}
"""By name, in the order of tables."""
