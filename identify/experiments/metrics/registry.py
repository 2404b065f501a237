"""Metrics by name: one file (or one function in a file of its kind) and one line each."""

from __future__ import annotations

from collections.abc import Mapping

from identify.experiments.metrics import box_errors, intervals, pseudo_inertia, relative_errors
from identify.experiments.metrics.metric import (
    Metric,
    by_parameter,
    of_answer,
    of_box,
    of_truth,
)
from identify.inertia import PHI

METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        of_truth("mass_error", "%", relative_errors.mass_error),
        of_truth("first_moment_error", "%", relative_errors.first_moment_error),
        of_truth("relative_inertia_error", "%", relative_errors.relative_inertia_error),
        of_box("com_error", "%", box_errors.com_error),
        of_box("inertia_error", "%", box_errors.inertia_error),
        of_truth("riemannian", "1", pseudo_inertia.riemannian_distance),
        of_answer("consistent", "1", pseudo_inertia.consistent),
        of_answer("told", "1", lambda answer: float(answer.told)),
        by_parameter("covered", "1", intervals.covered),
        by_parameter("half_width", "SI", intervals.half_width, needs_truth=False),
        by_parameter("error", "SI", intervals.error),
        by_parameter("estimate", "SI", intervals.estimate, needs_truth=False, names=PHI),
    )
}
"""By name, in the order of tables."""
