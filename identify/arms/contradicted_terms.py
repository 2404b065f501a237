"""Finding for values of a load, given by a person, that the torques contradict."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from identify.arms.fitting import ArmSolution
from identify.arms.torque_scale import TorqueScale
from identify.estimation.terms import KnownMass, Term
from identify.findings import Finding, Severity
from identify.inertia import PHI
from identify.significance import CONTRADICTED_CONSTRAINT_SIGMA, HALF_WIDTH_SIGMA, IMPOSSIBLE_SIGMA


def contradicted_terms(
    given: ArmSolution,
    free: ArmSolution,
    terms: Sequence[Term],
    scale: TorqueScale,
    known_load: float | None,
) -> Finding | None:
    """Return a finding if given values move the mass or a first moment far beyond its interval.

    `known_load`: mass from which the scale was taken [kg]. The first moments change with a given
    mass, and only the mass is then compared.
    Intervals of `free` include the error of the torque scale.
    """
    mass_alone = known_load is not None or all(isinstance(term, KnownMass) for term in terms)
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
    evidence: dict[str, object] = {"standard_errors": sigmas, "mass_by_data": float(load.mass)}
    if known_load is None:
        severity: Severity = "error" if sigmas > CONTRADICTED_CONSTRAINT_SIGMA else "warning"
        remedy = "Check the given values; correct or omit them."
    else:
        least, most = float(scale.gains.min()), float(scale.gains.max())
        severity, evidence["gains"] = "warning", (least, most)
        limits = " to ".join(dict.fromkeys(f"{gain:.3g}" for gain in (least, most)))
        text += f" Were it right, logged torques would be {limits} of true ones."
        remedy = (
            "Check the mass; if it is right, the `gains` or the `effort_unit` of [joints] are "
            "wrong, by more than torque constants are."
        )
    return Finding("choice_contradicted", severity, text, remedy, evidence)
