"""Added mass of ellipsoids and cylinders: the books' formulas, Carlson's integrals, the limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from identify.errors import ModelError
from identify.inertia.added_mass import checked_added_mass
from identify.inertia.shapes import (
    Cylinder,
    Ellipsoid,
    Sphere,
    cylinder_added_mass,
    ellipsoid_added_mass,
)
from identify.inertia.shapes.submerged import _lamb_integrals
from tests.close import assert_close

WATER = 1000.0


def test_a_sphere_carries_half_of_what_it_displaces():
    sphere = Sphere(0.3)
    expected = np.diag([0.5, 0.5, 0.5, 0.0, 0.0, 0.0]) * WATER * sphere.volume
    assert_close(ellipsoid_added_mass(sphere, WATER), expected, 1e-14)
    assert_close(ellipsoid_added_mass(Ellipsoid(0.3, 0.3, 0.3), WATER), expected, 1e-14)


@pytest.mark.parametrize("ratio", [1.5, 2.0, 3.0, 5.0, 10.0])
def test_prolate_spheroids_have_the_k_factors_of_their_eccentricity(ratio):
    """In logarithms (Lamb, § 114; Imlay 1961; Fossen 2021, § 8.4): k1, k2 and k'."""
    e = np.sqrt(1.0 - 1.0 / ratio**2)
    log = np.log((1.0 + e) / (1.0 - e))
    alpha = 2.0 * (1.0 - e * e) / e**3 * (0.5 * log - e)
    beta = 1.0 / e**2 - (1.0 - e * e) / (2.0 * e**3) * log
    along, across = alpha / (2.0 - alpha), beta / (2.0 - beta)
    spin = e**4 * (beta - alpha)
    spin /= (2.0 - e * e) * (2.0 * e * e - (2.0 - e * e) * (beta - alpha))
    displaced = WATER * 4.0 / 3.0 * np.pi * ratio
    moment = displaced * (ratio**2 + 1.0) / 5.0
    A = np.diag(ellipsoid_added_mass(Ellipsoid(ratio, 1.0, 1.0), WATER))
    assert_close(A[:3], displaced * np.array([along, across, across]), 1e-12)
    assert_close(A[3:], moment * np.array([0.0, spin, spin]), 1e-12)


@given(st.floats(-4.0, 0.0), st.floats(-4.0, 0.0), st.permutations([0, 1, 2]))
def test_integrals_are_those_of_carlson(second, third, order):
    """α = 2/3 abc R_D(b², c², a²); their sum is two; κ (b² − c²) = γ − β."""
    axes = np.array([1.0, 10.0**second, 10.0**third])[list(order)]
    squares = axes**2
    alpha, kappa, mu = _lamb_integrals(squares)
    expected = [
        2.0 / 3.0 * np.prod(axes) * special.elliprd(squares[i - 2], squares[i - 1], squares[i])
        for i in range(3)
    ]
    assert_close(alpha, expected, 1e-13, scale=expected)
    assert_close(alpha.sum(), 2.0, 1e-14)
    for i in range(3):
        b, c = squares[i - 2], squares[i - 1]
        assert_close(kappa[i] * (b - c), alpha[i - 1] - alpha[i - 2], 1e-13, scale=2.0)
        assert_close(
            2.0 * mu[i] + (b + c) * kappa[i], alpha[i - 2] + alpha[i - 1], 1e-13, scale=2.0
        )


def test_a_disc_is_the_limit_of_a_flat_spheroid():
    """8/3 ρ r³ across its plane and 16/45 ρ r⁵ about a diameter."""
    A = np.diag(ellipsoid_added_mass(Ellipsoid(0.5, 0.5, 1e-7), WATER))
    assert_close(A[2], 8.0 / 3.0 * WATER * 0.5**3, 1e-6)
    assert_close(A[3:5], np.full(2, 16.0 / 45.0 * WATER * 0.5**5), 1e-6)
    assert A[0] < 1e-6 * A[2]
    assert A[5] == 0.0


@given(st.floats(-16.0, -1.0))
def test_nearly_equal_axes_lose_no_digits(exponent):
    d = 10.0**exponent
    squashed = ellipsoid_added_mass(Ellipsoid(2.0, 1.0 + d, 1.0), 1.0)
    difference = (1.0 + d) ** 2 - 1.0
    # About x: m/5 (b² − c²)² κ / (2 − (b² + c²) κ), κ almost that of the spheroid.
    kappa = _lamb_integrals(np.array([1.0, 0.25, 0.25])).kappa[0] / 4.0
    m = 4.0 / 3.0 * np.pi * 2.0
    expected = m / 5.0 * difference**2 * kappa / (2.0 - 2.0 * kappa)
    assert_close(squashed[3, 3], expected, max(1e-13, 3.0 * d))


@given(st.floats(-3.0, 3.0), st.floats(0.2, 5.0), st.floats(0.2, 5.0))
def test_ellipsoids_scale_and_carry_an_added_mass_that_is_one(exponent, b, c):
    k = 10.0**exponent
    one = ellipsoid_added_mass(Ellipsoid(1.0, b, c), WATER)
    larger = ellipsoid_added_mass(Ellipsoid(k, k * b, k * c), WATER)
    units = np.repeat([k**1.5, k**2.5], 3)
    assert_close(larger / np.outer(units, units), one, 1e-12)
    checked_added_mass(one)


def test_a_long_cylinder_by_strips_is_near_a_long_ellipsoid_a_slice():
    cylinder = cylinder_added_mass(Cylinder(0.1, 2.0), WATER)
    slice_of_it = WATER * np.pi * 0.1**2
    assert_close(np.diag(cylinder)[:3], slice_of_it * np.array([2.0, 2.0, 0.0]), 1e-14)
    assert_close(np.diag(cylinder)[3:], slice_of_it * np.array([8 / 12, 8 / 12, 0.0]), 1e-14)
    ellipsoid = Ellipsoid(1.0, 1.0, 1000.0)
    across = ellipsoid_added_mass(ellipsoid, WATER)[0, 0] / (WATER * ellipsoid.volume)
    assert_close(across, 1.0, 1e-4)


@pytest.mark.parametrize("density", [0.0, -1.0, np.nan, np.inf])
def test_a_fluid_without_density_is_refused(density):
    with pytest.raises(ModelError, match=r"fluid density: expected a positive, finite number"):
        ellipsoid_added_mass(Sphere(1.0), density)
    with pytest.raises(ModelError, match="fluid density"):
        cylinder_added_mass(Cylinder(1.0, 9.0), density)
