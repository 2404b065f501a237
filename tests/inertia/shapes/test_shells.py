import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import special

from identify.inertia.shapes import (
    EllipsoidShell,
)
from tests.close import assert_close


@given(st.floats(-6.0, 0.0), st.floats(-6.0, 0.0), st.permutations([0, 1, 2]))
def test_area_of_an_ellipsoid_is_carlsons_integral(second, third, order):
    """4π R_G(b²c², c²a², a²b²), DLMF 19.33.1, for thin ones too."""
    axes = np.array([1.0, 10.0**second, 10.0**third])[list(order)]
    squares = np.prod(axes**2) / axes**2
    expected = 4.0 * np.pi * special.elliprg(*squares)
    assert_close(EllipsoidShell(*axes).measure, expected, 3e-15)


@given(st.floats(-5.0, 0.0))
def test_mean_squares_of_spheroids_against_their_meridian(exponent):
    """Of a spheroid about z: one ordinary integral over the latitude."""
    a, c = 1.0, 10.0**exponent
    # t = sin(latitude) on a mesh that crowds at the rim, where a flat spheroid bends.
    s, w = np.polynomial.legendre.leggauss(400)
    strength = 14.0
    t = np.sinh(0.5 * strength * (s + 1.0)) / np.sinh(strength)
    w = w * 0.5 * strength * np.cosh(0.5 * strength * (s + 1.0)) / np.sinh(strength)
    element = w * np.sqrt(c**2 + (a**2 - c**2) * t**2)
    z2 = c**2 * (element @ t**2) / element.sum()
    x2 = a**2 * (element @ (1.0 - t**2)) / element.sum() / 2.0
    squares = np.diag(EllipsoidShell(a, a, c).covariance)
    assert_close(squares, [x2, x2, z2], 1e-12, scale=[x2, x2, z2])


@pytest.mark.parametrize("size", [1e-50, 1e-9, 1.0, 1e9, 1e50])
def test_the_ellipsoids_shell_has_no_scale(size):
    one, other = EllipsoidShell(1.0, 2.0, 3.0), EllipsoidShell(size, 2.0 * size, 3.0 * size)
    assert_close(other.measure, size**2 * one.measure, 1e-14)
    assert_close(other.covariance, size**2 * one.covariance, 1e-14)
