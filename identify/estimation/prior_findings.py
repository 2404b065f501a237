"""Agreement of a body's prior with the data, as a finding and for the provenance."""

from __future__ import annotations

import numpy as np

from identify.arrays import Phi
from identify.estimation.posterior import Posterior
from identify.findings import Finding
from identify.inertia import inertia_about_com
from identify.significance import PRIOR_EXCLUDED_P


def prior_conflict(posterior: Posterior) -> tuple[Finding, ...]:
    """Return a finding with both bodies if the data exclude the prior."""
    agreement = posterior.agreement
    if agreement is None or not agreement.p_value < PRIOR_EXCLUDED_P:
        return ()
    mass = float(posterior.fit.x[0])
    mixture = posterior.prior.mixture(mass)
    mean = np.zeros(10) if mixture is None else agreement.weights @ mixture.means
    prior_text, data_text = describe_body(mean), describe_body(posterior.fit.x[:10])
    remedy = "Check the prior, its unit and its pose in B; correct it or leave it out."
    return (
        Finding(
            "choice_contradicted",
            "error",
            f"The log excludes the prior ({posterior.prior}): the body fitted to the log alone is "
            f"{agreement.normal_deviate:.2g} standard errors from the nearest body that the prior "
            f"allows (p = {agreement.p_value:.1g}). The prior has {prior_text}, the log alone "
            f"{data_text}.",
            remedy,
            {
                "z": agreement.normal_deviate,
                "p": agreement.p_value,
                "by_prior": mean.tolist(),
                "by_data": posterior.fit.x[:10].tolist(),
            },
        ),
    )


def prior_record(posterior: Posterior) -> dict[str, object]:
    """Return the prior and its agreement with the data for the provenance; empty without one."""
    if posterior.agreement is None:
        return {}
    return posterior.prior.record() | posterior.agreement.record()


def describe_body(phi: Phi) -> str:
    """Describe mass, centre of mass and principal moments for messages."""
    com = ", ".join(f"{1e3 * each:.4g}" for each in phi[1:4] / phi[0])
    moments = ", ".join(f"{each:.3g}" for each in np.linalg.eigvalsh(inertia_about_com(phi)))
    return f"{phi[0]:.4g} kg, its centre at [{com}] mm, moments {moments} kg m²"
