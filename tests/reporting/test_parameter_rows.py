from dataclasses import replace

import numpy as np

from identify.exchange import read_estimate
from identify.inertia import PHI, InertialParameters
from identify.inertia.consistency import is_consistent
from identify.reporting import GROUPS_ABOUT_COM, GROUPS_ABOUT_ORIGIN, parameter_rows
from identify.reporting.parameter_table import rounded_parameters

FACTORS = {"kg": 1.0, "g": 1e-3, "m": 1.0, "mm": 1e-3}
RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def factor_of(unit: str, base: str) -> float:
    """Value in SI of one of a shown unit, worked out from its name."""
    if unit == base:
        return 1.0
    if unit in FACTORS:
        return FACTORS[unit]
    power, _, rest = unit.partition(" ")
    assert rest == base
    assert power.startswith("10")
    return 10.0 ** int(power[2:].translate(RAISED))


def test_the_ten_of_phi_in_their_order(case):
    rows = parameter_rows(case.result.estimate, groups=GROUPS_ABOUT_ORIGIN)
    assert tuple(row.name for row in rows) == PHI
    np.testing.assert_array_equal([row.value for row in rows], case.result.estimate.parameters.phi)
    for row in rows:
        assert row.interval == case.result.estimate.intervals[row.name]
        assert row.decided_by == case.result.estimate.decided_by[row.name]


def test_the_ten_about_the_centre_of_mass(case):
    rows = parameter_rows(case.result.estimate, groups=GROUPS_ABOUT_COM)
    body = case.result.estimate.parameters
    assert [row.name for row in rows] == [
        *("m", "cx", "cy", "cz"),
        *("Icxx", "Icxy", "Icxz", "Icyy", "Icyz", "Iczz"),
    ]
    np.testing.assert_allclose([row.value for row in rows[1:4]], body.com)
    np.testing.assert_allclose(
        [row.value for row in rows[4:]], body.inertia_about_com[np.triu_indices(3)]
    )
    for row in rows:
        assert row.interval == case.result.estimate.intervals[row.name]


def test_shown_numbers_are_rounded_values(case):
    for row in parameter_rows(case.result.estimate, case.truth):
        factor = factor_of(row.formatted.unit, row.unit)
        last = 10.0 ** -len(row.formatted.value.partition(".")[2])
        assert abs(float(row.formatted.value) - row.value / factor) <= 0.5001 * last
        assert abs(float(row.formatted.truth) - row.truth / factor) <= 0.5001 * last
        assert abs(float(row.formatted.error) - row.error / factor) <= 0.5001 * last
        if row.formatted.interval.startswith("±"):
            half = row.half_width / factor
            shown = float(row.formatted.interval[2:])
            assert abs(shown - half) <= max(0.051 * half, 0.5)


def test_a_parameter_of_the_default_body_never_looks_measured(still):
    rows = {row.name: row for row in parameter_rows(still.estimate)}
    for name in ("Ixx", "Iyz", "Icxx", "Icyz"):
        assert not rows[name].from_data
        assert rows[name].interval is None
        assert rows[name].half_width is None
        assert rows[name].formatted.interval == "unidentifiable"
    assert rows["m"].from_data
    assert rows["cz"].formatted.interval.startswith("± ")


def test_a_given_mass_has_no_interval_to_show(case_of):
    case = case_of("a gap, mass given")
    mass = parameter_rows(case.result.estimate, case.truth)[0]
    assert (mass.formatted.value, mass.formatted.interval) == ("1.3", "given")
    assert not mass.truth_outside_interval


def test_true_value_outside_interval_is_marked(result):
    estimate = result.estimate
    low, high = estimate.intervals["m"]
    for shift, outside in ((0.9, False), (1.1, True), (-1.1, True)):
        phi = estimate.parameters.phi.copy()
        phi[0] += 0.5 * shift * (high - low)
        rows = parameter_rows(estimate, InertialParameters(phi))
        assert rows[0].truth_outside_interval is outside


def test_an_asymmetric_interval_shows_both_bounds(result):
    intervals = {**result.estimate.intervals, "m": (1.1, 1.9)}
    rows = parameter_rows(replace(result.estimate, intervals=intervals))
    assert rows[0].formatted.interval == "1.10 … 1.90"


def test_values_of_zero_are_in_the_unit_of_their_intervals(result):
    m, *_, Ixx, Ixy, Ixz, Iyy, Iyz, Izz = result.estimate.parameters.phi
    about = InertialParameters([m, 1e-17, -1e-17, 0.0, Ixx, Ixy, Ixz, Iyy, Iyz, Izz])
    intervals = {**result.estimate.intervals, **dict.fromkeys(("hx", "hy", "hz"), (-3e-4, 3e-4))}
    estimate = replace(result.estimate, parameters=about, intervals=intervals)
    rows = {row.name: row.formatted for row in parameter_rows(estimate)}
    shown = rows["hx"]
    assert (shown.unit, shown.value, shown.interval) == ("10⁻⁶ kg m", "0", "± 300")


def test_rows_of_an_estimate_read_from_its_file(result, tmp_path):
    saved = read_estimate(result.estimate.save(tmp_path / "estimate.json"))
    assert parameter_rows(saved) == parameter_rows(result.estimate)


def test_rows_of_a_file_that_holds_nothing_but_a_body(tmp_path):
    path = tmp_path / "body.json"
    path.write_text('{"phi": [2, 0.1, 0, 0, 0.02, 0, 0, 0.03, 0, 0.03]}')
    rows = parameter_rows(read_estimate(path))
    assert rows[0].formatted.value == "2.000000"
    assert {row.formatted.interval for row in rows} == {""}
    assert all(row.from_data for row in rows)


def test_exported_numbers_have_the_digits_of_the_table(case):
    estimate = case.result.estimate
    rounded = rounded_parameters(estimate)
    assert is_consistent(rounded.phi)
    values = [
        rounded.mass,
        *rounded.com.tolist(),
        *rounded.inertia_about_com[np.triu_indices(3)].tolist(),
    ]
    for row, value in zip(parameter_rows(estimate, None, GROUPS_ABOUT_COM), values, strict=True):
        assert abs(value - row.value) <= 0.5001 * row.formatted.step
        # At the boundary, the inertia needs more digits.
        if case.name != "several logs, constrained" or row.name in ("m", "cx", "cy", "cz"):
            shown = float(row.formatted.value) * factor_of(row.formatted.unit, row.unit)
            np.testing.assert_allclose(value, shown, rtol=1e-9, atol=1e-12)
