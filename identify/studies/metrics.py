"""Scores of an estimator's output, most of them against the true body, as columns of the results.

A new metric is a function and one entry of `METRICS`: that is all that results, tables and figures
know of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.linalg import eigh

from identify.arrays import Array, Mat33, Phi, Vec3
from identify.estimation.intervals import NAMES, derived
from identify.inertia import (
    PHI,
    inertia_about_com,
    inertia_about_origin,
    is_consistent,
    pseudo_inertia,
    smallest_pseudo_eigenvalue,
)
from identify.studies.estimators import EstimatorOutput
from identify.studies.study import Truth

Values: TypeAlias = Mapping[str, float | None]
"""Columns and their values; None where there is nothing to say."""


@dataclass(frozen=True, slots=True)
class Heading:
    """How a column of a metric is shown.

    Attributes:
        text: in tables and figures, with its unit.
        narrow: the same for a terminal of 80 columns.
        factor: value shown = factor × value of the results.
        spread: whether a median beside the mean says anything; it does not of what is 0 or 1.
        drawn: whether figures have a panel of it: medians and percentiles on a logarithmic axis;
            without spread, means on an axis from 0 to `factor`.
    """

    text: str
    narrow: str
    factor: float = 1.0
    spread: bool = True
    drawn: bool = False


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric.

    Attributes:
        name: in study files.
        columns: that it fills, with their headings.
        score: from the output, and the truth where the log's source knows it, to the columns.
    """

    name: str
    columns: Mapping[str, Heading]
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


def central_inertia_error(phi: Phi, truth: Phi, sides: Vec3) -> float:
    """The same as `inertia_error` with ΔI that of the inertias, each about its own centre [%]."""
    change = inertia_about_com(phi) - inertia_about_com(truth)
    return _by_box(change, float(truth[0]), sides)


def inertia_error(phi: Phi, truth: Phi, sides: Vec3) -> float:
    """Mean over six entries of |ΔI_ij / (m/12 (δ_ij aᵀa − a_i a_j))| [%], published as `com_error`.

    Args:
        phi: the estimate; ΔI is its error about Bo.
        truth: the true body, of mass m.
        sides: sides a of its bounding box [m], shape (3,).
    """
    change = inertia_about_origin(phi) - inertia_about_origin(truth)
    return _by_box(change, float(truth[0]), sides)


def _by_box(change: Mat33, mass: float, sides: Vec3) -> float:
    box = mass / 12.0 * (sides @ sides * np.eye(3) - np.outer(sides, sides))
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


def of_output(name: str, score: Callable[[EstimatorOutput], float], heading: Heading) -> Metric:
    """A metric of one column that needs no truth."""
    return Metric(name, {name: heading}, lambda output, truth: {name: score(output)})


def of_truth(name: str, score: Callable[..., float], *needed: str, heading: Heading) -> Metric:
    """A metric of one column that compares with the truth.

    Args:
        name: in study files, and of its column.
        score: from the estimated parameters, shape (10,), and what is needed of the truth.
        needed: attributes of `Truth`; the column is empty where one of them is not known.
        heading: of the column.
    """

    def values(output: EstimatorOutput, truth: Truth | None) -> Values:
        known = [getattr(truth, each, None) for each in needed]
        return {name: None if any(k is None for k in known) else score(output.phi, *known)}

    return Metric(name, {name: heading}, values)


def by_parameter(
    name: str,
    score: Callable[[EstimatorOutput, Phi | None], Values],
    *,
    share: bool = False,
    needs_truth: bool = True,
    names: tuple[str, ...] = NAMES,
) -> Metric:
    """A metric with a column `name_parameter` for each parameter; empty where `score` has none.

    Args:
        name: in study files.
        score: from the output and the true parameters to values by the parameter's name.
        share: whether the values are 0 or 1, shown in per cent.
        needs_truth: whether `score` is of no use without it.
        names: of the parameters.
    """

    def values(output: EstimatorOutput, truth: Truth | None) -> Values:
        phi = None if truth is None else truth.phi
        scored = {} if phi is None and needs_truth else score(output, phi)
        return {f"{name}_{each}": scored.get(each) for each in names}

    headings = {
        column: Heading(f"{column} %", f"{column} %", 100.0, spread=False)
        if share
        else Heading(column, column)
        for column in (f"{name}_{each}" for each in names)
    }
    return Metric(name, headings, values)


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        of_truth("mass_error", mass_error, "phi", heading=Heading("mass %", "mass %", drawn=True)),
        of_truth(
            "first_moment_error",
            first_moment_error,
            "phi",
            heading=Heading("‖Δh‖/‖h‖ %", "h %", drawn=True),
        ),
        of_truth(
            "relative_inertia_error",
            relative_inertia_error,
            "phi",
            heading=Heading("‖ΔI‖/‖I‖ %", "I %", drawn=True),
        ),
        of_truth("com_error", com_error, "phi", "sides", heading=Heading("CoM % of box", "CoM %b")),
        of_truth(
            "inertia_error",
            inertia_error,
            *("phi", "sides"),
            heading=Heading("inertia % of box", "I %b", drawn=True),
        ),
        of_truth(
            "central_inertia_error",
            central_inertia_error,
            *("phi", "sides"),
            heading=Heading("inertia about CoM % of box", "Ic %b"),
        ),
        of_truth(
            "riemannian",
            riemannian_distance,
            "phi",
            heading=Heading("Riemannian", "Riem.", drawn=True),
        ),
        of_output(
            "consistent",
            consistent,
            Heading("consistent %", "cons.%", 100.0, spread=False, drawn=True),
        ),
        of_output(
            "n_identifiable",
            lambda output: float(output.n_identifiable),
            Heading("identifiable of 10", "ident.", spread=False),
        ),
        by_parameter("covered", covered, share=True),
        by_parameter("half_width", half_width, needs_truth=False),
        by_parameter("error", error),
        by_parameter("estimate", estimate, needs_truth=False, names=PHI),
    )
}
"""By name, in the order of tables and, from the top, of the panels of figures."""


def heading_of(column: str) -> Heading:
    """How a column is shown; by its own name where no metric fills it."""
    for metric in METRICS.values():
        if column in metric.columns:
            return metric.columns[column]
    return Heading(column, column)
