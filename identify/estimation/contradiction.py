"""Whether a log excludes what was said of its body, and what both say."""

from __future__ import annotations

from typing import Any

import numpy as np

from identify.arrays import Phi
from identify.estimation.posterior import EXCLUDED, Posterior
from identify.findings import Finding
from identify.inertia import inertia_about_com


def contradiction(posterior: Posterior) -> tuple[Finding, ...]:
    """The finding that the log excludes the prior, with both bodies, if it does."""
    weighing = posterior.weighing
    if weighing is None or not weighing.probability < EXCLUDED:
        return ()
    mass = float(posterior.fit.x[0])
    mixture = posterior.prior.mixture(mass)
    mean = np.zeros(10) if mixture is None else weighing.weights @ mixture.means
    said, found = _in_words(mean), _in_words(posterior.fit.x[:10])
    remedy = "Check the prior, its unit and its pose in B; correct it or leave it out."
    return (
        Finding(
            "choice_contradicted",
            "error",
            f"The log excludes the prior ({posterior.prior}): it is {weighing.z:.2g} standard "
            f"errors from the nearest body that this allows (p = {weighing.probability:.1g}). The "
            f"prior has {said}, the log alone {found}.",
            remedy,
            {
                "z": weighing.z,
                "p": weighing.probability,
                "by_prior": mean.tolist(),
                "by_data": posterior.fit.x[:10].tolist(),
            },
        ),
    )


def record_of(posterior: Posterior) -> dict[str, Any]:
    """The prior and how it and the log agree, as provenance keeps it; empty where it completes."""
    if posterior.weighing is None:
        return {}
    return posterior.prior.record() | posterior.weighing.record()


def _in_words(phi: Phi) -> str:
    """Mass, centre of mass and principal moments of a body, or of what is none."""
    com = ", ".join(f"{1e3 * each:.4g}" for each in phi[1:4] / phi[0])
    moments = ", ".join(f"{each:.3g}" for each in np.linalg.eigvalsh(inertia_about_com(phi)))
    return f"{phi[0]:.4g} kg, its centre at [{com}] mm, moments {moments} kg m²"
