"""Covariance of an estimate, and 95 % intervals from it.

Satterthwaite, "An approximate distribution of estimates of variance components" (1946).
Hothorn, Bretz and Westfall, "Simultaneous inference in general parametric models" (2008).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from scipy.special import ndtr, stdtrit

from identify.arrays import Array, Phi
from identify.estimation.least_squares import LeastSquaresFit
from identify.estimation.principal_axes import PrincipalUncertainty
from identify.exchange import PrincipalAxis
from identify.exchange.estimate_views import PRINCIPAL_MOMENT_NAMES
from identify.findings import UNIDENTIFIED_SOURCES
from identify.inertia import PHI, inertia_about_com
from identify.inertia.matrices import entries_from_symmetric
from identify.significance import CONFIDENCE_QUANTILE, MIN_DEGREES_OF_FREEDOM
from identify.spatial.columns import FORCE_AXES, TORQUE_AXES
from identify.spatial.rotations import hat

INTERVAL_KIND = "95 %, noise of wrench and motion counted"
"""Description of intervals from the covariance formula, for every table and file."""

INTERVAL_KIND_BY_RESIDUAL = "95 %, noise of the wrench counted by what the fit leaves of it"
"""Description of intervals for static poses alone, whose noise is estimated from residuals."""

COM_NAMES = ("cx", "cy", "cz")
INERTIA_ABOUT_COM_NAMES = ("Icxx", "Icxy", "Icxz", "Icyy", "Icyz", "Iczz")
DERIVED_NAMES = (*COM_NAMES, *INERTIA_ABOUT_COM_NAMES)
"""Names of quantities derived from phi: centre of mass and inertia about it."""

ESTIMATED_QUANTITIES = (*PHI, *DERIVED_NAMES, *PRINCIPAL_MOMENT_NAMES)
"""Names of all quantities with an interval."""

Interval: TypeAlias = tuple[float, float]

BOUNDS_OF_EVERY_BODY: Mapping[str, Interval] = MappingProxyType(
    dict.fromkeys(
        ("m", "Ixx", "Iyy", "Izz", "Icxx", "Icyy", "Iczz", *PRINCIPAL_MOMENT_NAMES), (0.0, np.inf)
    )
)
"""Bounds that hold for every body, by name of the quantity: mass and moments are nonnegative."""

_INERTIA_ENTRIES = np.arange(3, 9)

_LEVEL_DRAWS = 20_000
"""Number of random draws for the level of simultaneous intervals, accurate to 0.2 %."""


def covariance_of(fit: LeastSquaresFit) -> Array:
    """Compute the sandwich covariance of the unknowns along the identifiable directions.

    H is the information of the rows, B that without noise in the columns, X the score excess.
    Along unidentifiable directions the standard deviation is the body's own scale.

    Shape (p, p), in the order and units of x.
    """
    split, to_x = fit.identifiability, fit.scaling.to_x
    along = fit.score_root @ fit.corrected_information_inverse @ split.identifiable.T
    covariance = along.T @ along
    covariance = covariance + split.unidentifiable @ split.unidentifiable.T
    covariance = to_x @ covariance @ to_x.T
    return 0.5 * (covariance + covariance.T)


def degrees_of_freedom(fit: LeastSquaresFit, *, subtract_leverage: bool = True) -> Array:
    """Compute the degrees of freedom of Student's t for each unknown (Satterthwaite 1946).

    `subtract_leverage`: whether the leverage is subtracted. The variance inflation is shrunk
    towards that of all bands, so that for few rows this underestimates the degrees.
    Shape (p,).
    """
    along, arrays = fit.information_inverse, fit.data.system.padded
    if fit.data.noise_known:
        return np.full(len(along), np.inf)
    information = fit.moments[:, :-1, :-1]
    used = fit.leverages if subtract_leverage else 0.0
    shares = ((along @ information) * along).sum(axis=2)  # diagonals of B⁻¹ H B⁻¹
    # One variance for each kind of channel is estimated from a group.
    channels_per_kind = arrays.channels.sum(axis=1) / (arrays.quantity_ids >= 0).sum(axis=1)
    degrees = np.maximum(channels_per_kind * (arrays.effective_samples - used), 1.0)
    total, squares = shares.sum(axis=0), (shares**2 / degrees[:, None]).sum(axis=0)
    return np.where(squares > 0.0, total**2 / np.where(squares > 0.0, squares, 1.0), np.inf)


def offset_half_widths(
    fit: LeastSquaresFit, covariance: Array, scale_variance: Array | None = None
) -> Array:
    """Compute 95 % half-widths of sensor offsets by log, in the order of `LinearSystem.offsets`.

    An offset is the mean residual of its rows: its error is that of the mean plus, independently,
    the propagated error of the unknowns. The degrees of freedom are those of its sensor.

    `covariance`: covariance of the unknowns from noise, shape (p, p); `scale_variance`: variances
    of the offsets from scale errors, shape (offsets, m).
    Shape (logs, m); zero for offsets that are not fitted.
    """
    system, arrays = fit.data.system, fit.data.system.padded
    offsets, J = arrays.offsets, system.offset_maps(fit.weights)[..., :-1]
    mean_covariance = np.linalg.inv(system.offset_information(fit.weights))
    variances = (mean_covariance + J @ covariance @ J.swapaxes(-1, -2)).diagonal(axis1=1, axis2=2)
    errors = np.sqrt(variances + (0.0 if scale_variance is None else scale_variance))
    groups = arrays.sensors[offsets.sensor]
    samples = (arrays.effective_samples[groups] * (groups >= 0)).sum(axis=1)
    first = groups[:, 0]
    channels_per_kind = arrays.channels[first].sum(axis=1) / (arrays.quantity_ids[first] >= 0).sum(
        axis=1
    )
    levels = stdtrit(
        np.maximum(channels_per_kind * samples, MIN_DEGREES_OF_FREEDOM), CONFIDENCE_QUANTILE
    )
    half_widths = system.offsets_by_log(levels[:, None] * errors)
    if fit.flight_com is not None:
        of_lever = np.square(hat(np.array(fit.flight_com))) @ half_widths[:, FORCE_AXES].T ** 2
        half_widths[:, TORQUE_AXES] = np.sqrt(half_widths[:, TORQUE_AXES] ** 2 + of_lever.T)
    return half_widths


def intervals_of(
    phi: Phi,
    covariance: Array,
    degrees: Array | float,
    decided_by: Mapping[str, str],
    *,
    limits: Mapping[str, Interval] | None = None,
    simultaneous: bool = False,
    principal: PrincipalUncertainty | None = None,
) -> dict[str, Interval | None]:
    """Compute 95 % intervals of the ten parameters, derived quantities and principal moments.

    An interval is the estimate plus and minus Student's t standard errors, cut at the bounds that
    hold for the body, beyond which the true value cannot be. Intervals of principal moments reach
    further towards a neighbouring moment, as noise drives moments apart.

    `phi`: the estimate, shape (10,); `covariance`: covariance of phi, shape (10, 10); `degrees`:
    degrees of freedom of Student's t for each parameter, shape (10,), or for all; `decided_by`:
    source of each of the ten parameters; a parameter that the data do not identify has no interval
    (None); `limits`: known bounds by name; the bounds of every body if not given; `principal`:
    spread of the principal moments, if already computed.
    """
    principal = principal or principal_uncertainty(phi, covariance)
    values = np.concatenate((phi, derived_quantities(phi), principal.moments))
    jacobian = interval_jacobian(phi, principal)
    known = np.array(list(identified_quantities(decided_by).values()))
    errors = _standard_errors(jacobian, covariance)
    level = (
        _simultaneous_level(jacobian[known], covariance) if simultaneous else CONFIDENCE_QUANTILE
    )
    half = stdtrit(_degrees_of_quantities(degrees), level) * errors
    down, up = half.copy(), half.copy()
    eigenvalue_repulsion = principal.eigenvalue_repulsion
    down[-3:], up[-3:] = down[-3:] + eigenvalue_repulsion[0], up[-3:] + eigenvalue_repulsion[1]
    bounds = BOUNDS_OF_EVERY_BODY if limits is None else limits
    intervals: dict[str, Interval | None] = dict.fromkeys(ESTIMATED_QUANTITIES)
    each = (values.tolist(), (values - down).tolist(), (values + up).tolist())
    for name, has_interval, value, lower, upper in zip(
        ESTIMATED_QUANTITIES, known.tolist(), *each, strict=True
    ):
        low, high = bounds.get(name, (-np.inf, np.inf))
        if has_interval:  # rounding may put the estimate itself beyond a limit
            intervals[name] = max(lower, min(low, value)), min(upper, max(high, value))
    return intervals


def _standard_errors(jacobian: Array, covariance: Array) -> Array:
    """Compute the standard errors of quantities from their Jacobian, shape (q,)."""
    return np.sqrt(np.maximum((jacobian @ covariance * jacobian).sum(axis=1), 0.0))


def identified_quantities(decided_by: Mapping[str, str]) -> dict[str, bool]:
    """Return for each quantity with an interval whether the data identify it."""
    ten: dict[str, bool] = {name: decided_by[name] not in UNIDENTIFIED_SOURCES for name in PHI}
    com = {name: ten["m"] and ten[f"h{name[1]}"] for name in COM_NAMES}
    about_com = {
        name: ten[f"I{name[2:]}"] and all(com[f"c{axis}"] for axis in _axes_of_entry(name[2:]))
        for name in INERTIA_ABOUT_COM_NAMES
    }
    all_six = all(about_com.values())
    return {**ten, **com, **about_com, **dict.fromkeys(PRINCIPAL_MOMENT_NAMES, all_six)}


def _axes_of_entry(entry: str) -> set[str]:
    """Return the coordinates of the centre of mass that shift an entry, such as "xx": y and z."""
    return {"x", "y", "z"} - {entry[0]} if entry[0] == entry[1] else set(entry)


def principal_axes_of(
    phi: Phi,
    covariance: Array,
    degrees: Array | float,
    decided_by: Mapping[str, str],
    principal: PrincipalUncertainty | None = None,
) -> tuple[PrincipalAxis, ...]:
    """Compute principal moments about the centre of mass, ascending, with axes and 95 % cones.

    `phi`: the estimate, shape (10,); `covariance`: of phi, shape (10, 10).
    Returns three axes; none if the inertia is not identifiable.
    """
    if not identified_quantities(decided_by)[PRINCIPAL_MOMENT_NAMES[0]]:
        return ()
    principal = principal or principal_uncertainty(phi, covariance)
    angles = principal.half_angles(float(_degrees_of_quantities(degrees)[-1]))
    return tuple(
        # ± is the same axis: the one shown has its largest component positive.
        PrincipalAxis(float(moment), axis * np.sign(axis[np.argmax(np.abs(axis))]), angle)
        for moment, axis, angle in zip(principal.moments, principal.axes.T, angles, strict=True)
    )


def principal_uncertainty(phi: Phi, covariance: Array) -> PrincipalUncertainty:
    """Compute the uncertainty of an estimate's principal moments and axes."""
    return PrincipalUncertainty.of(phi, covariance, derived_jacobian(phi))


def interval_jacobian(phi: Phi, principal: PrincipalUncertainty | None = None) -> Array:
    """Compute the Jacobian of all quantities with an interval by phi, shape (22, 10)."""
    principal = principal or principal_uncertainty(phi, np.zeros((10, 10)))
    moments = principal.jacobian[np.arange(3), np.arange(3)]
    return np.concatenate((np.eye(10), principal.derived, moments))


def _degrees_of_quantities(degrees: Array | float) -> Array:
    """Expand degrees of freedom of the ten parameters to all quantities with an interval.

    Shape (22,).
    """
    ten = np.broadcast_to(degrees, 10)
    expanded = np.concatenate((ten, ten[1:], [ten[4:].min()] * 3))
    return np.maximum(expanded, MIN_DEGREES_OF_FREEDOM)


def _simultaneous_level(jacobian: Array, covariance: Array) -> float:
    """Compute the single-interval level at which all intervals hold jointly at 95 %.

    It is the quantile of max |z| of correlated normal numbers (Hothorn, Bretz and Westfall 2008),
    by simulation; Bonferroni's correction would ignore that all quantities depend on ten.

    `jacobian`: of the quantities, shape (q, 10); `covariance`: of phi, shape (10, 10).
    """
    errors = _standard_errors(jacobian, covariance)
    uncertain = errors > 0.0
    if not uncertain.any():
        return CONFIDENCE_QUANTILE
    sigma = np.sqrt(np.diag(covariance))
    unit = np.where(sigma > 0.0, sigma, 1.0)
    values, vectors = np.linalg.eigh(covariance / (unit[:, None] * unit))
    root = vectors * np.sqrt(np.maximum(values, 0.0)) * sigma[:, None]
    rows = (jacobian[uncertain] @ root) / errors[uncertain, None]
    # Fixed seed: equal data give equal intervals.
    draws = np.random.default_rng(0).standard_normal((_LEVEL_DRAWS, len(covariance)))
    largest = np.abs(draws @ rows.T).max(axis=1)
    return float(ndtr(np.quantile(largest, 2.0 * CONFIDENCE_QUANTILE - 1.0)))


def derived_quantities(phi: Phi) -> Array:
    """Compute the centre of mass and the six entries of the inertia about it, shape (9,)."""
    return np.concatenate((phi[1:4] / phi[0], entries_from_symmetric(inertia_about_com(phi))))


def derived_jacobian(phi: Phi) -> Array:
    """Compute ∂(c, I_c)/∂phi, shape (9, 10): c = h/m and I_c = I − (hᵀh 1 − h hᵀ)/m."""
    m, (x, y, z) = float(phi[0]), (phi[1:4] / phi[0]).tolist()
    jacobian = np.zeros((9, 10))
    jacobian[0, 0], jacobian[1, 0], jacobian[2, 0] = -x / m, -y / m, -z / m
    jacobian[0, 1] = jacobian[1, 2] = jacobian[2, 3] = 1.0 / m
    jacobian[_INERTIA_ENTRIES, _INERTIA_ENTRIES + 1] = 1.0
    # ∂I_c/∂m and ∂I_c/∂h in the order xx, xy, xz, yy, yz, zz, with c = h/m.
    jacobian[3:, :4] = (
        (y * y + z * z, 0.0, -2.0 * y, -2.0 * z),
        (-x * y, y, x, 0.0),
        (-x * z, z, 0.0, x),
        (x * x + z * z, -2.0 * x, 0.0, -2.0 * z),
        (-y * z, 0.0, z, y),
        (x * x + y * y, -2.0 * x, -2.0 * y, 0.0),
    )
    return jacobian
