"""Cost of a shape prior in a fit: construction from points, and posterior."""

from __future__ import annotations

import numpy as np

from experiments.benchmarks.measure import Effort, ReportLine, Spread, race
from experiments.benchmarks.psd_fit import SAMPLES, noisy_log
from identify.estimation.posterior import posterior_of
from identify.estimation.priors import ShapePrior

POINTS = 600


def run(effort: Effort) -> list[ReportLine]:
    """Measure milliseconds of a prior and of the posterior with it."""
    fit = noisy_log(effort.scaled(SAMPLES, minimum=300)).fit
    rng = np.random.default_rng(0)
    points = fit.x[1:4] / fit.x[0] + rng.uniform(-0.5, 0.5, (POINTS, 3)) * [0.3, 0.05, 0.05]
    volumes = np.full(POINTS, 1e-3)  # more than the box holds
    prior = ShapePrior.of_points(points, volumes)
    seconds = race(
        {
            "made": lambda: ShapePrior.of_points(points, volumes).density,
            "weighed": lambda: posterior_of(fit, prior).covariance,
        },
        effort,
    )
    made, weighed = (Spread.of(1e3 * seconds[name]) for name in ("made", "weighed"))
    count = len(prior.mixture(float(fit.x[0])).means)
    return [
        ReportLine(
            f"prior of a shape from {POINTS} points, once per shape: ShapePrior.of_points",
            made.text("ms"),
        ),
        ReportLine(
            f"posterior of a fit with a mixture of {count} such priors: posterior_of",
            weighed.text("ms"),
        ),
    ]
