"""Inflation of an estimate's covariance by possible faults of its logs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from identify.arrays import Array, Phi
from identify.estimation.estimate import Estimate
from identify.estimation.intervals import (
    ESTIMATED_QUANTITIES,
    interval_jacobian,
    intervals_of,
    principal_axes_of,
    principal_uncertainty,
)
from identify.inertia import PHI
from identify.significance import HALF_WIDTH_SIGMA


def cover_shift(shift: Phi, covariance: Array) -> Array:
    """Return the covariance to add so that intervals cover those of a shifted estimate.

    2 C + 2 δδᵀ/z², as (z σ + |δ|)² ≤ 2 z²σ² + 2 δ² for every quantity, z that of 95 %.

    `shift`: δ, the other estimate minus this one, shape (p,); `covariance`: larger covariance of
    the two, shape (p, p).
    """
    return covariance + rank_one_covariance(np.sqrt(2.0) * shift)


def rank_one_covariance(shift: Phi) -> Array:
    """Return the rank-one covariance with a given 95 % half-width, shape (p, p).

    `shift`: shift of the estimate by the half-width of a fault's size, shape (p,).
    """
    return np.outer(shift, shift) / HALF_WIDTH_SIGMA**2


def inflate_covariance(
    estimate: Estimate, added: Array, scale_part: Array | None = None
) -> Estimate:
    """Add the covariance of a possible fault to an estimate, its intervals, axes and variances.

    `added`: covariance of the parameters of all n bodies, in their order, shape (10 n, 10 n);
    `scale_part`: part of it from the sensor's scale, shape (10 n, 10 n); zero if not given.
    """
    scale_part = np.zeros_like(added) if scale_part is None else scale_part
    bodies = []
    for k, body in enumerate(estimate.bodies):
        block = slice(10 * k, 10 * k + 10)
        scale = scale_part[block, block]
        inflated = _inflate_body(body, added[block, block])
        if scale.any():
            before = 0.0 if body.calibration is None else body.calibration
            inflated = replace(inflated, calibration=before + scale)
        bodies.append(inflated)
    others = dict(zip(estimate.others, bodies[1:], strict=True))
    joint = estimate.joint_covariance
    if joint is not None:
        joint = joint.copy()
        joint[: len(added), : len(added)] += added - scale_part
    return replace(bodies[0], others=others, joint_covariance=joint)


def _inflate_body(estimate: Estimate, added: Array) -> Estimate:
    phi, covariance = estimate.parameters.phi, estimate.covariance + added
    spread = principal_uncertainty(phi, covariance)
    jacobian = interval_jacobian(phi, spread)
    before, added_variance = (
        np.maximum((jacobian @ matrix * jacobian).sum(axis=1), 0.0)
        for matrix in (estimate.covariance, added)
    )
    shares: dict[str, dict[str, float]] = {}
    for name, variance, extra in zip(
        ESTIMATED_QUANTITIES, before.tolist(), added_variance.tolist(), strict=True
    ):
        previous_shares, whole = estimate.variance_shares.get(name, {}), variance + extra
        if estimate.intervals[name] is not None and whole > 0.0 and (previous_shares or extra):
            rescaled = {
                source: share * variance / whole for source, share in previous_shares.items()
            }
            shares[name] = rescaled | {"fault": rescaled.get("fault", 0.0) + extra / whole}
    degrees = np.array([estimate.degrees_of_freedom[name] or np.inf for name in PHI])
    made = phi, covariance, degrees, estimate.decided_by
    return replace(
        estimate,
        covariance=covariance,
        intervals=intervals_of(
            *made, limits=estimate.limits, simultaneous=estimate.simultaneous, principal=spread
        ),
        variance_shares=shares,
        principal_axes=principal_axes_of(*made, spread),
    )
