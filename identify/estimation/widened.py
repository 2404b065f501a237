"""An estimate whose covariance counts what a fault of its logs may have moved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from identify.arrays import Array, Phi
from identify.estimation.estimate import Estimate
from identify.estimation.intervals import (
    NAMES,
    interval_jacobian,
    intervals_of,
    principal_axes_of,
    principal_spread,
)
from identify.inertia import PHI
from identify.significance import HALF_WIDTH_SIGMA


def of_shift(shift: Phi, covariance: Array) -> Array:
    """What to add to a covariance C so that intervals cover another estimate and its interval too.

    2 C + 2 δδᵀ/z², as (z σ + |δ|)² ≤ 2 z²σ² + 2 δ² for every quantity, z that of 95 %.

    Args:
        shift: δ, the other estimate less this one, shape (p,).
        covariance: of the two the larger, shape (p, p).
    """
    return covariance + of_size(np.sqrt(2.0) * shift)


def of_size(shift: Phi) -> Array:
    """Covariance of which a shift is the half-width, shape (p, p).

    Args:
        shift: what the half-width of a fault's size moves, shape (p,).
    """
    return np.outer(shift, shift) / HALF_WIDTH_SIGMA**2


def widened(estimate: Estimate, added: Array, of_scale: Array | None = None) -> Estimate:
    """An estimate with a further covariance, of a fault: in its intervals, axes and shares.

    Args:
        estimate: of one body, or of a payload with its carrier.
        added: covariance of all their parameters, in their order, shape (10 n, 10 n).
        of_scale: its part that is of the sensor's scale, likewise; none where not given.
    """
    of_scale = np.zeros_like(added) if of_scale is None else of_scale
    bodies = []
    for k, one in enumerate(estimate.bodies):
        own = slice(10 * k, 10 * k + 10)
        scale = of_scale[own, own]
        wider = _widened(one, added[own, own])
        if scale.any():
            before = 0.0 if one.calibration is None else one.calibration
            wider = replace(wider, calibration=before + scale)
        bodies.append(wider)
    others = dict(zip(estimate.others, bodies[1:], strict=True))
    joint = estimate.joint_covariance
    if joint is not None:
        joint = joint.copy()
        joint[: len(added), : len(added)] += added - of_scale
    return replace(bodies[0], others=others, joint_covariance=joint)


def _widened(estimate: Estimate, added: Array) -> Estimate:
    phi, covariance = estimate.parameters.phi, estimate.covariance + added
    spread = principal_spread(phi, covariance)
    jacobian = interval_jacobian(phi, spread)
    before, more = (
        np.maximum((jacobian @ of * jacobian).sum(axis=1), 0.0)
        for of in (estimate.covariance, added)
    )
    shares: dict[str, dict[str, float]] = {}
    for name, variance, extra in zip(NAMES, before.tolist(), more.tolist(), strict=True):
        of, whole = estimate.variance_shares.get(name, {}), variance + extra
        if estimate.intervals[name] is not None and whole > 0.0 and (of or extra):
            kept = {source: share * variance / whole for source, share in of.items()}
            shares[name] = kept | {"fault": kept.get("fault", 0.0) + extra / whole}
    degrees = np.array([estimate.degrees_of_freedom[name] or np.inf for name in PHI])
    made = phi, covariance, degrees, estimate.decided_by
    return replace(
        estimate,
        covariance=covariance,
        intervals=intervals_of(
            *made, limits=estimate.limits, simultaneous=estimate.simultaneous, spread=spread
        ),
        variance_shares=shares,
        principal_axes=principal_axes_of(*made, spread),
    )
