"""What the data tell: which directions of the ten parameters stand out of the motion's noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Mat66
from identify.regressors.newton_euler import FEATURE_TENSOR
from identify.regressors.statistics import whitener

HALF_WIDTH = 1.96
"""Standard errors in a 95 % half-width."""

_NOISE_SHARE = 2.0
"""How often the noise floor is taken off the excitation: once for what noise adds on average, once
more because its level is itself read off the log."""

_NOTHING = 1e-13
"""Excitation below this share of the whole is rounding."""

TRACE = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0])
"""Picks the trace of the inertia out of the ten parameters."""


@dataclass(frozen=True, slots=True)
class Identifiability:
    """The scaled parameter space, split by what the data tell.

    A direction is told where its 95 % half-width, with the motion's noise counted, is below the
    body's own scale.

    Attributes:
        told: columns that span the directions the data tell, shape (10, k).
        untold: columns that span those they do not, of one body scale each, shape (10, j).
        mass_given: whether the mass was given, and belongs to neither.
        half_widths: of each scaled parameter, relative to the body's scale, shape (10,).
        resolved: columns that span every direction with more excitation than noise, shape (10, r).
        size_error: standard error of the trace of the scaled inertia; infinite where that is not
            resolved.
    """

    told: Array
    untold: Array
    mass_given: bool
    half_widths: Array
    resolved: Array
    size_error: float


def identifiability(
    scaled_matrix: Array, noise_information: Array, units: Array, known_mass: bool
) -> Identifiability:
    """Split the parameter space by the excitation that is left once noise is taken off.

    Noise in acceleration or attitude looks like motion: it enters AᵀA as n N. What remains of AᵀA
    without it is what the body's motion told. The least that is known of any direction, without
    data, is the body's own scale.

    Args:
        scaled_matrix: A of the whitened problem in scaled parameters, shape (10, 10).
        noise_information: n N in the same parameters, shape (10, 10).
        units: the body's scale in each scaled parameter, shape (10,).
        known_mass: whether the mass is given, and so not asked of the data.
    """
    free = np.diag(units)[:, 1:] if known_mass else np.diag(units)
    information = free.T @ (scaled_matrix.T @ scaled_matrix) @ free
    clean = information - _NOISE_SHARE * (free.T @ noise_information @ free)
    values, vectors = np.linalg.eigh(0.5 * (clean + clean.T))
    resolved = values > _NOTHING * float(np.trace(information))
    errors = np.full(len(values), np.inf)
    errors[resolved] = values[resolved] ** -0.5
    told = HALF_WIDTH * errors < 1.0
    directions = free @ vectors
    in_units = directions / units[:, None]
    spread = np.minimum(errors, 1.0)
    return Identifiability(
        told=directions[:, told],
        untold=directions[:, ~told],
        mass_given=known_mass,
        half_widths=HALF_WIDTH * np.linalg.norm(in_units * spread, axis=1),
        resolved=directions[:, resolved],
        size_error=_size_error(directions, errors),
    )


def _size_error(directions: Array, errors: Array) -> float:
    weights = TRACE @ directions
    matters = np.abs(weights) > 1e-3 * np.abs(weights).max()
    return float(np.linalg.norm(weights[matters] * errors[matters]))


def noise_information(feature_noise: Array, weight: Mat66, to_phi: Array) -> Array:
    """n N = Σ_j n var_j T_jᵀ W T_j: what noise in the features adds to AᵀA.

    Args:
        feature_noise: number of rows times noise variance of each feature, shape (12,).
        weight: W, shape (6, 6).
        to_phi: matrix of the parameters' change to those wanted, shape (10, 10).
    """
    columns = whitener(weight) @ (FEATURE_TENSOR @ to_phi)
    rows = (np.sqrt(feature_noise)[:, None, None] * columns).reshape(-1, 10)
    return rows.T @ rows
