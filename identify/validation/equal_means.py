"""Test whether several means are equal, each with a covariance of estimated size.

The size of each covariance was estimated from residuals, so the sum of squares is compared with F:

    Q = Σ (φᵢ − φ̄)ᵀ Wᵢ (φᵢ − φ̄),  Wᵢ = Cᵢ⁻¹,  W = Σ Wᵢ,  Pᵢ = 1 − W⁻¹ Wᵢ
    a = Σ tr(Pᵢ²) / νᵢ,  b = Σ tr²(Pᵢ) / νᵢ
    Q / c ~ F(f, f (f + 2) / (2 a + b)),  c = f + 2 a − 2 (2 a + b) / (f + 2)

with φ̄ the generalised least squares mean, f the numbers compared less those pooled, and νᵢ the
degrees of freedom of a covariance. This gives the mean and the variance of Q to first order in
1/νᵢ. It is the test of Welch (1951) for single numbers, and exact if all sizes but one are known.
Johansen (1980) has (a + b) / 2 in place of a and of b, for covariances of which every entry was
estimated.

Welch, "On the comparison of several mean values: an alternative approach" (1951).
Johansen, "The Welch-James approximation to the distribution of the residual sum of squares in a
    weighted linear regression" (1980).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from identify.arrays import Array


class EqualMeansTest(NamedTuple):
    """Result of the test that several means are equal.

    Attributes:
        p: p-value; NaN if nothing can be compared.
        degrees: f, the numbers compared less those pooled.
        scatter: √(Q / c), differences relative to the covariances; near 1 for equal means.
        q_statistic: Q.
    """

    p: float
    degrees: int
    scatter: float
    q_statistic: float


def equal_means_test(
    means: Array, information: Array, identified: NDArray[np.bool_], degrees: Array
) -> EqualMeansTest:
    """Test whether several mean vectors are equal (Welch's test, for several components).

    `means`: shape (K, p); `information`: inverse covariances of the identified numbers, zero
    elsewhere, (K, p, p); `identified`: whether each mean has each number, shape (K, p); `degrees`:
    degrees of freedom of the size of each covariance, shape (K,).
    """
    pooled = identified.any(axis=0)
    f = int(identified.sum()) - int(pooled.sum())
    if f == 0:
        return EqualMeansTest(float("nan"), 0, float("nan"), 0.0)
    inside = np.ix_(pooled, pooled)
    total = np.zeros(information.shape[1:])
    total[inside] = np.linalg.inv(information.sum(axis=0)[inside])
    mean = total @ np.einsum("kij,kj->i", information, means)
    residual = np.where(identified, means - mean, 0.0)
    squares = float(np.einsum("ki,kij,kj->", residual, information, residual))
    shares = total @ information  # W⁻¹ Wᵢ
    sizes = identified.sum(axis=1)
    traces = np.einsum("kii->k", shares)
    trace_of_squares = sizes - 2.0 * traces + np.einsum("kij,kji->k", shares, shares)
    square_of_traces = (sizes - traces) ** 2
    a, b = (float((term / degrees).sum()) for term in (trace_of_squares, square_of_traces))
    c = f + 2.0 * a - 2.0 * (2.0 * a + b) / (f + 2.0)
    p = float(fdtrc(f, f * (f + 2.0) / (2.0 * a + b), squares / c))
    return EqualMeansTest(p, f, float(np.sqrt(squares / c)), squares)
