"""Finding for values of a load, given by a person, that the torques contradict."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from identify.arms.fitting import ArmSolution
from identify.arms.gains import FittedGains
from identify.arms.torque_scale import TorqueScale
from identify.estimation.terms import KnownMass, Term
from identify.findings import Finding
from identify.inertia import PHI
from identify.significance import CONTRADICTED_CONSTRAINT_SIGMA, HALF_WIDTH_SIGMA, IMPOSSIBLE_SIGMA


def contradicted_load(
    shown: FittedGains, known: FittedGains, scale: TorqueScale | None
) -> Finding | None:
    """Return a finding if a known load contradicts what else tells the scale of the torques.

    `shown`: gains without the known load, by which the torques show a mass; `known`: gains by it;
    `scale`: of the torques if it is given. Without it the links of the model tell it.
    """
    if known.known_load is None or shown.load_mass is None:
        return None
    ratio = float(np.exp(np.mean(np.log(np.abs(known.scale.gains / shown.scale.gains)))))
    of_load = known.scale.covariance.mean()
    scales = [(1.0, float(np.sqrt(shown.scale.covariance.mean() + of_load)))]
    if scale is None and shown.common is not None:
        by_links, error = shown.common
        scales.append((by_links, float(np.hypot(error, by_links * np.sqrt(of_load)))))
    sigmas = [abs(np.log(ratio / each)) * each / error for each, error in scales]
    if min(sigmas) < IMPOSSIBLE_SIGMA:
        return None
    gain, error = scales[-1]
    source = "the robot's model" if scale is None else scale.interval_kind
    return Finding(
        "choice_contradicted",
        "error",
        f"the torques contradict the known load of {known.known_load:.4g} kg, by {sigmas[0]:.2g} "
        f"standard errors: they show {shown.load_mass:.3g} kg. Were it right, logged torques would "
        f"be {ratio:.2g} of true ones, which {source} contradicts as well ({gain:.2g} ± "
        f"{HALF_WIDTH_SIGMA * error:.2g}).",
        "Check the mass, the frame that it is fixed to, and what else the flange carries. If the "
        "model's links are less accurate, give `--link-accuracy`.",
        {"standard_errors": float(sigmas[0]), "mass_by_data": shown.load_mass, "gain": ratio},
    )


def contradicted_terms(
    given: ArmSolution, free: ArmSolution, terms: Sequence[Term]
) -> Finding | None:
    """Return a finding if given values move the mass or a first moment far beyond its interval.

    The first moments change with a given mass, and only the mass is then compared.
    Intervals of `free` include the error of the torque scale.
    """
    mass_alone = all(isinstance(term, KnownMass) for term in terms)
    count = 1 if mass_alone else 4
    intervals = [free.estimate.intervals[name] or (-np.inf, np.inf) for name in PHI[:count]]
    errors = np.ptp(intervals, axis=1) / (2.0 * HALF_WIDTH_SIGMA)
    load = free.estimate.parameters
    away = given.estimate.parameters.phi - load.phi
    sigmas = float((np.abs(away[:count]) / errors).max())
    if not sigmas > IMPOSSIBLE_SIGMA:
        return None
    com = ", ".join(f"{1e3 * c:.3g}" for c in load.com.tolist())
    text = (
        f"the torques contradict {' and '.join(map(str, terms))}, by {sigmas:.2g} standard errors: "
        f"they show {load.mass:.3g} ± {HALF_WIDTH_SIGMA * errors[0]:.2g} kg at ({com}) mm."
    )
    return Finding(
        "choice_contradicted",
        "error" if sigmas > CONTRADICTED_CONSTRAINT_SIGMA else "warning",
        text,
        "Check the given values; correct or omit them.",
        {"standard_errors": sigmas, "mass_by_data": float(load.mass)},
    )
