import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.integrate import quad
from scipy.special import ellipj, ellipk, ellipkinc, ellipkm1

from identify.simulation.free_rotation.elliptic import (
    JacobiEvaluator,
    complete_third_kind,
    incomplete_first_kind,
    incomplete_third_kind,
)
from tests.close import assert_close

complements = st.floats(-200.0, 0.0).map(lambda exponent: 10.0**exponent)


def functions(u: float, m1: float):
    return JacobiEvaluator(np.array(m1))(np.array(u))


@pytest.mark.parametrize("m1", [1.0, 0.3, 1e-8, 1e-25])
@pytest.mark.parametrize("p", [1e-3, 1.0, 1e4])
def test_complete_third_kind_to_the_digits_of_a_double(m1, p):
    mp = pytest.importorskip("mpmath", reason="mpmath is not installed")
    with mp.workdps(50):
        m = 1 - mp.mpf(m1)
        expected = (mp.ellipk(m) - mp.ellippi(-mp.mpf(p), m)) / mp.mpf(p)
        assert abs(mp.mpf(float(complete_third_kind(m1, p))) / expected - 1) < 2e-15


@given(st.floats(1e-6, 1.0), st.floats(-1.0, 1.0))
def test_functions_against_scipy(m1, share):
    u = share * ellipk(1.0 - m1)
    sn, cn, dn, _ = ellipj(u, 1.0 - m1)
    found = functions(u, m1)
    # SciPy takes m, whose rounding is eps/m1 of 1 − m.
    tolerance = 1e-13 + 4e-16 / m1
    assert_close(np.array(found), np.array([sn, cn, dn]), tolerance, scale=1.0)


@given(complements, st.floats(-1.0, 1.0))
def test_identities_hold_for_any_complement(m1, share):
    u = share * float(ellipkm1(m1))
    sn, cn, dn = functions(u, m1)
    assert abs(sn * sn + cn * cn - 1.0) < 1e-14
    assert abs(dn * dn - (m1 + (1.0 - m1) * cn * cn)) < 1e-14
    assert np.sign(sn) == np.sign(u) or u == 0.0


@given(complements.filter(lambda m1: m1 > 1e-100), st.floats(-0.999, 0.999))
def test_the_integral_of_the_first_kind_inverts_them(m1, share):
    u = share * float(ellipkm1(m1))
    assert abs(incomplete_first_kind(functions(u, m1)) - u) < 1e-14 * float(ellipkm1(m1))


def test_hyperbolic_functions_at_the_limit():
    u = np.array([-800.0, -3.0, 0.0, 0.5, 40.0])
    sn, cn, dn = JacobiEvaluator(np.zeros(1))(u)
    assert_close(sn, np.tanh(u), 1e-15)
    assert_close(cn[1:], 1.0 / np.cosh(u[1:]), 1e-15)
    assert cn[0] == 0.0
    assert (cn == dn).all()


@given(st.floats(1e-3, 1.0), st.floats(-1.0, 1.0), st.floats(0.0, 100.0))
def test_incomplete_third_kind_is_its_integral(m1, share, p):
    m = 1.0 - m1
    u = share * ellipk(m)
    sn, cn, _ = functions(u, m1)
    phi = np.arctan2(sn, cn)

    def integrand(theta: float) -> float:
        square = np.sin(theta) ** 2
        return square / (1.0 + p * square) / np.sqrt(1.0 - m * square)

    expected = quad(integrand, 0.0, phi, epsabs=1e-14, epsrel=1e-12)[0]
    found = incomplete_third_kind(functions(u, m1), np.array(p))
    assert_close(found, expected, 1e-9, scale=1.0)
    assert_close(ellipkinc(phi, m), u, 1e-9, scale=1.0)
