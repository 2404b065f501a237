"""Covariance of an estimate, and the 95 % intervals it gives.

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
from identify.estimation.principal_axes import PrincipalSpread
from identify.exchange import PrincipalAxis
from identify.exchange.estimate_views import MOMENTS
from identify.findings import NOT_IDENTIFIED
from identify.inertia import PHI, inertia_about_com
from identify.inertia.matrices import six_from_symmetric
from identify.significance import CONFIDENCE_QUANTILE, FEWEST_DEGREES

INTERVAL_KIND = "95 %, noise of wrench and motion counted"
"""What the intervals of the formula are, in the words every table and file repeats …"""

BY_RESIDUAL = "95 %, noise of the wrench counted by what the fit leaves of it"
"""… and of still poses alone, whose signals show no noise by themselves."""

COM = ("cx", "cy", "cz")
INERTIA_ABOUT_COM = ("Icxx", "Icxy", "Icxz", "Icyy", "Icyz", "Iczz")
DERIVED = (*COM, *INERTIA_ABOUT_COM)
"""Names of what is derived from phi: centre of mass, and inertia about it."""

NAMES = (*PHI, *DERIVED, *MOMENTS)
"""Names of all that have an interval."""

Interval: TypeAlias = tuple[float, float]

POSSIBLE: Mapping[str, Interval] = MappingProxyType(
    dict.fromkeys(("m", "Ixx", "Iyy", "Izz", "Icxx", "Icyy", "Iczz", *MOMENTS), (0.0, np.inf))
)
"""What every body is within, by name: no mass and no moment is negative."""

_SIX_ABOUT_COM = np.arange(3, 9)

_LEVEL_DRAWS = 20_000
"""Draws for the level of simultaneous intervals: it comes out to 0.2 %."""


def covariance_of(fit: LeastSquaresFit) -> Array:
    """Covariance of x: B⁻¹ (H + X) B⁻¹ along the identifiable directions.

    H is the information of the rows, B what is left of it without noise in the columns, X the
    scatter of the noise cross term. Directions the data do not identify have the spread of the
    body's own scale.

    Args:
        fit: the unconstrained estimate.

    Returns:
        Shape (p, p), in the order and units of x.
    """
    split, to_x = fit.identifiability, fit.scaling.to_x
    along = fit.score_root @ fit.corrected_information_inverse @ split.identifiable.T
    covariance = along.T @ along
    covariance = covariance + split.unidentifiable @ split.unidentifiable.T
    covariance = to_x @ covariance @ to_x.T
    return 0.5 * (covariance + covariance.T)


def degrees_of_freedom(fit: LeastSquaresFit, *, less_leverage: bool = True) -> Array:
    """Of Student's t for each unknown (Satterthwaite 1946): those of the groups it rests on.

    Args:
        fit: the unconstrained estimate.
        less_leverage: whether what unknowns and offsets take of the groups is left out. Sizes are
            shrunk towards the one that is common to all bands, so that of few rows this is too few.

    Returns:
        Shape (p,).
    """
    along, arrays = fit.information_inverse, fit.data.system.arrays
    information = fit.moments[:, :-1, :-1]
    taken = fit.leverages if less_leverage else 0.0
    shares = (along @ information @ along).diagonal(axis1=1, axis2=2)
    # A size a kind of channel is what is learned of a group.
    alike = arrays.channels.sum(axis=1) / (arrays.kind >= 0).sum(axis=1)
    degrees = np.maximum(alike * (arrays.effective_samples - taken), 1.0)
    whole, squares = shares.sum(axis=0), (shares**2 / degrees[:, None]).sum(axis=0)
    return np.where(squares > 0.0, whole**2 / np.where(squares > 0.0, squares, 1.0), np.inf)


def offset_half_widths(
    fit: LeastSquaresFit, covariance: Array, of_scale: Array | None = None
) -> Array:
    """95 % half-widths of the sensor offsets of each log, in the order of `System.offsets`.

    An offset is the mean residual of its rows: it has the error of that mean, and what errors of
    the unknowns make of it, which are independent of each other. The mean has the weight that the
    noise of all rows of its sensor says, and so their degrees of freedom.

    Args:
        fit: the unconstrained estimate.
        covariance: of the unknowns, by noise, shape (p, p).
        of_scale: variances that errors of scale make of the offsets, shape (offsets, m).

    Returns:
        Shape (logs, m), zero where none is fitted.
    """
    system, arrays = fit.data.system, fit.data.system.arrays
    offsets, J = arrays.offsets, system.offset_maps(fit.weights)[..., :-1]
    own = np.linalg.inv(system.offset_information(fit.weights))
    variances = (own + J @ covariance @ J.swapaxes(-1, -2)).diagonal(axis1=1, axis2=2)
    errors = np.sqrt(variances + (0.0 if of_scale is None else of_scale))
    groups = arrays.sensors[offsets.sensor]
    samples = (arrays.effective_samples[groups] * (groups >= 0)).sum(axis=1)
    first = groups[:, 0]
    alike = arrays.channels[first].sum(axis=1) / (arrays.kind[first] >= 0).sum(axis=1)
    levels = stdtrit(np.maximum(alike * samples, FEWEST_DEGREES), CONFIDENCE_QUANTILE)
    return system.offsets_by_log(levels[:, None] * errors)


def intervals_of(
    phi: Phi,
    covariance: Array,
    degrees: Array | float,
    decided_by: Mapping[str, str],
    *,
    limits: Mapping[str, Interval] | None = None,
    simultaneous: bool = False,
    spread: PrincipalSpread | None = None,
) -> dict[str, Interval | None]:
    """95 % intervals of the ten parameters, what is derived of them, and the principal moments.

    Each is the estimate plus and minus Student's t standard errors, cut at what is possible: the
    truth is never beyond, so that nothing is lost by the cut, and the other end stays where it is.
    Those of principal moments reach further towards a moment that noise may have driven away.

    Args:
        phi: the estimate, shape (10,).
        covariance: of phi, shape (10, 10).
        degrees: of freedom of Student's t for each of the ten, shape (10,), or one number for all.
        decided_by: what decided each of the ten; one that was not measured has no interval (None).
        limits: what is known of some by name; that of every body where not given.
        simultaneous: whether 95 % is that all of them hold at once.
        spread: of the principal moments, where it is at hand.
    """
    spread = spread or principal_spread(phi, covariance)
    values = np.concatenate((phi, derived(phi), spread.moments))
    jacobian = interval_jacobian(phi, spread)
    known = np.array(list(measured(decided_by).values()))
    errors = _errors(jacobian, covariance)
    level = _level_of_all(jacobian[known], covariance) if simultaneous else CONFIDENCE_QUANTILE
    half = stdtrit(_degrees_of_all(degrees), level) * errors
    down, up = half.copy(), half.copy()
    eigenvalue_repulsion = spread.eigenvalue_repulsion
    down[-3:], up[-3:] = down[-3:] + eigenvalue_repulsion[0], up[-3:] + eigenvalue_repulsion[1]
    bounds = POSSIBLE if limits is None else limits
    found: dict[str, Interval | None] = dict.fromkeys(NAMES)
    each = (values.tolist(), (values - down).tolist(), (values + up).tolist())
    for name, there, value, lower, upper in zip(NAMES, known.tolist(), *each, strict=True):
        low, high = bounds.get(name, (-np.inf, np.inf))
        if there:  # the estimate itself may be beyond a limit by rounding
            found[name] = max(lower, min(low, value)), min(upper, max(high, value))
    return found


def _errors(jacobian: Array, covariance: Array) -> Array:
    """Standard errors of some quantities, shape (q,)."""
    return np.sqrt(np.maximum((jacobian @ covariance * jacobian).sum(axis=1), 0.0))


def measured(decided_by: Mapping[str, str]) -> dict[str, bool]:
    """Whether each of `NAMES` was measured, by what decided the ten."""
    ten: dict[str, bool] = {name: decided_by[name] not in NOT_IDENTIFIED for name in PHI}
    all_six = all(ten[name] for name in PHI[4:])
    return {
        **ten,
        **{name: ten[f"h{name[1]}"] for name in COM},
        **{name: ten[f"I{name[2:]}"] for name in INERTIA_ABOUT_COM},
        **dict.fromkeys(MOMENTS, all_six),
    }


def principal_axes_of(
    phi: Phi,
    covariance: Array,
    degrees: Array | float,
    decided_by: Mapping[str, str],
    spread: PrincipalSpread | None = None,
) -> tuple[PrincipalAxis, ...]:
    """Principal moments about the centre of mass, ascending, each with its axis and 95 % cone.

    Args:
        phi: the estimate, shape (10,).
        covariance: of phi, shape (10, 10).
        degrees: of freedom of Student's t, as in `intervals_of`.
        decided_by: what decided each of the ten.
        spread: of the principal moments, where it is at hand.

    Returns:
        Three; none where the inertia was not measured.
    """
    if not measured(decided_by)[MOMENTS[0]]:
        return ()
    spread = spread or principal_spread(phi, covariance)
    angles = spread.half_angles(float(_degrees_of_all(degrees)[-1]))
    return tuple(
        # ± is the same axis: the one shown has its largest component positive.
        PrincipalAxis(float(moment), axis * np.sign(axis[np.argmax(np.abs(axis))]), angle)
        for moment, axis, angle in zip(spread.moments, spread.axes.T, angles, strict=True)
    )


def principal_spread(phi: Phi, covariance: Array) -> PrincipalSpread:
    """Principal moments of an estimate with the spread of the inertia in their axes."""
    return PrincipalSpread.of(phi, covariance, derived_jacobian(phi))


def interval_jacobian(phi: Phi, spread: PrincipalSpread | None = None) -> Array:
    """∂(phi, c, I_c, principal moments)/∂phi, in the order of `NAMES`, shape (22, 10)."""
    spread = spread or principal_spread(phi, np.zeros((10, 10)))
    return np.concatenate((np.eye(10), spread.derived, _own(spread)))


def _own(spread: PrincipalSpread) -> Array:
    """Derivative of the moments, shape (3, 10)."""
    return spread.jacobian[np.arange(3), np.arange(3)]


def _degrees_of_all(degrees: Array | float) -> Array:
    """Of each of `NAMES`: of what is derived those of its own moment, of the principal the least.

    Returns:
        Shape (22,).
    """
    own = np.broadcast_to(degrees, 10)
    of_all = np.concatenate((own, own[1:], [own[4:].min()] * 3))
    return np.maximum(of_all, FEWEST_DEGREES)


def _level_of_all(jacobian: Array, covariance: Array) -> float:
    """Level for each of some quantities by itself at which all hold at once at 95 %.

    That of the largest of correlated normal numbers, max |z| (Hothorn, Bretz and Westfall 2008), by
    simulation: Bonferroni's would take quantities that are functions of ten for independent.

    Args:
        jacobian: of the quantities, shape (q, 10).
        covariance: of phi, shape (10, 10).
    """
    errors = _errors(jacobian, covariance)
    uncertain = errors > 0.0
    if not uncertain.any():
        return CONFIDENCE_QUANTILE
    sigma = np.sqrt(np.diag(covariance))
    unit = np.where(sigma > 0.0, sigma, 1.0)
    values, vectors = np.linalg.eigh(covariance / (unit[:, None] * unit))
    root = vectors * np.sqrt(np.maximum(values, 0.0)) * sigma[:, None]
    rows = (jacobian[uncertain] @ root) / errors[uncertain, None]
    # The same numbers each time, so that the same data give the same intervals.
    draws = np.random.default_rng(0).standard_normal((_LEVEL_DRAWS, len(covariance)))
    largest = np.abs(draws @ rows.T).max(axis=1)
    return float(ndtr(np.quantile(largest, 2.0 * CONFIDENCE_QUANTILE - 1.0)))


def derived(phi: Phi) -> Array:
    """Centre of mass and the six entries of the inertia about it, shape (9,)."""
    return np.concatenate((phi[1:4] / phi[0], six_from_symmetric(inertia_about_com(phi))))


def derived_jacobian(phi: Phi) -> Array:
    """∂(c, I_c)/∂phi, shape (9, 10): c = h/m and I_c = I − (hᵀh 1 − h hᵀ)/m."""
    m, (x, y, z) = float(phi[0]), (phi[1:4] / phi[0]).tolist()
    jacobian = np.zeros((9, 10))
    jacobian[0, 0], jacobian[1, 0], jacobian[2, 0] = -x / m, -y / m, -z / m
    jacobian[0, 1] = jacobian[1, 2] = jacobian[2, 3] = 1.0 / m
    jacobian[_SIX_ABOUT_COM, _SIX_ABOUT_COM + 1] = 1.0
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
