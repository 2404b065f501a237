from dataclasses import replace

import numpy as np

from identify.estimation.variance_shares import correlations_of
from identify.exchange import SavedEstimate
from identify.inertia import PHI, InertialParameters
from identify.inertia.matrices import entries_from_symmetric

BODY = InertialParameters.from_com(1.3, [0.02, -0.015, 0.06], np.diag([31.0, 26.0, 17.0]) * 1e-4)


def saved(decided_by: dict[str, str] | None = None) -> SavedEstimate:
    root = np.random.default_rng(0).standard_normal((10, 10))
    sizes = 1e-5 * np.array([1.0, *[0.05] * 3, *[0.003] * 6])
    covariance = sizes * (root @ root.T) * sizes[:, None]
    return SavedEstimate(BODY, covariance=covariance, decided_by=decided_by or {})


def test_correlations_match_sampled_bodies():
    estimate = saved()
    names, found = correlations_of(estimate)
    assert names == ("m", "cx", "cy", "cz", "Icxx", "Icxy", "Icxz", "Icyy", "Icyz", "Iczz")
    draws = InertialParameters(
        np.random.default_rng(1).multivariate_normal(BODY.phi, estimate.covariance, 40_000)
    )
    shown = np.column_stack(
        (draws.mass, draws.com, entries_from_symmetric(draws.inertia_about_com))
    )
    np.testing.assert_allclose(found, np.corrcoef(shown.T), atol=0.03)


def test_correlations_exclude_parameters_not_decided_by_data():
    decided = dict.fromkeys(PHI, "data") | {"m": "given", "Ixy": "default"}
    names, found = correlations_of(saved(decided))
    assert names == ("cx", "cy", "cz", "Icxx", "Icxz", "Icyy", "Icyz", "Iczz")
    np.testing.assert_allclose(np.diag(found), 1.0)
    assert correlations_of(replace(saved(), covariance=None))[0] == ()
