import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from identify.errors import ModelError
from identify.inertia import (
    inertia_about_com,
    phi_from_inertia,
    pseudo_inertia,
)
from identify.inertia.consistency import BodyKind
from identify.inertia.verdict import check_consistency, half_last_digit
from tests.close import assert_close
from tests.strategies import bodies


def about_com(mass: float, *moments: float) -> np.ndarray:
    return phi_from_inertia(mass, np.zeros(3), np.diag(moments))


def test_verdict_quantifies_triangle_inequality():
    verdict = check_consistency(about_com(1.0, 0.3, 0.5, 0.1))
    assert verdict.kind == BodyKind.IMPOSSIBLE
    triangle, pseudo = verdict.violations
    assert (triangle.rule, pseudo.rule) == ("triangle", "pseudo-inertia")
    assert_close([triangle.absolute, triangle.relative], [0.1, 0.2], 1e-13)
    assert triangle.message == (
        "triangle inequality: the largest principal moment about the centre of mass, 0.5 kg m², "
        "exceeds the sum of the others, 0.3 + 0.1, by 0.1 kg m² (20 % of the largest)"
    )
    # Second moments 0.15, −0.05 and 0.35.
    assert_close([pseudo.absolute, pseudo.relative], [0.05, 0.05 / 0.55], 1e-13)
    assert "along [0, 1, 0] is -0.05 kg m² (9.09 % of the sum of the three)" in pseudo.message
    assert str(verdict).startswith("impossible: triangle inequality: ")
    assert_close(verdict.margin, -0.05 / 0.55, 1e-13)


def test_verdict_quantifies_indefinite_inertia():
    verdict = check_consistency(about_com(2.0, 0.3, -0.1, 0.2))
    definite = verdict.violations[0]
    assert [v.rule for v in verdict.violations] == ["definite", "triangle", "pseudo-inertia"]
    assert_close([definite.absolute, definite.relative], [0.1, 1.0 / 3.0], 1e-13)
    assert definite.message == (
        "a principal moment of inertia about the centre of mass is negative: -0.1 kg m² "
        "(33.3 % of the largest)"
    )
    assert_close(verdict.principal_moments, [-0.1, 0.2, 0.3], 1e-13)


@pytest.mark.parametrize(
    ("phi", "message", "absolute"),
    [
        (about_com(-0.2, 1, 1, 1), "the mass is -0.2 kg, not positive", 0.2),
        (np.r_[0.0, 0.1, np.zeros(8)], "the mass is zero, but the first moment of mass", 0.0),
        (about_com(0.0, 1, 1, 1), "the mass is zero, but the first moment of mass", 0.0),
    ],
)
def test_a_mass_that_is_not_positive_comes_first(phi, message, absolute):
    verdict = check_consistency(phi)
    mass = verdict.violations[0]
    assert mass.rule == "mass"
    assert message in mass.message
    assert (mass.absolute, mass.relative) == (absolute, np.inf)
    assert verdict.margin == -np.inf
    assert (verdict.com is None) == (phi[0] == 0.0)


def test_zero_parameters_are_consistent_massless_frame():
    verdict = check_consistency(np.zeros(10))
    assert verdict.kind == BodyKind.MASSLESS
    assert not verdict.impossible
    assert str(verdict) == "a massless frame"


@given(bodies(flat=True, offset=0.0), st.integers(3, 9))
def test_a_plate_or_rod_in_print_is_possible_or_inconsistent_by_rounding(phi, digits):
    unit = 10.0 ** (np.floor(np.log10(np.abs(phi[4:]).max())) + 1 - digits)
    printed = np.r_[phi[:4], unit * np.round(phi[4:] / unit)]
    rounding_errors = np.r_[np.zeros(4), np.full(6, 0.5 * unit)]
    verdict = check_consistency(printed, rounding_errors=rounding_errors)
    assert verdict.by_rounding == verdict.impossible
    if verdict.impossible:
        assert str(verdict).startswith("impossible by rounding: ")


@given(bodies(flat=False, offset=1.0), st.floats(0.1, 3.0))
def test_rounding_verdict_uses_best_corner_of_half_unit_box(phi, share):
    """The corner that raises the negative second moment most, found from its gradient."""
    Ic = inertia_about_com(phi)
    unit = 1e-6 * np.trace(Ic)
    values, axes = np.linalg.eigh(0.5 * np.trace(Ic) * np.eye(3) - Ic)
    values[0] = -share * unit
    S = (axes * values) @ axes.T
    com = phi[1:4] / phi[0]
    worse = phi_from_inertia(phi[0], com, np.trace(S) * np.eye(3) - S)
    rounding_errors = np.r_[np.zeros(4), np.full(6, 0.5 * unit)]
    violation = check_consistency(worse, rounding_errors=rounding_errors).violations[-1]
    corner = worse + rounding_errors * np.sign(violation.gradient)
    arm = np.append(axes[:, 0], -axes[:, 0] @ com)
    best = arm @ pseudo_inertia(corner) @ arm
    assume(abs(best) > 1e-3 * unit)
    assert violation.by_rounding == (best > 0.0)
    assert not check_consistency(worse, rounding_errors=1e-3 * rounding_errors).by_rounding


def test_zero_mass_by_rounding_is_recognised():
    units = np.r_[0.0005, np.zeros(9)]
    verdict = check_consistency(about_com(0.0, 1e-6, 1e-6, 1e-6), rounding_errors=units)
    assert verdict.by_rounding
    assert not check_consistency(
        about_com(-0.001, 1e-6, 1e-6, 1e-6), rounding_errors=units
    ).by_rounding
    assert (
        check_consistency(np.full(10, 1e-5), rounding_errors=np.full(10, 1e-4)).kind
        == BodyKind.MASSLESS
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"phi": np.ones(9)}, r"phi: expected shape \(10\), got \(9,\)"),
        ({"phi": np.r_[np.nan, np.ones(9)]}, r"phi: entry \(0,\) is nan"),
        (
            {"phi": np.ones(10), "rounding_errors": np.ones(6)},
            r"rounding_errors: expected shape \(10\)",
        ),
    ],
)
def test_invalid_parameters_are_rejected(arguments, message):
    with pytest.raises(ModelError, match=message):
        check_consistency(**arguments)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.0120", 5e-5),
        ("1.2e-3", 5e-5),
        ("-1.2E-3", 5e-5),
        ("+.5", 0.05),
        ("0.000", 5e-4),
        ("12.50", 5e-3),
        ("1e3", 500.0),
        (" 0.25 ", 5e-3),
        ("2", 0.0),
        ("2.", 0.0),
        ("0", 0.0),
        ("0.0", 0.0),
        ("-0.0", 0.0),
    ],
)
def test_half_unit_of_last_printed_digit(text, expected):
    assert_close(half_last_digit(text), expected, 1e-15)


@given(st.floats(1e-6, 1e6), st.integers(2, 12))
def test_half_unit_covers_unrounded_number(value, decimals):
    for text in (f"{value:.{decimals}f}", f"{value:.{decimals}e}"):
        assert abs(float(text) - value) <= half_last_digit(text) * (1.0 + 1e-9) + 1e-15 * value


@pytest.mark.parametrize("text", ["", ".", "e5", "one", "1,5", "nan", "inf", "0x10", "1.2.3", "٣"])
def test_invalid_decimal_number_is_rejected(text):
    with pytest.raises(ModelError, match="expected a decimal number"):
        half_last_digit(text)
