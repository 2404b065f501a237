"""Metrics of an estimate, most of them errors against the true body, as result columns.

A new metric is a function and one entry of `METRICS`; results, tables and figures use the entry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.linalg import eigh

from identify.arrays import Array, Mat33, Phi, Vec3
from identify.estimation.intervals import ESTIMATED_QUANTITIES, derived_quantities
from identify.inertia import (
    PHI,
    inertia_about_com,
    inertia_about_origin,
    is_consistent,
    pseudo_inertia,
    smallest_pseudo_eigenvalue,
)
from identify.relevance import POOR_PRECISION
from identify.studies.estimator import EstimatorOutput
from identify.studies.study import Truth

MetricValues: TypeAlias = Mapping[str, float | None]
"""Values of a metric by result column; None if a value does not exist."""


@dataclass(frozen=True, slots=True)
class Heading:
    """Heading and display settings of a metric's column in tables and figures.

    Attributes:
        text: heading in tables and figures, with its unit.
        short_text: heading for a terminal of 80 columns.
        display_factor: value shown / value of the results.
        has_percentiles: whether medians and percentiles are shown; not for values of 0 and 1.
        has_panel: whether figures have a panel for it: medians and percentiles on a logarithmic
            axis; without percentiles, means on an axis from 0 to `display_factor`.
    """

    text: str
    short_text: str
    display_factor: float = 1.0
    has_percentiles: bool = True
    has_panel: bool = False


@dataclass(frozen=True, slots=True)
class Metric:
    """Metric of an estimate, such as an error, with its columns in the results.

    Attributes:
        name: in study files.
        columns: headings of its columns by name.
        compute: computes the columns from the output and the true body, if the log's source has it.
    """

    name: str
    columns: Mapping[str, Heading]
    compute: Callable[[EstimatorOutput, Truth | None], MetricValues]


def mass_error(phi: Phi, truth: Phi) -> float:
    """Return the relative error of the mass, |Δm| / m [%]."""
    return float(100.0 * abs(phi[0] - truth[0]) / truth[0])


def first_moment_error(phi: Phi, truth: Phi) -> float:
    """Return the relative error of the first moment of mass, ‖Δh‖ / ‖h‖ [%]."""
    return float(100.0 * np.linalg.norm(phi[1:4] - truth[1:4]) / np.linalg.norm(truth[1:4]))


def relative_inertia_error(phi: Phi, truth: Phi) -> float:
    """Return the relative error of the inertia about Bo, ‖ΔI‖ / ‖I‖ in Frobenius norms [%]."""
    true = inertia_about_origin(truth)
    return float(100.0 * np.linalg.norm(inertia_about_origin(phi) - true) / np.linalg.norm(true))


def com_error(phi: Phi, truth: Phi, sides: Vec3) -> float:
    """Return the error of the centre of mass relative to the bounding box, mean over axes [%].

    As published with the STARS tools: Nadeau, Giamou and Kelly (ICRA 2023).
    """
    offset = phi[1:4] / phi[0] - truth[1:4] / truth[0]
    return float(100.0 * np.mean(np.abs(offset) / sides))


def com_distance(phi: Phi, truth: Phi) -> float:
    """Return the distance of the centre of mass from the true one [mm]."""
    return float(1e3 * np.linalg.norm(phi[1:4] / phi[0] - truth[1:4] / truth[0]))


def central_inertia_error(phi: Phi, truth: Phi, sides: Vec3) -> float:
    """Return `inertia_error` with each inertia about its own centre of mass [%]."""
    change = inertia_about_com(phi) - inertia_about_com(truth)
    return _relative_to_box_inertia(change, float(truth[0]), sides)


def inertia_error(phi: Phi, truth: Phi, sides: Vec3) -> float:
    """Return the mean error of the six inertia entries, relative to those of a solid box [%].

    The mean of |ΔI_ij / (m/12 (δ_ij aᵀa − a_i a_j))|, published as `com_error`.

    `phi`: the estimate; ΔI is its error about Bo; `sides`: sides a of its bounding box [m], shape
    (3,).
    m is the mass of `truth`.
    """
    change = inertia_about_origin(phi) - inertia_about_origin(truth)
    return _relative_to_box_inertia(change, float(truth[0]), sides)


def _relative_to_box_inertia(change: Mat33, mass: float, sides: Vec3) -> float:
    """Return inertia errors relative to the inertia of a solid box with the given sides."""
    box = mass / 12.0 * (sides @ sides * np.eye(3) - np.outer(sides, sides))
    return float(100.0 * np.mean(np.abs(change / box)[np.triu_indices(3)]))


def consistency_score(output: EstimatorOutput) -> float | None:
    """Return 1 if the body and all links are physically consistent (`is_consistent`), else 0."""
    bodies = [phi for phi in (output.phi, output.links) if phi is not None]
    return float(all(is_consistent(phi).all() for phi in bodies)) if bodies else None


def riemannian_distance(phi: Phi, truth: Phi) -> float:
    """Return the geodesic distance of pseudo-inertias, √(½ Σ log² λ).

    λ are the eigenvalues of Π⁻¹ Π_true. The distance is invariant to frames and units, and NaN if
    the estimate is not positive definite: the distance of a plate to a solid body is infinite.
    """
    if not smallest_pseudo_eigenvalue(phi) > 0.0:
        return float("nan")
    ratios = eigh(pseudo_inertia(phi), pseudo_inertia(truth), eigvals_only=True)
    if not ratios[0] > 0.0:
        return float("nan")
    return float(np.sqrt(0.5 * np.sum(np.log(ratios) ** 2)))


def interval_coverage(output: EstimatorOutput, truth: Phi | None) -> MetricValues:
    """Return, for each parameter, 1 if its interval contains the true value, else 0.

    Parameters without an interval are left out, and given parameters, whose interval has width 0.
    """
    return {
        name: float(bound[0] <= value <= bound[1])
        for name, value in zip(ESTIMATED_QUANTITIES, _values(truth), strict=True)
        if (bound := output.intervals.get(name)) is not None and bound[0] < bound[1]
    }


def interval_half_widths(output: EstimatorOutput, truth: Phi | None) -> MetricValues:
    """Return half the width of each parameter's interval, in the parameter's unit."""
    return {
        name: 0.5 * (bound[1] - bound[0])
        for name in ESTIMATED_QUANTITIES
        if (bound := output.intervals.get(name)) is not None
    }


def rightly_answered(output: EstimatorOutput, truth: Truth | None) -> MetricValues:
    """Return 1 if a sound estimate was given or a poor one refused, else 0.

    A poor one errs by more than `POOR_PRECISION` of mass, centre of mass or inertia, the bounds
    beyond which no estimate is of use.
    """
    phi = output.refused_phi if output.phi is None else output.phi
    if phi is None or truth is None:
        return {"right": None}
    true = truth.phi
    size = float(np.linalg.eigvalsh(inertia_about_com(true))[-1])
    errors = {
        "mass": 0.01 * mass_error(phi, true),
        "com": 1e-3 * com_distance(phi, true),
        "inertia": np.abs(inertia_about_com(phi) - inertia_about_com(true)).max() / size,
    }
    poor = any(not errors[name] <= bound for name, bound in POOR_PRECISION.items())
    return {"right": float(poor == bool(output.refused))}


def signed_errors(output: EstimatorOutput, truth: Phi | None) -> MetricValues:
    """Return the signed error of each parameter, estimate minus truth, in its unit."""
    difference = _values(output.phi) - _values(truth)
    return dict(zip(ESTIMATED_QUANTITIES, map(float, difference), strict=True))


def estimated_parameters(output: EstimatorOutput, truth: Phi | None) -> MetricValues:
    """Return the ten estimated parameters by name."""
    return dict(zip(PHI, map(float, _values(output.phi)[:10]), strict=True))


def _values(phi: Phi | None) -> Array:
    if phi is None:
        return np.full(len(ESTIMATED_QUANTITIES), np.nan)
    return np.concatenate(
        (phi, derived_quantities(phi), np.linalg.eigvalsh(inertia_about_com(phi)))
    )


def output_metric(
    name: str, compute: Callable[[EstimatorOutput], float | None], heading: Heading
) -> Metric:
    """Return a metric with one column that does not need the true body."""
    return Metric(name, {name: heading}, lambda output, truth: {name: compute(output)})


def truth_metric(
    name: str, compute: Callable[..., float], *needed: str, heading: Heading
) -> Metric:
    """Return a metric with one column that compares with the true body.

    `compute`: computes it from the estimated parameters, shape (10,), and the needed attributes;
    `needed`: attributes of `Truth`; the column is empty if one of them is not known.
    """

    def values(output: EstimatorOutput, truth: Truth | None) -> MetricValues:
        known = [getattr(truth, attribute, None) for attribute in needed]
        if output.phi is None or any(value is None for value in known):
            return {name: None}
        return {name: compute(output.phi, *known)}

    return Metric(name, {name: heading}, values)


def metric_of_each_parameter(
    name: str,
    compute: Callable[[EstimatorOutput, Phi | None], MetricValues],
    *,
    is_fraction: bool = False,
    needs_truth: bool = True,
    names: tuple[str, ...] = ESTIMATED_QUANTITIES,
) -> Metric:
    """Return a metric with a column `name_parameter` for each parameter.

    `is_fraction`: whether the values are 0 or 1, shown in per cent.
    """

    def values(output: EstimatorOutput, truth: Truth | None) -> MetricValues:
        phi = None if truth is None else truth.phi
        unknown = output.phi is None or (phi is None and needs_truth)
        scored = {} if unknown else compute(output, phi)
        return {f"{name}_{each}": scored.get(each) for each in names}

    headings = {
        column: Heading(f"{column} %", f"{column} %", 100.0, has_percentiles=False)
        if is_fraction
        else Heading(column, column)
        for column in (f"{name}_{each}" for each in names)
    }
    return Metric(name, headings, values)


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        truth_metric(
            "mass_error", mass_error, "phi", heading=Heading("mass %", "mass %", has_panel=True)
        ),
        truth_metric(
            "first_moment_error",
            first_moment_error,
            "phi",
            heading=Heading("‖Δh‖/‖h‖ %", "h %", has_panel=True),
        ),
        truth_metric(
            "relative_inertia_error",
            relative_inertia_error,
            "phi",
            heading=Heading("‖ΔI‖/‖I‖ %", "I %", has_panel=True),
        ),
        truth_metric("com_distance", com_distance, "phi", heading=Heading("CoM mm", "CoM mm")),
        truth_metric(
            "com_error", com_error, "phi", "sides", heading=Heading("CoM % of box", "CoM %b")
        ),
        truth_metric(
            "inertia_error",
            inertia_error,
            *("phi", "sides"),
            heading=Heading("inertia % of box", "I %b", has_panel=True),
        ),
        truth_metric(
            "central_inertia_error",
            central_inertia_error,
            *("phi", "sides"),
            heading=Heading("inertia about CoM % of box", "Ic %b"),
        ),
        truth_metric(
            "riemannian",
            riemannian_distance,
            "phi",
            heading=Heading("Riemannian", "Riem.", has_panel=True),
        ),
        output_metric(
            "consistent",
            consistency_score,
            Heading("consistent %", "cons.%", 100.0, has_percentiles=False, has_panel=True),
        ),
        output_metric(
            "n_identifiable",
            lambda output: None if output.phi is None else float(output.n_identifiable),
            Heading("identifiable of 10", "ident.", has_percentiles=False),
        ),
        output_metric(
            "torque_error",
            lambda output: output.torques and output.torques.fitted,
            Heading("torque error %", "torque %", 100.0, has_panel=True),
        ),
        output_metric(
            "held_out_error",
            lambda output: output.torques and output.torques.held_out,
            Heading("held-out torque error %", "held %", 100.0, has_panel=True),
        ),
        output_metric(
            "held_out_ratio",
            lambda output: output.torques and output.torques.held_out_ratio,
            Heading("held-out error / URDF's", "/ URDF", has_panel=True),
        ),
        output_metric(
            "refused",
            lambda output: None if output.refused is None else float(output.refused),
            Heading("refused %", "refused%", 100.0, has_percentiles=False),
        ),
        Metric(
            "right",
            {"right": Heading("rightly answered or refused %", "right %", 100.0, False)},
            rightly_answered,
        ),
        output_metric("cpu", lambda output: output.cpu_seconds, Heading("CPU s", "CPU s")),
        output_metric("memory", lambda output: output.memory_mb, Heading("memory MB", "MB")),
        metric_of_each_parameter("covered", interval_coverage, is_fraction=True),
        metric_of_each_parameter("half_width", interval_half_widths, needs_truth=False),
        metric_of_each_parameter("error", signed_errors),
        metric_of_each_parameter("estimate", estimated_parameters, needs_truth=False, names=PHI),
    )
}
"""Metrics by name, in the order of tables and of the panels of figures from the top."""


def find_heading(column: str) -> Heading:
    """Return the heading of a column; the column's name if it belongs to no metric."""
    for metric in METRICS.values():
        if column in metric.columns:
            return metric.columns[column]
    return Heading(column, column)
