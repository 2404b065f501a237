"""Agreement of a body's prior with the data, as a finding and for the provenance."""

from __future__ import annotations

import numpy as np

from identify.arrays import Phi
from identify.estimation.posterior import Posterior
from identify.findings import Finding
from identify.inertia import inertia_about_com
from identify.regressors import StackedEquations
from identify.significance import PRIOR_EXCLUDED_P


def prior_conflict(posterior: Posterior, number: int = 0) -> tuple[Finding, ...]:
    """Return a finding with both bodies if the data exclude the prior of a body.

    `number`: of the body; the conflict of several priors is a finding of the first of them.
    """
    agreement, priors = posterior.agreement, posterior.informative_priors
    if agreement is None or not agreement.p_value < PRIOR_EXCLUDED_P or number != min(priors):
        return ()
    prior, x = priors[number], posterior.fit.x[10 * number : 10 * number + 10]
    mixture = prior.mixture(float(x[0]))
    many = mixture is None or len(mixture.means) != len(agreement.weights)
    weights = np.ones(1) if many else agreement.weights
    mean = x if mixture is None else weights @ mixture.means[: len(weights)]
    data_text = describe_body(x) if x[0] > 0.0 else f"{x[0]:.4g} kg"
    others = f" and {len(priors) - 1} more" if len(priors) > 1 else ""
    of_rows = isinstance(posterior.fit.data.system.data[0][1], StackedEquations)
    verb, data = ("exclude", "the rows") if of_rows else ("excludes", "the log")
    remedy = "Check the prior, its unit and its pose in B; correct it or leave it out."
    return (
        Finding(
            "choice_contradicted",
            "error",
            f"{data.capitalize()} {verb} the prior ({prior}{others}): the body fitted to {data} "
            f"alone is {agreement.normal_deviate:.2g} standard errors from the nearest body that "
            f"the prior allows (p = {agreement.p_value:.1g}). The prior has {describe_body(mean)}, "
            f"{data} alone {data_text}.",
            remedy,
            {
                "z": agreement.normal_deviate,
                "p": agreement.p_value,
                "by_prior": mean.tolist(),
                "by_data": x.tolist(),
            },
        ),
    )


def prior_record(posterior: Posterior, number: int = 0) -> dict[str, object]:
    """Return the prior of a body and its agreement with the data for the provenance.

    It is empty without one.
    """
    prior = posterior.informative_priors.get(number)
    if posterior.agreement is None or prior is None:
        return {}
    return prior.record() | posterior.agreement.record()


def describe_body(phi: Phi) -> str:
    """Describe mass, centre of mass and principal moments for messages."""
    com = ", ".join(f"{1e3 * each:.4g}" for each in phi[1:4] / phi[0])
    moments = ", ".join(f"{each:.3g}" for each in np.linalg.eigvalsh(inertia_about_com(phi)))
    return f"{phi[0]:.4g} kg, its centre at [{com}] mm, moments {moments} kg m²"
